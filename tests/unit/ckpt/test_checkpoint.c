#include "checkpoint_net.h"
#include "checkpoint_state.h"

#include "ckpt/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <rpc/types.h>
#include <rpc/xdr.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static dome_env *env;

/* ---- helpers ---- */

static char *new_directory(void)
{
    char *directory = g_dir_make_tmp("dome-checkpoint.XXXXXX", NULL);
    g_assert_nonnull(directory);
    return directory;
}

static void remove_directory(char *directory)
{
    GDir *d = g_dir_open(directory, 0, NULL);
    for (const char *name; (name = g_dir_read_name(d));) {
        char *path = g_build_filename(directory, name, NULL);
        g_assert_cmpint(unlink(path), ==, 0);
        g_free(path);
    }
    g_dir_close(d);
    g_assert_cmpint(rmdir(directory), ==, 0);
    g_free(directory);
}

static char *path_of(const char *directory, uint64_t number)
{
    return dome__ckpt_file_path(directory, number, 0, 0);
}

static GBytes *contents(const char *path)
{
    char *data;
    gsize bytes;
    g_assert_true(g_file_get_contents(path, &data, &bytes, NULL));
    return g_bytes_new_take(data, bytes);
}

static void set_contents(const char *path, const void *data, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    g_assert_cmpint(write(fd, data, bytes), ==, (ssize_t)bytes);
    close(fd);
}

/* Plans and writes a checkpoint of a state; the caller frees it. */
static dome_ckpt *save(const char *directory, const checkpoint_state *state, uint64_t number, const dome_ckpt *previous)
{
    char *message = NULL;
    dome_ckpt *ckpt = checkpoint_describe(state, number);
    dome__ckpt_plan(ckpt, previous, &message);
    g_assert_cmpstr(message, ==, NULL);
    checkpoint_write(directory, ckpt, state, 1);
    return ckpt;
}

static void check_saved(const char *directory, const checkpoint_state *state, uint64_t number)
{
    char *path = path_of(directory, number), *message = NULL;
    dome_ckpt_file *file = dome__ckpt_open(path, &message);
    g_assert_cmpstr(message, ==, NULL);
    checkpoint_check(file, state);
    dome__ckpt_verify(file, &message);
    g_assert_cmpstr(message, ==, NULL);
    dome__ckpt_close(file);
    g_free(path);
}

/* Checks that a message is one line that contains these words. */
static void check_message(char *message, const char *words)
{
    g_assert_nonnull(message);
    g_assert_null(strchr(message, '\n'));
    if (!strstr(message, words))
        g_error("'%s' does not say '%s'", message, words);
    g_free(message);
}

/* Opens and verifies a file; returns the error, or NULL. */
static char *verify(const char *path)
{
    char *message = NULL;
    dome_ckpt_file *file = dome__ckpt_open(path, &message);
    if (file)
        dome__ckpt_verify(file, &message);
    dome__ckpt_close(file);
    return message;
}

static checkpoint_state *vectors(uint64_t length, const char *const names[], size_t count)
{
    checkpoint_state *state = checkpoint_state_new("vectors");
    double *v = g_new(double, length);
    for (size_t k = 0; k < count; k++) {
        for (uint64_t i = 0; i < length; i++)
            v[i] = (double)(i * (k + 1));
        checkpoint_state_add(state, names[k], DOME_F64, length, 1, 16, DOME_DYNAMIC, v);
    }
    g_free(v);
    return state;
}

/* ---- XDR ---- */

typedef bool_t (*xdr_any)(XDR *, void *);

static bool_t one_byte(XDR *xdrs, void *v)
{
    return xdr_opaque(xdrs, v, 1);
}

static bool_t two_bytes(XDR *xdrs, void *v)
{
    /* XDR has no two-byte type: the last bytes of its four-byte integer are the same. */
    uint16_t value;
    memcpy(&value, v, sizeof value);
    char four[4];
    XDR inner;
    xdrmem_create(&inner, four, sizeof four, XDR_ENCODE);
    bool_t good = xdr_u_int16_t(&inner, &value) && xdr_opaque(xdrs, four + 2, 2);
    xdr_destroy(&inner);
    return good;
}

/* dome_type_pack gives the same bytes as libtirpc for random and extreme values. */
static void test_xdr(void)
{
    const struct {
        dome_type type;
        xdr_any xdr;
        size_t items;
    } cases[] = {{DOME_I8, one_byte, 1},
                 {DOME_U8, one_byte, 1},
                 {DOME_I16, two_bytes, 1},
                 {DOME_U16, two_bytes, 1},
                 {DOME_I32, (xdr_any)(void (*)(void))xdr_int32_t, 1},
                 {DOME_U32, (xdr_any)(void (*)(void))xdr_uint32_t, 1},
                 {DOME_I64, (xdr_any)(void (*)(void))xdr_int64_t, 1},
                 {DOME_U64, (xdr_any)(void (*)(void))xdr_uint64_t, 1},
                 {DOME_F32, (xdr_any)(void (*)(void))xdr_float, 1},
                 {DOME_F64, (xdr_any)(void (*)(void))xdr_double, 1},
                 {DOME_C64, (xdr_any)(void (*)(void))xdr_float, 2},
                 {DOME_C128, (xdr_any)(void (*)(void))xdr_double, 2}};
    enum { COUNT = 1027 };
    static const uint8_t extremes[] = {0x00, 0xff, 0x7f, 0x80};
    for (size_t c = 0; c < G_N_ELEMENTS(cases); c++) {
        size_t size = dome_type_size(cases[c].type), item = size / cases[c].items, bytes = COUNT * size;
        uint8_t *values = g_malloc(bytes), *ours = g_malloc(bytes + 1), *theirs = g_malloc(bytes), *back = g_malloc(bytes);
        for (size_t i = 0; i < bytes; i++)
            values[i] = (uint8_t)g_test_rand_int();
        for (size_t k = 0; k < G_N_ELEMENTS(extremes); k++) {
            memset(values + k * size, extremes[k], size);
            values[(k + 4) * size] = values[(k + 5) * size - 1] = extremes[k];
        }
        for (size_t i = 0; i < bytes; i += item) {
            uint8_t padded[8];
            XDR xdrs;
            xdrmem_create(&xdrs, (char *)padded, sizeof padded, XDR_ENCODE);
            g_assert_true(cases[c].xdr(&xdrs, values + i));
            memcpy(theirs + i, padded, item);
            xdr_destroy(&xdrs);
        }
        dome_type_pack(cases[c].type, DOME_PORTABLE, ours + 1, values, COUNT);
        g_assert_cmpmem(ours + 1, bytes, theirs, bytes);
        dome_type_unpack(cases[c].type, DOME_PORTABLE, back, theirs, COUNT);
        g_assert_cmpmem(back, bytes, values, bytes);
        g_free(values);
        g_free(ours);
        g_free(theirs);
        g_free(back);
    }
}

/* ---- the format ---- */

static char *random_name(const char *what, unsigned i)
{
    return g_strdup_printf("%s %u%.*s", what, i, g_test_rand_int_range(0, 9), "\xc3\xa4\n\x01 / '");
}

static dome_type random_type(unsigned *count)
{
    const dome_type basic[] = {DOME_I8,  DOME_I16, DOME_I32, DOME_I64, DOME_U8,  DOME_U16,
                               DOME_U32, DOME_U64, DOME_F32, DOME_F64, DOME_C64, DOME_C128};
    static GPtrArray *structs;
    if (!structs)
        structs = g_ptr_array_new();
    if (g_test_rand_int_range(0, 3) == 0 && *count < 20) {
        static unsigned made;
        dome_field fields[5];
        size_t n = (size_t)g_test_rand_int_range(1, 6), at = 0;
        char *name = g_strdup_printf("type %u", made++);
        static const char *const names[] = {"a", "b", "c", "d", "e"};
        for (size_t i = 0; i < n; i++) {
            dome_type t = structs->len && g_test_rand_int_range(0, 2) ? g_ptr_array_index(structs, structs->len - 1)
                                                                      : basic[g_test_rand_int_range(0, 12)];
            fields[i] = (dome_field){names[i], t, at, (size_t)g_test_rand_int_range(1, 3)};
            at += dome_type_size(t) * fields[i].count;
        }
        ++*count;
        if (at < 4096)
            g_ptr_array_add(structs, (void *)dome_type_struct(env, name, at, fields, n, sizeof(dome_field)));
        g_free(name);
    }
    if (structs->len && g_test_rand_int_range(0, 2))
        return g_ptr_array_index(structs, (guint)g_test_rand_int_range(0, (gint32)structs->len));
    return basic[g_test_rand_int_range(0, 12)];
}

static checkpoint_state *random_state(void)
{
    static unsigned types;
    checkpoint_state *state = checkpoint_state_new("random");
    int parts = g_test_rand_int_range(0, 12);
    for (int i = 0; i < parts; i++) {
        static const char *const texts[] = {"x", "", "a longer text", "abc", "", "1"};
        char *name = random_name("object", (unsigned)i);
        if (g_test_rand_int_range(0, 4) == 0) {
            checkpoint_state_add_texts(state, name, texts, (uint64_t)g_test_rand_int_range(0, 7));
        } else {
            dome_type type = random_type(&types);
            uint64_t length = (uint64_t)g_test_rand_int_range(0, 50), width = (uint64_t)g_test_rand_int_range(1, 4);
            uint64_t size = UINT64_C(1) << g_test_rand_int_range(0, 6);
            size_t bytes = length * width * dome_type_size(type);
            char *values = g_malloc(bytes + 1);
            for (size_t k = 0; k < bytes; k++)
                values[k] = (char)g_test_rand_int();
            checkpoint_state_add(state, name, type, length, width, size, (dome_distribution)g_test_rand_int_range(0, 3), values);
            g_free(values);
        }
        g_free(name);
    }
    return state;
}

static void check_equal(const dome_ckpt *a, const dome_ckpt *b)
{
    g_assert_true(dome__ckpt_same(a, b));
    g_assert_cmpuint(a->entries, ==, b->entries);
    g_assert_cmpuint(a->head_bytes, ==, b->head_bytes);
    g_assert_cmpuint(a->file_bytes, ==, b->file_bytes);
    g_assert_true(dome__checksum_equal(&a->sum, &b->sum));
    g_assert_cmpuint(a->earlier->len, ==, b->earlier->len);
    for (uint64_t i = 0; i < a->entries; i++) {
        g_assert_cmpuint(a->table[i].source, ==, b->table[i].source);
        g_assert_cmpuint(a->table[i].offset, ==, b->table[i].offset);
        g_assert_cmpuint(a->table[i].length, ==, b->table[i].length);
        g_assert_true(dome__checksum_equal(&a->table[i].sum, &b->table[i].sum));
    }
}

static void test_round_trip(void)
{
    for (int i = 0; i < (g_test_quick() ? 60 : 500); i++) {
        char *message = NULL;
        checkpoint_state *state = random_state();
        dome_ckpt *ckpt = checkpoint_describe(state, 1 + (uint64_t)i);
        g_assert_true(dome__ckpt_plan(ckpt, NULL, &message));
        char *head = dome__ckpt_encode(ckpt);
        dome_ckpt *back = dome__ckpt_decode(head, ckpt->head_bytes, ckpt->file_bytes, &message);
        g_assert_cmpstr(message, ==, NULL);
        check_equal(ckpt, back);
        char *again = dome__ckpt_encode(back);
        g_assert_cmpmem(again, back->head_bytes, head, ckpt->head_bytes);
        g_free(again);
        g_free(head);
        dome__ckpt_free(back);
        dome__ckpt_free(ckpt);
        checkpoint_state_free(state);
    }
}

/* The file has the same bytes whichever tasks write which blocks in whatever order. */
static void test_writers(void)
{
    char *first = NULL;
    gsize bytes = 0;
    for (unsigned writers = 1; writers <= 7; writers++) {
        char *directory = new_directory(), *path = path_of(directory, 1), *message = NULL;
        checkpoint_state *state = checkpoint_state_known(env, 1);
        dome_ckpt *ckpt = checkpoint_describe(state, 1);
        g_assert_true(dome__ckpt_plan(ckpt, NULL, &message));
        checkpoint_write(directory, ckpt, state, writers);
        check_saved(directory, state, 1);
        GBytes *data = contents(path);
        if (!first)
            first = g_memdup2(g_bytes_get_data(data, &bytes), g_bytes_get_size(data));
        g_assert_cmpmem(g_bytes_get_data(data, NULL), g_bytes_get_size(data), first, bytes);
        g_bytes_unref(data);
        dome__ckpt_free(ckpt);
        checkpoint_state_free(state);
        g_free(path);
        remove_directory(directory);
    }
    g_free(first);
}

/* States that a checkpoint cannot hold are refused with a message. */
static void test_refused(void)
{
    char *message = NULL, *longest = g_strnfill(70000, 'x');
    dome_ckpt *ckpt = dome__ckpt_new("p", 1, 0);
    const dome_ckpt_description one = {
        .name = "x", .kind = "k", .type = DOME_F64, .length = 1, .width = 1, .distribution = DOME_WHOLE, .fixed = true};
    dome_ckpt_description d = one;
    g_assert_true(dome__ckpt_add_object(ckpt, &d, &message));
    g_assert_false(dome__ckpt_add_object(ckpt, &d, &message));
    check_message(g_steal_pointer(&message), "two objects called 'x'");
    d.name = longest;
    g_assert_false(dome__ckpt_add_object(ckpt, &d, &message));
    check_message(g_steal_pointer(&message), "70000 bytes");
    d.name = "";
    g_assert_false(dome__ckpt_add_object(ckpt, &d, &message));
    check_message(g_steal_pointer(&message), "without a name");
    d = one;
    d.name = "y";
    d.length = UINT64_MAX;
    g_assert_false(dome__ckpt_add_object(ckpt, &d, &message));
    check_message(g_steal_pointer(&message), "makes no sense");
    d = (dome_ckpt_description){.name = "y", .kind = "k", .length = 1, .width = 1, .distribution = DOME_DYNAMIC};
    g_assert_false(dome__ckpt_add_object(ckpt, &d, &message));
    check_message(g_steal_pointer(&message), "makes no sense");
    const uint64_t shape[] = {2, 3};
    d = one;
    d.name = "y";
    d.length = 5;
    d.ndim = 2;
    d.shape = shape;
    g_assert_false(dome__ckpt_add_object(ckpt, &d, &message));
    check_message(g_steal_pointer(&message), "its shape does not have its number of values");
    d.shape = NULL;
    g_assert_false(dome__ckpt_add_object(ckpt, &d, &message));
    check_message(g_steal_pointer(&message), "its shape does not have its number of values");
    g_assert_true(dome__ckpt_add_counter(ckpt, "c", 1, &message));
    g_assert_false(dome__ckpt_add_counter(ckpt, "c", 1, &message));
    check_message(g_steal_pointer(&message), "two counters called 'c'");
    dome__ckpt_free(ckpt);
    g_free(longest);
}

/* ---- shapes ---- */

/* Encodes a description whose objects have been added, and decodes it. NULL, with a message, if the reader refuses it. */
static dome_ckpt *to_bytes_and_back(dome_ckpt *ckpt, char **message)
{
    dome__ckpt_make_table(ckpt);
    g_assert_true(dome__ckpt_plan(ckpt, NULL, message));
    char *head = dome__ckpt_encode(ckpt);
    dome_ckpt *back = dome__ckpt_decode(head, ckpt->head_bytes, ckpt->file_bytes, message);
    g_free(head);
    return back;
}

static void check_shape(const dome_ckpt *ckpt, const char *name, int ndim, const uint64_t wanted[])
{
    int found = -1;
    uint64_t *shape = dome__ckpt_shape(ckpt, dome__ckpt_find(ckpt, name), &found);
    g_assert_cmpint(found, ==, ndim);
    g_assert_true((shape == NULL) == (ndim == 0));
    if (ndim)
        g_assert_cmpmem(shape, (size_t)found * sizeof *shape, wanted, (size_t)ndim * sizeof *wanted);
    g_free(shape);
}

static void add_vector(dome_ckpt *ckpt, const char *name, uint64_t length, uint64_t width, int ndim, const uint64_t shape[])
{
    const dome_ckpt_description vector = {.name = name,
                                          .kind = "dvec",
                                          .type = DOME_F64,
                                          .length = length,
                                          .width = width,
                                          .distribution = DOME_WHOLE,
                                          .fixed = true,
                                          .ndim = ndim,
                                          .shape = shape};
    char *message = NULL;
    g_assert_true(dome__ckpt_add_object(ckpt, &vector, &message));
}

/* Whether the counters of a file with one vector of 6 elements of width 4 are read. */
static bool good_counters(const char *first, uint64_t first_value, const char *second, uint64_t second_value)
{
    char *message = NULL;
    dome_ckpt *ckpt = dome__ckpt_new("shapes", 1, 1);
    add_vector(ckpt, "x", 6, 4, 0, NULL);
    g_assert_true(dome__ckpt_add_counter(ckpt, first, first_value, &message));
    g_assert_true(!second || dome__ckpt_add_counter(ckpt, second, second_value, &message));
    dome_ckpt *back = to_bytes_and_back(ckpt, &message);
    const bool good = back;
    if (!good)
        check_message(message, "counter 0 makes no sense");
    dome__ckpt_free(back);
    dome__ckpt_free(ckpt);
    return good;
}

static void test_shapes(void)
{
    const uint64_t cube[] = {2, 3, 4}, nothing[] = {UINT64_MAX, UINT64_MAX, 0, 3};
    char *message = NULL;
    dome_ckpt *ckpt = dome__ckpt_new("shapes", 1, 1);
    g_assert_true(dome__ckpt_add_counter(ckpt, "other", 7, &message));
    add_vector(ckpt, "plain", 24, 1, 0, NULL);
    g_assert_false(dome__ckpt_has_shapes(ckpt));
    add_vector(ckpt, "x", 6, 4, 3, cube);
    add_vector(ckpt, "between", 5, 1, 0, NULL);
    add_vector(ckpt, "empty", 0, 3, 4, nothing);
    dome_ckpt *back = to_bytes_and_back(ckpt, &message);
    g_assert_cmpstr(message, ==, NULL);
    g_assert_true(dome__ckpt_has_shapes(back));
    check_shape(back, "plain", 0, NULL);
    check_shape(back, "x", 3, cube);
    check_shape(back, "between", 0, NULL);
    check_shape(back, "empty", 4, nothing);
    dome__ckpt_free(back);
    dome__ckpt_free(ckpt);

    g_assert_true(good_counters("shape 0.0", 24, NULL, 0));
    g_assert_true(good_counters("shape 0.0", 8, "shape 0.1", 3));
    g_assert_true(good_counters("shapes", 1, "a shape 0.0", 1)); /* other counters */
    g_assert_false(good_counters("shape 0.0", 23, NULL, 0));
    g_assert_false(good_counters("shape 0.0", UINT64_MAX, "shape 0.1", UINT64_MAX));
    g_assert_false(good_counters("shape 0.0", 0, NULL, 0));
    g_assert_false(good_counters("shape 0.1", 24, NULL, 0));
    g_assert_false(good_counters("shape 0.1", 3, "shape 0.0", 8));
    g_assert_false(good_counters("shape 1.0", 24, NULL, 0));
    g_assert_false(good_counters("shape 18446744073709551616.0", 24, NULL, 0));
    g_assert_false(good_counters("shape 00.0", 24, NULL, 0));
    g_assert_false(good_counters("shape ", 24, NULL, 0));
    g_assert_false(good_counters("shape -1.0", 24, NULL, 0));
}

/* ---- damage ---- */

/* A change of any byte of any file of a checkpoint is detected, and the message names the file, and the object and block if the
 * byte is in one. */
static void test_every_byte(void)
{
    char *directory = new_directory();
    checkpoint_state *one = checkpoint_state_known(env, 1), *two = checkpoint_state_known(env, 2);
    dome_ckpt *first = save(directory, one, 1, NULL), *second = save(directory, two, 2, first);
    char *newest = path_of(directory, 2);
    for (uint64_t number = 1; number <= 2; number++) {
        char *path = path_of(directory, number);
        GBytes *data = contents(path);
        int fd = open(path, O_RDWR);
        for (size_t i = 0; i < g_bytes_get_size(data); i++) {
            uint8_t byte = ((const uint8_t *)g_bytes_get_data(data, NULL))[i], bad = byte ^ (uint8_t)(1 << i % 8);
            g_assert_cmpint(pwrite(fd, &bad, 1, (off_t)i), ==, 1);
            char *message = verify(path);
            g_assert_nonnull(message);
            g_assert_nonnull(strstr(message, path));
            if (i >= (number == 1 ? first : second)->head_bytes)
                g_assert_true(strstr(message, "object '") && strstr(message, "block "));
            g_free(message);

            /* In the earlier file: wherever it is in use. */
            if (number == 1) {
                bool used = i < first->head_bytes;
                for (uint64_t e = 0; e < second->entries && !used; e++)
                    used = second->table[e].source == 1 && i >= second->table[e].offset &&
                           i < second->table[e].offset + second->table[e].length;
                message = verify(newest);
                g_assert_true((message != NULL) == used);
                g_assert_true(!used || (strstr(message, newest) && strstr(message, path)));
                g_free(message);
            }
            g_assert_cmpint(pwrite(fd, &byte, 1, (off_t)i), ==, 1);
        }
        close(fd);
        g_assert_null(verify(path));
        g_bytes_unref(data);
        g_free(path);
    }
    g_free(newest);
    dome__ckpt_free(first);
    dome__ckpt_free(second);
    checkpoint_state_free(one);
    checkpoint_state_free(two);
    remove_directory(directory);
}

static void test_truncated(void)
{
    char *directory = new_directory(), *path = path_of(directory, 1);
    checkpoint_state *state = checkpoint_state_known(env, 1);
    dome__ckpt_free(save(directory, state, 1, NULL));
    GBytes *data = contents(path);
    size_t bytes = g_bytes_get_size(data);
    for (size_t n = bytes; n-- > 0;) {
        g_assert_cmpint(truncate(path, (off_t)n), ==, 0);
        check_message(verify(path), path);
    }
    char *longer = g_malloc0(bytes + 1);
    memcpy(longer, g_bytes_get_data(data, NULL), bytes);
    set_contents(path, longer, bytes + 1);
    check_message(verify(path), "its header says");
    g_free(longer);
    unlink(path);
    check_message(verify(path), "cannot be opened: No such file");
    check_message(verify(directory), "it is a directory, not a regular file");
    set_contents(path, "what is this?", 13);
    check_message(verify(path), "is not a checkpoint");
    g_bytes_unref(data);
    checkpoint_state_free(state);
    g_free(path);
    remove_directory(directory);
}

/* Gives a changed head the right checksum. */
static void seal(uint8_t *head, size_t bytes)
{
    memset(head + 48, 0, 16);
    dome_checksum sum = dome__checksum(head, bytes);
    memcpy(head + 48, sum.bytes, 16);
}

/* Heads with the right checksum but inconsistent contents: refused with a message, or read as they are. */
static void test_hostile(void)
{
    char *message = NULL;
    checkpoint_state *state = checkpoint_state_known(env, 1);
    dome_ckpt *ckpt = checkpoint_describe(state, 5);
    g_assert_true(dome__ckpt_plan(ckpt, NULL, &message));
    size_t bytes = ckpt->head_bytes;
    uint8_t *head = dome__ckpt_encode(ckpt), *bad = g_malloc(bytes);
    static const uint32_t numbers[] = {0, 1, 2, 13, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

    memcpy(bad, head, bytes);
    bad[11] = 3;
    seal(bad, bytes);
    g_assert_null(dome__ckpt_decode(bad, bytes, ckpt->file_bytes, &message));
    check_message(g_steal_pointer(&message), "has version 3 of the format, this library reads versions 1 and 2");

    unsigned read = 0;
    for (size_t at = 8; at + 4 <= bytes; at += at < 48 || at >= 64 ? 4 : 16)
        for (size_t k = 0; k < G_N_ELEMENTS(numbers); k++) {
            uint32_t value = GUINT32_TO_BE(numbers[k]);
            memcpy(bad, head, bytes);
            memcpy(bad + at, &value, 4);
            seal(bad, bytes);
            dome_ckpt *back = dome__ckpt_decode(bad, bytes, ckpt->file_bytes, &message);
            g_assert_true((back == NULL) == (message != NULL));
            read += back != NULL;
            if (message)
                check_message(g_steal_pointer(&message), "");
            dome__ckpt_free(back);
        }
    g_assert_cmpuint(read, >, 0); /* numbers of elements, checksums of blocks, ... */
    g_free(bad);
    g_free(head);
    dome__ckpt_free(ckpt);
    checkpoint_state_free(state);
}

/* ---- incremental ---- */

static void test_incremental(void)
{
    static const char *const names[] = {"x", "y", "z"};
    char *directory = new_directory();
    checkpoint_state *state = vectors(1000, names, 3);
    checkpoint_part *y = g_ptr_array_index(state->parts, 1);
    dome_ckpt *first = save(directory, state, 1, NULL), *second = save(directory, state, 2, first);
    g_assert_cmpuint(dome__ckpt_data_bytes(first), ==, 3 * 8000);
    g_assert_cmpuint(dome__ckpt_data_bytes(second), ==, 0);
    g_assert_cmpuint(second->earlier->len, ==, 1);

    /* One block changes. References go to the file that has the data. */
    double v[16] = {1};
    checkpoint_part_set(y, 7, v, sizeof v);
    dome_ckpt *third = save(directory, state, 3, second), *fourth = save(directory, state, 4, third);
    g_assert_cmpuint(dome__ckpt_data_bytes(third), ==, sizeof v);
    g_assert_cmpuint(dome__ckpt_data_bytes(fourth), ==, 0);
    g_assert_cmpuint(third->earlier->len, ==, 1);
    g_assert_cmpuint(fourth->earlier->len, ==, 2);
    g_assert_cmpuint(g_array_index(fourth->earlier, dome_ckpt_earlier, 0).number, ==, 1);
    g_assert_cmpuint(g_array_index(fourth->earlier, dome_ckpt_earlier, 1).number, ==, 3);
    check_saved(directory, state, 4);

    /* All of y changes: x and z take no space. */
    for (guint b = 0; b < y->blocks->len; b++) {
        gsize bytes = g_bytes_get_size(y->blocks->pdata[b]);
        v[1] = b;
        checkpoint_part_set(y, b, v, bytes);
    }
    dome_ckpt *fifth = save(directory, state, 5, fourth);
    g_assert_cmpuint(dome__ckpt_data_bytes(fifth), ==, 8000);
    check_saved(directory, state, 5);

    /* The plan is the same if the previous checkpoint was read from a file. */
    char *path = path_of(directory, 4), *message = NULL;
    dome_ckpt_file *file = dome__ckpt_open(path, &message);
    dome_ckpt *again = checkpoint_describe(state, 5);
    g_assert_true(dome__ckpt_plan(again, dome__ckpt_head(file), &message));
    g_free(dome__ckpt_encode(again));
    check_equal(again, fifth);
    dome__ckpt_close(file);
    g_free(path);
    dome_ckpt *all[] = {first, second, third, fourth, fifth, again};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        dome__ckpt_free(all[i]);
    checkpoint_state_free(state);
    remove_directory(directory);
}

/* Blocks of any length are found again where others have come before them; each place is referred to once. */
static void test_moved(void)
{
    enum { LONG = 1000, BEFORE = 5, AFTER = 7 };
    char *texts[6];
    for (int k = 0; k < 6; k++)
        texts[k] = g_strnfill((gsize)(LONG + k), (char)('a' + k));
    const char *const before[BEFORE] = {texts[0], texts[1], texts[2], texts[3], texts[3]}, *const after[AFTER] = {
                                                                                               texts[0], texts[2], texts[3],
                                                                                               texts[4], texts[3], texts[3],
                                                                                               texts[5]};
    char *directory = new_directory();
    checkpoint_state *states[] = {checkpoint_state_new("moved"), checkpoint_state_new("moved")};
    g_assert_false(checkpoint_state_add_texts(states[0], "image", before, BEFORE)->fixed);
    checkpoint_state_add_texts(states[1], "image", after, AFTER);
    dome_ckpt *first = save(directory, states[0], 1, NULL), *second = save(directory, states[1], 2, first);
    g_assert_cmpuint(dome__ckpt_data_bytes(second), ==, (LONG + 4) + (LONG + 3) + (LONG + 5));
    check_saved(directory, states[1], 2);
    dome_ckpt *third = save(directory, states[0], 3, second);
    g_assert_cmpuint(dome__ckpt_data_bytes(third), ==, LONG + 1);
    check_saved(directory, states[0], 3);
    dome_ckpt *all[] = {first, second, third};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        dome__ckpt_free(all[i]);
    for (int k = 0; k < 6; k++)
        g_free(texts[k]);
    checkpoint_state_free(states[0]);
    checkpoint_state_free(states[1]);
    remove_directory(directory);
}

static uint64_t bytes_of_files(const char *directory)
{
    char *message = NULL;
    uint64_t bytes = 0;
    GPtrArray *items = dome__store_list(directory, &message);
    for (guint i = 0; i < items->len; i++)
        bytes += dome__ckpt_head(((dome_store_item *)g_ptr_array_index(items, i))->file)->file_bytes;
    g_ptr_array_unref(items);
    return bytes;
}

/* Programs that run for long: the number of files kept is bounded, and all are good. */
static void test_long_runs(void)
{
    static const char *const names[] = {"constant", "slow", "fast"};
    for (int changes = 1; changes <= 40; changes *= 6) {
        char *directory = new_directory(), *message = NULL;
        checkpoint_state *state = vectors(400, names, 3);
        dome_store *store = dome__store_open(directory, "vectors", &message);
        g_assert_cmpstr(message, ==, NULL);
        dome_ckpt *previous = NULL;
        uint64_t written = 0;
        for (uint64_t number = 1; number <= 80; number++) {
            for (int i = 0; i < changes; i++) {
                checkpoint_part *part = g_ptr_array_index(state->parts, g_test_rand_int_range(0, 5) == 0 ? 1 : 2);
                double v[16] = {(double)number, i};
                checkpoint_part_set(part, (uint64_t)g_test_rand_int_range(0, 25), v, sizeof v);
            }
            dome_ckpt *ckpt = save(directory, state, number, previous);
            uint64_t kept = 0;
            for (guint i = 0; i < ckpt->earlier->len; i++)
                kept += g_array_index(ckpt->earlier, dome_ckpt_earlier, i).file_bytes;
            g_assert_cmpuint(ckpt->earlier->len, <=, DOME_CKPT_EARLIER_MAX);
            g_assert_cmpuint(kept, <=, 2 * (3 * 3200 + ckpt->head_bytes) + 1);
            written += dome__ckpt_data_bytes(ckpt);
            dome__ckpt_free(previous);
            previous = ckpt;
            dome__store_prune(store, 2, &message);
            g_assert_cmpstr(message, ==, NULL);
            g_assert_cmpuint(bytes_of_files(directory), <, 5 * (3 * 3200 + ckpt->head_bytes));
            check_saved(directory, state, number);
            if (number > 1) {
                char *path = path_of(directory, number - 1);
                g_assert_null(verify(path));
                g_free(path);
            }
        }
        /* Each time much less than everything is written, though some unchanged blocks are written again. */
        g_assert_cmpuint(written, <, 80 * 3 * 3200 / 2);
        dome__ckpt_free(previous);
        dome__store_close(store);
        checkpoint_state_free(state);
        remove_directory(directory);
    }
}

/* ---- the directory ---- */

static void test_names(void)
{
    static const char *const bad[] = {
        "ckpt-1.dckpt",          "ckpt-00000000.dckpt",      "ckpt-00000001.dckpt.part",          "00000001.dckpt",
        "ckpt-000000001.dckpt",  "ckpt-00000001.0of2.dckpt", "ckpt-00000001.3of2.dckpt",          "ckpt-.dckpt",
        "ckpt-00000001.1.dckpt", "ckpt-00000001.1of.dckpt",  "ckpt-99999999999999999999999.dckpt"};
    uint64_t number;
    uint32_t piece, pieces;
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_false(dome__ckpt_parse_name(bad[i], &number, &piece, &pieces));
    g_assert_true(dome__ckpt_parse_name("ckpt-00000012.dckpt", &number, &piece, &pieces));
    g_assert_true(number == 12 && piece == 0 && pieces == 0);
    g_assert_true(dome__ckpt_parse_name("ckpt-123456789012.3of17.dckpt", &number, &piece, &pieces));
    g_assert_true(number == 123456789012 && piece == 3 && pieces == 17);
}

static void damage(const char *path, off_t at)
{
    int fd = open(path, O_RDWR);
    uint8_t byte;
    g_assert_cmpint(pread(fd, &byte, 1, at), ==, 1);
    byte ^= 1;
    g_assert_cmpint(pwrite(fd, &byte, 1, at), ==, 1);
    close(fd);
}

/* Damaged checkpoints are skipped with a line each; files that others need stay; files of other programs are left alone. */
static void test_newest(void)
{
    static const char *const names[] = {"x"};
    char *directory = new_directory(), *message = NULL, *skipped = NULL, *path;
    uint64_t number;
    g_assert_null(dome__store_newest(directory, "vectors", true, &skipped, &message));
    check_message(g_steal_pointer(&message), "has no checkpoint that can be used");
    g_assert_true(dome__store_next_number(directory, &number, &message) && number == 1);

    dome_ckpt *ckpts[6] = {NULL};
    checkpoint_state *state = vectors(2000, names, 1), *other = checkpoint_state_known(env, 1);
    for (uint64_t i = 1; i <= 5; i++) {
        double v[16] = {0, (double)i};
        checkpoint_part_set(g_ptr_array_index(state->parts, 0), i, v, sizeof v);
        ckpts[i] = save(directory, state, i, ckpts[i - 1]);
    }
    dome__ckpt_free(save(directory, other, 6, NULL));
    path = path_of(directory, 5);
    damage(path, (off_t)ckpts[5]->head_bytes + 3);
    g_free(path);
    path = path_of(directory, 4);
    damage(path, 20);
    g_free(path);
    g_assert_true(dome__store_next_number(directory, &number, &message) && number == 7);

    dome_ckpt_file *file = dome__store_newest(directory, "vectors", true, &skipped, &message);
    g_assert_cmpuint(dome__ckpt_head(file)->number, ==, 3);
    dome__ckpt_close(file);
    char **lines = g_strsplit(skipped, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 3);
    g_assert_nonnull(strstr(lines[0], "is of program 'known', not of 'vectors'"));
    /* 5 refers to 4, whose head is damaged. */
    g_assert_nonnull(strstr(lines[1], "ckpt-00000005.dckpt' needs an earlier one: "));
    g_assert_nonnull(strstr(lines[2], "ckpt-00000004.dckpt'"));
    g_strfreev(lines);
    g_free(skipped);

    GPtrArray *items = dome__store_list(directory, &message);
    g_assert_cmpuint(items->len, ==, 6);
    for (guint i = 0; i < 6; i++) {
        dome_store_item *item = g_ptr_array_index(items, i);
        g_assert_cmpuint(item->number, ==, i + 1);
        g_assert_true((item->file == NULL) == (i == 3) && (item->damage != NULL) == (i == 3 || i == 4));
    }
    g_ptr_array_unref(items);

    /* Newer than the newest good one: they stay, so that a user can examine them. Then a good one is written. */
    dome_store *store = dome__store_open(directory, "vectors", &message);
    g_assert_true(dome__store_prune(store, 1, &message));
    g_assert_true(dome__store_next_number(directory, &number, &message) && number == 7);
    dome_ckpt *seventh = save(directory, state, 7, ckpts[3]);
    g_assert_true(dome__store_prune(store, 7, &message)); /* as many as may stay: none is opened */
    items = dome__store_list(directory, &message);
    g_assert_cmpuint(items->len, ==, 7);
    g_ptr_array_unref(items);
    g_assert_true(dome__store_prune(store, 1, &message));
    items = dome__store_list(directory, &message);
    for (guint i = 0; i < items->len; i++) {
        dome_store_item *item = g_ptr_array_index(items, i);
        g_assert_cmpuint(item->number, ==, ((const uint64_t[]){1, 2, 3, 6, 7})[i]);
        g_assert_nonnull(item->file);
    }
    g_ptr_array_unref(items);
    check_saved(directory, state, 7);

    /* A checkpoint is not used if a file that it needs is missing or has been replaced. */
    path = path_of(directory, 1);
    char *away = g_strconcat(path, ".away", NULL), *seven = path_of(directory, 7);
    g_assert_cmpint(rename(path, away), ==, 0);
    check_message(verify(seven), "needs an earlier one: checkpoint '");
    dome__ckpt_free(save(directory, other, 1, NULL));
    check_message(verify(seven), "is another one than was there before");
    g_assert_cmpint(rename(away, path), ==, 0);
    g_assert_null(verify(seven));
    g_free(seven);
    g_free(away);
    g_free(path);

    dome__store_close(store);
    dome__ckpt_free(seventh);
    for (int i = 1; i <= 5; i++)
        dome__ckpt_free(ckpts[i]);
    checkpoint_state_free(state);
    checkpoint_state_free(other);
    remove_directory(directory);
}

static void test_lock(void)
{
    char *directory = new_directory(), *deeper = g_build_filename(directory, "a", "b", NULL), *message = NULL;
    char *part = g_build_filename(deeper, "ckpt-00000003.dckpt.part", NULL), *kept = g_build_filename(deeper, "notes.part", NULL);
    dome_store *store = dome__store_open(deeper, "md", &message);
    g_assert_cmpstr(message, ==, NULL);
    g_assert_null(dome__store_open(deeper, "cg", &message));
    char *words = g_strdup_printf("is in use by 'md, process %d on ", (int)getpid());
    check_message(g_steal_pointer(&message), words);
    g_free(words);
    set_contents(part, "half", 4);
    set_contents(kept, "x", 1);
    dome__store_close(store);

    /* The lock is released with its holder; its incomplete files are removed by the next one. */
    store = dome__store_open(deeper, "md", &message);
    g_assert_nonnull(store);
    g_assert_cmpint(access(part, F_OK), !=, 0);
    g_assert_cmpint(access(kept, F_OK), ==, 0);
    dome__store_close(store);

    char *file = g_build_filename(kept, "x", NULL);
    g_assert_null(dome__store_open(file, "md", &message));
    check_message(g_steal_pointer(&message), "cannot be made: Not a directory");
    g_free(file);
    unlink(kept);
    g_free(kept);
    g_free(part);
    remove_directory(deeper);
    deeper = g_build_filename(directory, "a", NULL);
    g_assert_cmpint(rmdir(deeper), ==, 0);
    g_free(deeper);
    remove_directory(directory);
}

static void cannot_lock(const char *directory, const char *words)
{
    char *message = NULL;
    g_assert_null(dome__store_open(directory, "md", &message));
    check_message(message, words);
}

/* A lock file that others may have manipulated: nothing is locked, waited for or written through it. */
static void test_strange_lock(void)
{
    char *directory = new_directory(), *lock = g_build_filename(directory, "lock", NULL), *message = NULL;
    char *precious = g_build_filename(directory, "precious", NULL), *part = path_of(directory, 1);
    struct stat s;
    set_contents(precious, "precious", 8);
    g_assert_cmpint(symlink(precious, lock), ==, 0);
    cannot_lock(directory, "by its file 'lock': it is a symbolic link");
    unlink(lock);
    g_assert_cmpint(link(precious, lock), ==, 0);
    cannot_lock(directory, "by its file 'lock': it has other names");
    unlink(lock);
    g_assert_cmpint(mkfifo(lock, 0600), ==, 0);
    cannot_lock(directory, "by its file 'lock': it is a FIFO");
    unlink(lock);
    if (geteuid() == 0) {
        set_contents(lock, "", 0);
        g_assert_cmpint(chown(lock, 1, 1), ==, 0);
        cannot_lock(directory, "by its file 'lock': it belongs to another user");
        unlink(lock);
    }

    /* A user who can open the file could lock it, so its rights are reduced if an earlier version left it readable. */
    set_contents(lock, "", 0);
    g_assert_cmpint(chmod(lock, 0644), ==, 0);
    dome_store *store = dome__store_open(directory, "md", &message);
    g_assert_cmpstr(message, ==, NULL);
    g_assert_cmpint(stat(lock, &s), ==, 0);
    g_assert_cmpint(s.st_mode & 0777, ==, 0600);

    dome__store_close(store);

    /* A child that outlives its parent does not hold the lock. */
    int ends[2];
    pid_t child = 0, parent;
    g_assert_cmpint(pipe(ends), ==, 0);
    if ((parent = fork()) == 0) {
        if (!dome__store_open(directory, "md", &message))
            _exit(1);
        if (fork() != 0)
            pause();
        child = getpid();
        if (write(ends[1], &child, sizeof child) != sizeof child)
            _exit(1);
        pause();
    }
    close(ends[1]);
    g_assert_cmpint(read(ends[0], &child, sizeof child), ==, sizeof child);
    close(ends[0]);
    kill(parent, SIGKILL);
    g_assert_cmpint(waitpid(parent, NULL, 0), ==, parent);
    store = dome__store_open(directory, "md", &message);
    kill(child, SIGKILL);
    g_assert_cmpstr(message, ==, NULL);

    /* The same for the file being written. */
    static const char *const names[] = {"x"};
    checkpoint_state *state = vectors(100, names, 1);
    dome_ckpt *ckpt = checkpoint_describe(state, 1);
    g_assert_true(dome__ckpt_plan(ckpt, NULL, &message));
    char *hidden = g_strconcat(part, ".part", NULL);
    g_assert_cmpint(symlink(precious, hidden), ==, 0);
    int fd = dome__store_create(directory, ckpt, &message);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(lstat(hidden, &s), ==, 0);
    g_assert_true(S_ISREG(s.st_mode));
    g_assert_cmpint(s.st_mode & 0077, ==, 0); /* as the directory */
    unlink(hidden);
    g_assert_cmpint(link(precious, hidden), ==, 0);
    g_assert_cmpint(dome__store_join(directory, ckpt, &message), <, 0);
    check_message(g_steal_pointer(&message), "it has other names");
    dome__store_abandon(directory, ckpt, fd);
    g_assert_cmpint(stat(precious, &s), ==, 0);
    g_assert_cmpint(s.st_size, ==, 8);

    dome__ckpt_free(ckpt);
    checkpoint_state_free(state);
    dome__store_close(store);
    unlink(precious);
    g_free(hidden);
    g_free(part);
    g_free(precious);
    g_free(lock);
    remove_directory(directory);
}

static void test_own_directory(void)
{
    char *directory = new_directory(), *inner = g_build_filename(directory, "inner", NULL), *message = NULL;
    struct stat s;
    g_assert_true(dome__store_make_directory(inner, DOME_STORE_OWN, &message));
    g_assert_cmpint(stat(inner, &s), ==, 0);
    g_assert_cmpint(s.st_mode & 0777, ==, 0700);
    g_assert_true(dome__store_make_directory(inner, DOME_STORE_OWN, &message));
    g_assert_cmpint(chmod(inner, 0755), ==, 0);
    g_assert_false(dome__store_make_directory(inner, DOME_STORE_OWN, &message));
    check_message(g_steal_pointer(&message), "others than this user");
    g_assert_true(dome__store_make_directory(inner, DOME_STORE_ANY, &message));
    g_assert_cmpint(rmdir(inner), ==, 0);
    g_assert_cmpint(symlink("/", inner), ==, 0);
    g_assert_false(dome__store_make_directory(inner, DOME_STORE_OWN, &message));
    check_message(g_steal_pointer(&message), "others than this user");
    unlink(inner);
    g_free(inner);
    remove_directory(directory);
}

static void is_distrusted(const char *directory, const char *words)
{
    char *message = NULL;
    g_assert_false(dome__store_make_directory(directory, DOME_STORE_TRUSTED, &message));
    check_message(message, words);
}

/* Where somebody else may have put something, nothing is read (tests/security/owners.sh has other users). */
static void test_trusted_directory(void)
{
    char *directory = new_directory(), *inner = g_build_filename(directory, "a", "inner", NULL), *message = NULL;
    char *outer = g_path_get_dirname(inner), *link = g_build_filename(directory, "link", NULL), *file = path_of(inner, 1);
    struct stat s;
    const mode_t mask = umask(0);
    g_assert_true(dome__store_make_directory(inner, DOME_STORE_TRUSTED, &message));
    umask(mask);
    g_assert_cmpint(stat(inner, &s), ==, 0);
    g_assert_cmpint(s.st_mode & 0777, ==, 0755);
    g_assert_cmpint(chmod(inner, 0757), ==, 0);
    is_distrusted(inner, "others may write there (mode 0757); take a directory of your own");
    g_assert_cmpint(chmod(inner, 0755), ==, 0);
    g_assert_cmpint(chmod(outer, 0777), ==, 0);
    is_distrusted(inner, "others may write there (mode 0777)");
    g_assert_cmpint(symlink(inner, link), ==, 0);
    is_distrusted(link, "others may write there (mode 0777)");
    g_assert_cmpint(chmod(outer, 01777), ==, 0);
    g_assert_true(dome__store_make_directory(inner, DOME_STORE_TRUSTED, &message));
    g_assert_true(dome__store_make_directory(link, DOME_STORE_TRUSTED, &message));
    is_distrusted(outer, "others may write there (mode 1777)");

    set_contents(file, "x", 1);
    g_assert_false(dome__store_make_directory(file, DOME_STORE_TRUSTED, &message));
    check_message(g_steal_pointer(&message), "cannot be made: Not a directory");
    dome__ckpt_only_trusted(true);
    g_assert_cmpint(chmod(file, 0646), ==, 0);
    g_assert_null(dome__ckpt_open(file, &message));
    check_message(g_steal_pointer(&message),
                  "is not read: others may write to it (mode 0646); --dome-checkpoint-trust would read it");
    g_assert_cmpint(chmod(file, 0644), ==, 0);
    g_assert_null(dome__ckpt_open(file, &message));
    check_message(g_steal_pointer(&message), "is not a checkpoint");
    dome__ckpt_only_trusted(false);
    unlink(file);
    unlink(link);
    g_assert_cmpint(rmdir(inner), ==, 0);
    g_assert_cmpint(rmdir(outer), ==, 0);
    g_free(file);
    g_free(link);
    g_free(outer);
    g_free(inner);
    remove_directory(directory);
}

/* A full disk or a limit on file sizes is detected before data are written, and no file is left. */
static void test_full_disk(void)
{
    static const char *const names[] = {"x"};
    char *directory = new_directory(), *message = NULL;
    checkpoint_state *state = vectors(10000, names, 1);
    dome_ckpt *ckpt = checkpoint_describe(state, 1);
    g_assert_true(dome__ckpt_plan(ckpt, NULL, &message));
    struct rlimit limit, old;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &old), ==, 0);
    limit = old;
    limit.rlim_cur = 10000;
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
    g_assert_cmpint(dome__store_create(directory, ckpt, &message), <, 0);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &old), ==, 0);
    check_message(g_steal_pointer(&message), "cannot be written: File too large");
    dome__ckpt_free(ckpt);
    checkpoint_state_free(state);
    remove_directory(directory);
}

/* If a process is killed while it writes, earlier checkpoints are intact, and no other file looks like a checkpoint. */
static void test_killed(void)
{
    static const char *const names[] = {"x", "y"};
    char *directory = new_directory(), *message = NULL, *skipped = NULL;
    checkpoint_state *state = vectors(20000, names, 2);
    dome__ckpt_free(save(directory, state, 1, NULL));
    for (int i = 0; i < (g_test_quick() ? 10 : 60); i++) {
        pid_t child = fork();
        if (child == 0) {
            for (uint64_t number = 2;; number++)
                dome__ckpt_free(save(directory, state, number, NULL));
        }
        g_usleep((gulong)g_test_rand_int_range(0, 20000));
        kill(child, SIGKILL);
        g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
        dome_store *store = dome__store_open(directory, "vectors", &message);
        dome_ckpt_file *file = dome__store_newest(directory, "vectors", true, &skipped, &message);
        g_assert_cmpstr(message, ==, NULL);
        g_assert_cmpstr(skipped, ==, NULL);
        checkpoint_check(file, state);
        dome__ckpt_close(file);
        dome__store_prune(store, 1, &message);
        dome__store_close(store);
    }
    checkpoint_state_free(state);
    remove_directory(directory);
}

/* ---- pieces ---- */

static bool in_piece(uint64_t entry, unsigned piece)
{
    return entry % 3 + 1 == piece || entry % 5 == 0; /* some entries are in several pieces */
}

static dome_ckpt *save_piece(const char *directory, const checkpoint_state *state, uint64_t number, unsigned piece,
                             const dome_ckpt *previous)
{
    char *message = NULL;
    dome_ckpt *ckpt = checkpoint_describe(state, number);
    ckpt->piece = piece;
    ckpt->pieces = 3;
    for (uint64_t i = 0; i < ckpt->entries; i++)
        ckpt->table[i].source = in_piece(i, piece) ? number : 0;
    g_assert_true(dome__ckpt_plan(ckpt, previous, &message));
    checkpoint_write(directory, ckpt, state, 1);
    return ckpt;
}

static void open_pieces(char *const directories[3], uint64_t number, dome_ckpt_file *pieces[3])
{
    char *message = NULL;
    for (unsigned p = 0; p < 3; p++) {
        char *path = dome__ckpt_file_path(directories[p], number, p + 1, 3);
        pieces[2 - p] = dome__ckpt_open(path, &message);
        g_assert_cmpstr(message, ==, NULL);
        g_free(path);
    }
}

static void compare_files(const char *a, const char *b, uint64_t number)
{
    char *first = path_of(a, number), *second = path_of(b, number);
    GBytes *x = contents(first), *y = contents(second);
    g_assert_true(g_bytes_equal(x, y));
    g_bytes_unref(x);
    g_bytes_unref(y);
    g_free(first);
    g_free(second);
}

/* The pieces of three hosts are merged into the same files as were written whole, references included. */
static void test_pieces(void)
{
    char *whole = new_directory(), *merged = new_directory(), *message = NULL;
    char *directories[3] = {new_directory(), new_directory(), new_directory()};
    dome_ckpt *previous = NULL, *previous_piece[3] = {NULL};
    dome_ckpt_file *pieces[3];
    for (uint64_t number = 1; number <= 2; number++) {
        checkpoint_state *state = checkpoint_state_known(env, (int)number);
        dome_ckpt *ckpt = save(whole, state, number, previous);
        for (unsigned p = 0; p < 3; p++) {
            dome_ckpt *piece = save_piece(directories[p], state, number, p + 1, previous_piece[p]);
            g_assert_cmpuint(dome__ckpt_data_bytes(piece), <,
                             number == 1 ? UINT64_MAX : dome__ckpt_data_bytes(previous_piece[p]));
            dome__ckpt_free(previous_piece[p]);
            previous_piece[p] = piece;
        }
        open_pieces(directories, number, pieces);
        dome__store_merge(pieces, 3, previous, merged, &message);
        g_assert_cmpstr(message, ==, NULL);
        compare_files(whole, merged, number);
        check_saved(merged, state, number);
        for (int p = 0; p < 3; p++)
            dome__ckpt_close(pieces[p]);
        dome__ckpt_free(previous);
        previous = ckpt;
        checkpoint_state_free(state);
    }

    /* Fails if some are missing, belong to different checkpoints, or are not pieces. */
    open_pieces(directories, 1, pieces);
    g_assert_false(dome__store_merge(pieces, 2, NULL, merged, &message));
    check_message(g_steal_pointer(&message), "is in none of the pieces");
    dome_ckpt_file *first = pieces[0];
    dome__ckpt_close(pieces[1]);
    dome__ckpt_close(pieces[2]);
    open_pieces(directories, 2, pieces);
    g_assert_false(dome__store_merge((dome_ckpt_file *[]){first, pieces[1]}, 2, NULL, merged, &message));
    check_message(g_steal_pointer(&message), "are not of one whole");
    dome__ckpt_close(first);
    for (int p = 0; p < 3; p++)
        dome__ckpt_close(pieces[p]);
    for (int p = 0; p < 3; p++) {
        dome__ckpt_free(previous_piece[p]);
        remove_directory(directories[p]);
    }
    dome__ckpt_free(previous);
    remove_directory(whole);
    remove_directory(merged);
}

/* ---- files of the first version ---- */

/* These files must be readable for ever, and are still written the same. DOME_WRITE_KNOWN=DIRECTORY writes them. */
static void test_known(void)
{
    const char *known = DOME_SOURCE_DIR "/tests/data/checkpoints", *elsewhere = g_getenv("DOME_WRITE_KNOWN");
    char *directory = elsewhere ? g_strdup(elsewhere) : new_directory();
    dome_ckpt *previous = NULL;
    for (int step = 1; step <= 2; step++) {
        checkpoint_state *state = checkpoint_state_known(env, step);
        dome_ckpt *ckpt = save(directory, state, (uint64_t)step, previous);
        if (!elsewhere) {
            check_saved(known, state, (uint64_t)step);
            compare_files(directory, known, (uint64_t)step);
        }
        dome__ckpt_free(previous);
        previous = ckpt;
        checkpoint_state_free(state);
    }
    dome__ckpt_free(previous);
    if (elsewhere)
        g_free(directory);
    else
        remove_directory(directory);
}

/* ---- written together ---- */

/* A connection breaks when rank 0 sends offsets: the checkpoint fails, and no task waits for ever. */
static void test_lost_link(void)
{
    for (int lost = 1; lost < TASKS; lost++) {
        char *directory = new_directory(), *message = NULL;
        net net = {.size = TASKS, .lost = lost};
        dome_store *store = dome__store_open(directory, "together", &message);
        g_assert_cmpstr(message, ==, NULL);
        member members[TASKS];
        dome_ckpt_snapshot snapshots[TASKS];
        GThread *threads[TASKS];
        begin_net(&net);
        for (int r = 0; r < TASKS; r++) {
            dome__ckpt_snapshot_init(&snapshots[r]);
            members[r] = (member){&net, r, {.directory = directory, .snapshot = &snapshots[r], .store = store, .keep = 1}};
        }
        members[0].job.ckpt = dome__ckpt_new("together", 1, 1);
        members[0].job.full = true;
        for (int r = 0; r < TASKS; r++)
            threads[r] = g_thread_new("member", net_member, &members[r]);
        for (int r = 0; r < TASKS; r++)
            g_thread_join(threads[r]);
        g_assert_false(members[0].job.written);
        g_assert_true(members[0].job.lost);
        g_assert_cmpstr(members[0].job.message, ==,
                        lost == 1   ? "task 1 is gone"
                        : lost == 2 ? "task 2 is gone"
                                    : "task 3 is gone");
        for (int r = 0; r < TASKS; r++) {
            g_free(members[r].job.message);
            dome__ckpt_snapshot_free(&snapshots[r]);
        }
        end_net(&net);
        dome__ckpt_free(members[0].job.ckpt);
        dome__store_close(store);
        remove_directory(directory);
    }
}

/* ---- eagerly ---- */

enum { EAGER_BLOCKS = 64, EAGER_VALUES = 512 };

/* A value of a block that changes with each checkpoint, or stays the same. */
static double eager_value(uint64_t number, uint64_t block, int same)
{
    bool is_same = same == 2 || (same == 1 && block % 3 == 0);
    return (double)block + 1000.0 * (is_same ? 1 : (double)number);
}

/* Every task copies its part of all blocks. */
static void copy_part(dome_ckpt_snapshot *snapshot, int rank, uint64_t number, int same)
{
    uint64_t each = EAGER_BLOCKS / TASKS;
    dome_ckpt_run run = {.first = (uint64_t)rank * each, .count = each, .type = DOME_F64};
    for (uint64_t k = 0; k < each; k++) {
        dome_ckpt_block b = {.bytes = EAGER_VALUES * sizeof(double)};
        double *values = dome__ckpt_snapshot_room(snapshot, b.bytes);
        b.at = (uint64_t)((char *)values - snapshot->buffer);
        for (int i = 0; i < EAGER_VALUES; i++)
            values[i] = eager_value(number, run.first + k, same);
        g_array_append_val(snapshot->blocks, b);
    }
    g_array_append_val(snapshot->runs, run);
}

/* Writes two checkpoints; `same` determines how many blocks of the second are unchanged. */
static void write_two(const char *directory, int same, bool eager)
{
    const dome_ckpt_description x = {.name = "x",
                                     .kind = "vector",
                                     .type = DOME_F64,
                                     .length = EAGER_BLOCKS * EAGER_VALUES,
                                     .width = 1,
                                     .distribution = DOME_BLOCK,
                                     .block_size = EAGER_VALUES,
                                     .fixed = true};
    char *message = NULL;
    dome_store *store = dome__store_open(directory, "together", &message);
    g_assert_cmpstr(message, ==, NULL);
    dome_ckpt *previous = NULL;
    for (uint64_t number = 1; number <= 2; number++) {
        net net = {.size = TASKS, .lost = -1};
        member members[TASKS];
        dome_ckpt_snapshot snapshots[TASKS];
        GThread *threads[TASKS];
        begin_net(&net);
        for (int r = 0; r < TASKS; r++) {
            dome__ckpt_snapshot_init(&snapshots[r]);
            copy_part(&snapshots[r], r, number, number == 1 ? 0 : same);
            members[r] = (member){&net, r, {.directory = directory, .snapshot = &snapshots[r], .store = store, .keep = 2}};
        }
        dome_ckpt_job *job = &members[0].job;
        job->ckpt = dome__ckpt_new("together", number, number);
        g_assert_true(dome__ckpt_add_object(job->ckpt, &x, &message));
        job->previous = previous;
        job->eager = eager;
        for (int r = 0; r < TASKS; r++)
            threads[r] = g_thread_new("member", net_member, &members[r]);
        for (int r = 0; r < TASKS; r++)
            g_thread_join(threads[r]);
        for (int r = 0; r < TASKS; r++) {
            g_assert_cmpstr(members[r].job.message, ==, NULL);
            g_assert_true(members[r].job.written);
            dome__ckpt_snapshot_free(&snapshots[r]);
        }
        g_assert_cmpint(job->mostly_same, ==, number == 2 && same > 0);
        end_net(&net);
        dome__ckpt_free(previous);
        previous = job->ckpt;
    }
    dome__ckpt_free(previous);
    dome__store_close(store);
}

/* Eager writing gives the same files, even if most blocks written early turn out to be in the previous checkpoint. */
static void test_eager(void)
{
    for (int same = 0; same <= 2; same++) {
        char *eager = new_directory(), *patient = new_directory(), *message = NULL;
        write_two(eager, same, true);
        write_two(patient, same, false);
        for (uint64_t number = 1; number <= 2; number++) {
            char *paths[2] = {dome__ckpt_file_path(eager, number, 0, 0), dome__ckpt_file_path(patient, number, 0, 0)}, *bytes[2];
            gsize lengths[2];
            for (int i = 0; i < 2; i++)
                g_assert_true(g_file_get_contents(paths[i], &bytes[i], &lengths[i], NULL));
            g_assert_cmpmem(bytes[0], lengths[0], bytes[1], lengths[1]);
            dome_ckpt_file *file = dome__ckpt_open(paths[0], &message);
            g_assert_cmpstr(message, ==, NULL);
            g_assert_true(dome__ckpt_verify(file, &message));
            dome__ckpt_close(file);
            for (int i = 0; i < 2; i++) {
                g_free(paths[i]);
                g_free(bytes[i]);
            }
        }
        remove_directory(eager);
        remove_directory(patient);
    }
}

int main(int argc, char **argv)
{
    char *arguments[] = {argv[0], "--dome-transport", "self", NULL}, **init_argv = arguments;
    int init_argc = 3;
    g_test_init(&argc, &argv, NULL);
    env = dome_init(&init_argc, &init_argv);
    g_test_add_func("/checkpoint/xdr", test_xdr);
    g_test_add_func("/checkpoint/round_trip", test_round_trip);
    g_test_add_func("/checkpoint/writers", test_writers);
    g_test_add_func("/checkpoint/refused", test_refused);
    g_test_add_func("/checkpoint/shapes", test_shapes);
    g_test_add_func("/checkpoint/every_byte", test_every_byte);
    g_test_add_func("/checkpoint/truncated", test_truncated);
    g_test_add_func("/checkpoint/hostile", test_hostile);
    g_test_add_func("/checkpoint/incremental", test_incremental);
    g_test_add_func("/checkpoint/moved", test_moved);
    g_test_add_func("/checkpoint/long_runs", test_long_runs);
    g_test_add_func("/checkpoint/names", test_names);
    g_test_add_func("/checkpoint/newest", test_newest);
    g_test_add_func("/checkpoint/lock", test_lock);
    g_test_add_func("/checkpoint/strange-lock", test_strange_lock);
    g_test_add_func("/checkpoint/own-directory", test_own_directory);
    g_test_add_func("/checkpoint/trusted-directory", test_trusted_directory);
    g_test_add_func("/checkpoint/full_disk", test_full_disk);
    g_test_add_func("/checkpoint/killed", test_killed);
    g_test_add_func("/checkpoint/pieces", test_pieces);
    g_test_add_func("/checkpoint/known", test_known);
    g_test_add_func("/checkpoint/lost_link", test_lost_link);
    g_test_add_func("/checkpoint/eager", test_eager);
    int failed = g_test_run();
    return dome_finalize(env) | failed;
}
