/* What the image of a captured program stands on: places in types, the way from an address to a block of the heap, and images
 * that are read back, whole and damaged. */
#include "capture/foreign.h"
#include "capture/zeros.h"
#include "captured_state.h"
#include "draw.h"
#include "heap/descriptions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- types ---- */

static void test_places(void)
{
    uint64_t one, portable;
    size_t back;
    bool past;
    const dome_capture_layout *l = dome__capture_layout(&outer_type, &one);
    const struct outer zero = {0};
    g_assert_cmpuint(one, ==, 1);
    g_assert_cmpuint(l->portable, ==, 2 + 2 * (1 + 8 + 3) + 8 + 16 + 16 + 4 + (4 + 16));
    unsigned places = 0;
    for (size_t at = 1; at < sizeof zero; at++) {
        if (!dome__capture_to_portable(l, &zero, at, NULL, &portable, &past))
            continue;
        places++;
        g_assert_true(dome__capture_to_native(l, &zero, portable, past, NULL, &back));
        g_assert_cmpuint(back, ==, at);
    }
    g_assert_cmpuint(places, >=, 16);
    /* Where the text of the first inner struct ends nothing begins, but a char * may point there. */
    g_assert_true(dome__capture_to_portable(l, &zero, offsetof(struct outer, inner[0].text) + 3, NULL, &portable, &past));
    g_assert_true(past);
    g_assert_cmpuint(portable, ==, 2 + 12);
    g_assert_false(dome__capture_to_portable(l, &zero, offsetof(struct outer, l) + 1, NULL, &portable, &past));
    char *path = dome__capture_path(l, offsetof(struct outer, inner[1].text) + 2);
    g_assert_cmpstr(path, ==, "inner[1].text[2]");
    g_free(path);
}

/* Pointers to ends behind padding: of an array of structs, and of a union whose member in use is shorter. */
struct spot {
    int x, y;
    char kind;
};

union size_or_sign {
    int size;
    short sign;
};

struct padded {
    double first;
    struct spot spots[3];
    double second;
    union size_or_sign either;
    double third;
    struct spot *spots_end;
    char *kind_end;
    union size_or_sign *either_end;
    void *unknown_end;
};

static int which_sign(const void *unused)
{
    (void)unused;
    return 1;
}

static const dome_capture_member spot_members[] = {{"x", &dome_capture_int, offsetof(struct spot, x)},
                                                   {"y", &dome_capture_int, offsetof(struct spot, y)},
                                                   {"kind", &dome_capture_char, offsetof(struct spot, kind)}};
static dome_capture_type spot_type = DOME_CAPTURE_STRUCT("struct spot", struct spot, spot_members);
static dome_capture_type spots_type = DOME_CAPTURE_ARRAY("struct spot [3]", &spot_type, struct spot, 3);
static const dome_capture_member sign_members[] = {{"size", &dome_capture_int, 0}, {"sign", &dome_capture_short, 0}};
static dome_capture_type sign_type = DOME_CAPTURE_UNION("size or sign", union size_or_sign, sign_members, which_sign);
static dome_capture_type spot_pointer = DOME_CAPTURE_POINTER_TO("struct spot *", &spot_type);
static dome_capture_type sign_pointer = DOME_CAPTURE_POINTER_TO("size or sign *", &sign_type);
static const dome_capture_member padded_members[] = {
    {"first", &dome_capture_double, offsetof(struct padded, first)},
    {"spots", &spots_type, offsetof(struct padded, spots)},
    {"second", &dome_capture_double, offsetof(struct padded, second)},
    {"either", &sign_type, offsetof(struct padded, either)},
    {"third", &dome_capture_double, offsetof(struct padded, third)},
    {"spots_end", &spot_pointer, offsetof(struct padded, spots_end)},
    {"kind_end", &char_pointer, offsetof(struct padded, kind_end)},
    {"either_end", &sign_pointer, offsetof(struct padded, either_end)},
    {"unknown_end", &dome_capture_pointer, offsetof(struct padded, unknown_end)},
};
static dome_capture_type padded_type = DOME_CAPTURE_STRUCT("struct padded", struct padded, padded_members);

static void *newest(void)
{
    g_assert_true(dome__capture_heap_index());
    return dome__capture_block_memory(&dome__capture_heap.blocks[dome__capture_heap.count - 1]);
}

static void test_ends(void)
{
    forget();
    make_state(1, 1);
    struct padded *p = dome_capture_malloc(&padded_type, sizeof *p);
    p->spots_end = p->spots + G_N_ELEMENTS(p->spots);
    p->kind_end = &p->spots[2].kind + 1;
    p->either_end = &p->either + 1;
    p->unknown_end = p->spots + G_N_ELEMENTS(p->spots);
    GPtrArray *blocks = take();
    forget();
    g_assert_cmpstr(restore(blocks), ==, NULL);
    p = newest();
    g_assert_true(p->spots_end == p->spots + G_N_ELEMENTS(p->spots));
    g_assert_true(p->kind_end == &p->spots[2].kind + 1);
    g_assert_true(p->either_end == &p->either + 1);
    g_assert_true(p->unknown_end == p->spots + G_N_ELEMENTS(p->spots));
    g_ptr_array_unref(blocks);
    forget();
}

/* Pointers to bytes of numbers go on, on this machine; to bytes of pointers, as those with a tag are, anywhere. */
static void test_inside(void)
{
    forget();
    make_state(1, 1);
    struct padded *p = dome_capture_malloc(&padded_type, sizeof *p);
    p->kind_end = (char *)&p->spots[1].y + 3;
    p->unknown_end = (char *)&p->third + 5;
    p->either_end = (void *)((char *)&p->either + 1);
    p->spots_end = (void *)((char *)&p->kind_end + 1);
    GPtrArray *blocks = take();
    forget();
    g_assert_cmpstr(restore(blocks), ==, NULL);
    g_assert_true(dome__capture_heap_index());
    p = dome__capture_heap.blocks[dome__capture_heap.count - 1].memory;
    g_assert_true(p->kind_end == (char *)&p->spots[1].y + 3);
    g_assert_true(p->unknown_end == (char *)&p->third + 5);
    g_assert_true((char *)p->either_end == (char *)&p->either + 1);
    g_assert_true((char *)p->spots_end == (char *)&p->kind_end + 1);
    g_ptr_array_unref(blocks);
    forget();
}

static void assert_equal(const GPtrArray *a, const GPtrArray *b)
{
    g_assert_cmpuint(a->len, ==, b->len);
    for (guint k = 0; k < a->len; k++) {
        const GByteArray *x = a->pdata[k], *y = b->pdata[k];
        g_assert_cmpmem(x->data, x->len, y->data, y->len);
    }
}

/* ---- unions ---- */

/* The image has the number of the member in use. If the numbers around a union say another one, it is refused. */
static void test_unions(void)
{
    make_state(3, 1);
    struct outer *o = head;
    o->tag = 0;
    o->either.number = 0x12345678;
    GPtrArray *short_blocks = take(), *blocks = with_zeros(short_blocks, false);
    bool changed = false;
    for (guint k = 2; k < blocks->len; k++) {
        GByteArray *block = blocks->pdata[k];
        static const uint8_t union_bytes[] = {0, 0, 0, 0, 0x12, 0x34, 0x56, 0x78};
        uint8_t *at = memmem(block->data, block->len, union_bytes, sizeof union_bytes);
        if (at)
            at[3] = 1, changed = true;
    }
    g_assert_true(changed);
    forget();
    char *problem = restore(blocks);
    g_assert_nonnull(problem);
    g_assert_nonnull(strstr(problem, "either"));
    g_assert_nonnull(strstr(problem, "a union holds another member"));
    g_free(problem);
    g_ptr_array_unref(short_blocks);
    g_ptr_array_unref(blocks);
    forget();
}

/* ---- functions that pack ---- */

struct particle {
    double at[3];
    short cells[5];
    struct outer *owner;
    long number;
    struct spot spots[2];
};
static dome_capture_type at_type = DOME_CAPTURE_ARRAY("double [3]", &dome_capture_double, double, 3);
static dome_capture_type cells_type = DOME_CAPTURE_ARRAY("short [5]", &dome_capture_short, short, 5);
static dome_capture_type two_spots_type = DOME_CAPTURE_ARRAY("struct spot [2]", &spot_type, struct spot, 2);
static const dome_capture_member particle_members[] = {{"at", &at_type, offsetof(struct particle, at)},
                                                       {"cells", &cells_type, offsetof(struct particle, cells)},
                                                       {"owner", &outer_pointer, offsetof(struct particle, owner)},
                                                       {"number", &dome_capture_long, offsetof(struct particle, number)},
                                                       {"spots", &two_spots_type, offsetof(struct particle, spots)}};
static dome_capture_type particle_type = DOME_CAPTURE_STRUCT("struct particle", struct particle, particle_members);

enum { PARTICLE_BYTES = 24 + 10 + 16 + 8 + 2 * 9 };

static void put(uint8_t *to, uint64_t value, int bytes)
{
    for (int b = bytes; b-- > 0; value >>= 8)
        to[b] = (uint8_t)value;
}

static uint64_t get(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    for (int b = 0; b < bytes; b++)
        value = value << 8 | from[b];
    return value;
}

static void pack_particles(void *to, const void *from, size_t count)
{
    const struct particle *p = from;
    for (uint8_t *t = to; count > 0; count--, p++, t += PARTICLE_BYTES) {
        for (int k = 0; k < 3; k++) {
            uint64_t bits;
            memcpy(&bits, &p->at[k], sizeof bits);
            put(t + 8 * k, bits, 8);
        }
        for (int k = 0; k < 5; k++)
            put(t + 24 + 2 * k, (uint64_t)(int64_t)p->cells[k], 2);
        put(t + 50, (uint64_t)(int64_t)p->number, 8);
        for (int k = 0; k < 2; k++) {
            put(t + 58 + 9 * k, (uint64_t)p->spots[k].x, 4);
            put(t + 62 + 9 * k, (uint64_t)p->spots[k].y, 4);
            put(t + 66 + 9 * k, (uint64_t)p->spots[k].kind, 1);
        }
    }
}

static bool unpack_particles(void *to, const void *from, size_t count)
{
    struct particle *p = to;
    for (const uint8_t *t = from; count > 0; count--, p++, t += PARTICLE_BYTES) {
        for (int k = 0; k < 3; k++) {
            uint64_t bits = get(t + 8 * k, 8);
            memcpy(&p->at[k], &bits, sizeof bits);
        }
        for (int k = 0; k < 5; k++)
            p->cells[k] = (short)get(t + 24 + 2 * k, 2);
        p->number = (long)get(t + 50, 8);
        if ((uint64_t)(int64_t)p->number != get(t + 50, 8))
            return false;
        for (int k = 0; k < 2; k++) {
            p->spots[k].x = (int)get(t + 58 + 9 * k, 4);
            p->spots[k].y = (int)get(t + 62 + 9 * k, 4);
            p->spots[k].kind = (char)get(t + 66 + 9 * k, 1);
        }
    }
    return true;
}

/* A type's own functions and its description give the same images, and take them. */
static void test_functions(void)
{
    enum { COUNT = 30 };
    uint64_t one;
    particle_type.pack = pack_particles;
    particle_type.unpack = unpack_particles;
    dome_capture_layout *l = (dome_capture_layout *)(uintptr_t)dome__capture_layout(&particle_type, &one);
    g_assert_cmpuint(l->portable, ==, PARTICLE_BYTES);
    g_assert_true(l->pack == pack_particles);
    make_state(4, 1);
    struct particle *p = dome_capture_malloc(&particle_type, COUNT * sizeof *p);
    for (int k = 0; k < COUNT; k++)
        p[k] = (struct particle){
            {k / 4.0, -k, 1e300}, {0, (short)-k, 2}, k % 2 ? head : head->next, -k, {{k, 1, 'a'}, {-1, k, 'b'}}};
    GPtrArray *own = take();
    l->pack = NULL;
    GPtrArray *table_packed = take();
    assert_equal(own, table_packed);
    for (int pass = 0; pass < 2; pass++) {
        l->pack = pack_particles;
        l->unpack = pass ? NULL : unpack_particles;
        forget();
        g_assert_null(restore(own));
        p = newest();
        g_assert_cmpint(p[7].number, ==, -7);
        g_assert_true(p[7].owner == head && p[8].owner == head->next);
        GPtrArray *again = take();
        assert_equal(own, again);
        g_ptr_array_unref(again);
    }
    l->unpack = unpack_particles;
    g_ptr_array_unref(own);
    g_ptr_array_unref(table_packed);
    forget();
}

/* ---- descriptions that no program writes ---- */

static void append_numbers(GByteArray *to, size_t count, const uint64_t *numbers)
{
    for (size_t k = 0; k < count; k++)
        dome__append_leb128(to, numbers[k]);
}

#define NUMBERS(to, ...) append_numbers(to, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (const uint64_t[]){__VA_ARGS__})

/* Each of many types has the one before it twice: its parts cannot be compared one by one. */
static void test_types_of_types(void)
{
    enum { TYPES = 60 };
    GByteArray *bytes = g_byte_array_new();
    dome_capture_described described[2];
    NUMBERS(bytes, 1, 0, 1, 'n');
    NUMBERS(bytes, TYPES, 0, DOME_CAPTURE_KIND_SCALAR, DOME_KIND_U8);
    for (uint64_t k = 1; k < TYPES; k++)
        NUMBERS(bytes, 0, DOME_CAPTURE_KIND_STRUCT, 2, 0, k - 1, 0, k - 1);
    for (int k = 0; k < 2; k++) {
        dome_bytes from = dome__bytes_of(bytes->data, bytes->len);
        dome__capture_described_read(&described[k], &from);
        g_assert_true(dome__read_all(&from));
        g_assert_cmpuint(described[k].types->len, ==, TYPES);
    }
    const dome_capture_shown_type *last = described[0].types->pdata[TYPES - 1];
    g_assert_cmpuint(last->bytes, ==, 1ull << (TYPES - 1));
    g_assert_true(dome__capture_shown_types_equal(last, described[1].types->pdata[TYPES - 1]));
    g_assert_false(dome__capture_shown_types_equal(last, described[1].types->pdata[TYPES - 2]));
    for (int k = 0; k < 2; k++)
        dome__capture_described_clear(&described[k]);
    g_byte_array_unref(bytes);
}

/* An active function whose variables are an array has no members that could be printed. */
static void test_frame_of_an_array(void)
{
    for (uint64_t saved = 1; saved <= 2; saved++) {
        GPtrArray *blocks = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
        GByteArray *first = g_byte_array_new(), *frames = g_byte_array_new();
        inspected found;
        g_ptr_array_add(blocks, first);
        g_ptr_array_add(blocks, frames);
        dome__append_u32(first, IMAGE_VERSION);
        NUMBERS(first, 0, 0, 0, 0, 0, 1, 0);                                                            /* one record */
        NUMBERS(first, 1, 0, 1, 'n');                                                                   /* names */
        NUMBERS(first, 2, 0, DOME_CAPTURE_KIND_SCALAR, DOME_KIND_U8, 0, DOME_CAPTURE_KIND_ARRAY, 3, 0); /* types */
        NUMBERS(first, 0, 0, 0, 1, 0);                                                                  /* a function */
        dome__append_u64(first, 0);
        NUMBERS(first, saved, 0, 0, 0, 3, 0); /* its variables; no places, no sources, no streams */
        NUMBERS(frames, SEGMENT_FRAMES, 0, 0, 1, 2, 3);
        g_byte_array_set_size(frames, saved == 1 ? 4 : 6);
        char *problem = inspect(blocks, &found);
        if (saved == 1)
            g_assert_cmpstr(problem, ==, NULL);
        else
            g_assert_true(problem && strstr(problem, "its head"));
        g_free(problem);
        g_ptr_array_unref(blocks);
    }
}

/* ---- streams ---- */

static char *contents(const char *path)
{
    char *text = NULL;
    g_file_get_contents(path, &text, NULL, NULL);
    return text;
}

/* NULL, or why streams cannot be saved. */
static char *save_streams(GByteArray **saved)
{
    *saved = g_byte_array_new();
    return dome__capture_streams_save(*saved, true);
}

static char *open_streams(const GByteArray *saved)
{
    dome_bytes from = dome__bytes_of(saved->data, saved->len);
    dome_capture_saved_streams *streams = dome__capture_streams_read(&from);
    g_assert_true(dome__read_all(&from));
    char *problem = dome__capture_streams_open(streams);
    dome__capture_streams_free(streams);
    return problem;
}

/* A pointer to a stream has its number in the image, in 60 bits. */
static void test_stream_numbers(void)
{
    static const struct {
        uint64_t next, number;
        bool bad;
    } cases[] = {{4, 3, false},
                 {(UINT64_C(1) << 60) - 1, (UINT64_C(1) << 60) - 2, false},
                 {UINT64_C(1) << 60, 3, true},
                 {(UINT64_C(1) << 60) + 1, UINT64_C(1) << 60, true},
                 {UINT64_MAX, UINT64_MAX - 1, true}};
    for (unsigned k = 0; k < G_N_ELEMENTS(cases); k++) {
        GByteArray *bytes = g_byte_array_new();
        NUMBERS(bytes, cases[k].next, 1, cases[k].number, 1, 'p', 1, 'r', 1, 0, 0);
        dome_bytes from = dome__bytes_of(bytes->data, bytes->len);
        dome__capture_streams_free(dome__capture_streams_read(&from));
        g_assert_cmpint(dome__read_all(&from), ==, !cases[k].bad);
        g_byte_array_unref(bytes);
    }
}

/* Two streams append to one long file; a restart loses no byte that either had written. */
static void two_streams(const char *directory)
{
    enum { LENGTH = 70000 };
    char *path = g_build_filename(directory, "two", NULL), *zeros = g_malloc0(LENGTH);
    g_assert_true(g_file_set_contents(path, zeros, LENGTH, NULL));
    FILE *one = dome_capture_fopen(path, "a"), *other = dome_capture_fopen(path, "a");
    GByteArray *saved;
    fputs("one", one);
    fputs("other", other);
    g_assert_cmpstr(save_streams(&saved), ==, NULL);
    dome_capture_fclose(one);
    dome_capture_fclose(other);
    g_assert_cmpstr(open_streams(saved), ==, NULL);
    struct stat st;
    g_assert_cmpint(stat(path, &st), ==, 0);
    g_assert_cmpint(st.st_size, ==, LENGTH + 8);
    for (uint64_t number = 3; number < 5; number++)
        dome_capture_fclose(dome__capture_stream(number));
    g_byte_array_unref(saved);
    g_free(zeros);
    g_free(path);
}

/* A file that a restart would not find, or find another one for, is refused at once. */
static void moved_streams(const char *directory)
{
    char *path = g_build_filename(directory, "moved", NULL), *to = g_build_filename(directory, "away", NULL);
    FILE *file = dome_capture_fopen(path, "w");
    GByteArray *saved;
    char *problem = save_streams(&saved);
    g_assert_cmpstr(problem, ==, NULL);
    g_byte_array_unref(saved);
    g_assert_cmpint(rename(path, to), ==, 0);
    for (int round = 0; round < 2; round++) { /* nothing is there; another file is */
        problem = save_streams(&saved);
        g_assert_nonnull(problem);
        g_assert_nonnull(strstr(problem, "renamed or removed"));
        g_free(problem);
        g_byte_array_unref(saved);
        g_assert_true(g_file_set_contents(path, "another", -1, NULL));
    }
    dome_capture_fclose(file);
    g_free(path);
    g_free(to);
}

/* If one file is missing no other has changed; one that is written may be sought beyond its end. */
static void missing_stream(const char *directory)
{
    char *path = g_build_filename(directory, "written", NULL), *gone = g_build_filename(directory, "gone", NULL), *problem, *text;
    g_assert_true(g_file_set_contents(gone, "to be read", -1, NULL));
    FILE *written = dome_capture_fopen(path, "wx"), *read = dome_capture_fopen(gone, "r");
    GByteArray *saved;
    fputs("before", written);
    fseek(written, 100, SEEK_SET);
    g_assert_cmpint(getc(read), ==, 't');
    const int last = dome__capture_stream_number(read);
    g_assert_cmpstr(save_streams(&saved), ==, NULL);
    fseek(written, 0, SEEK_END);
    fputs(" and after", written);
    dome_capture_fclose(written);
    dome_capture_fclose(read);
    g_assert_cmpint(remove(gone), ==, 0);
    problem = open_streams(saved);
    g_assert_nonnull(strstr(problem, "gone"));
    g_free(problem);
    text = contents(path);
    g_assert_cmpstr(text, ==, "before and after");
    g_free(text);
    g_assert_true(g_file_set_contents(gone, "to be read", -1, NULL));
    g_assert_cmpstr(open_streams(saved), ==, NULL);
    text = contents(path);
    g_assert_cmpstr(text, ==, "before");
    g_free(text);
    g_assert_cmpint(getc(dome__capture_stream((uint64_t)last)), ==, 'o');
    g_assert_cmpint((int)ftell(dome__capture_stream((uint64_t)last - 1)), ==, 100);
    dome_capture_fclose(dome__capture_stream((uint64_t)last));
    dome_capture_fclose(dome__capture_stream((uint64_t)last - 1));
    g_byte_array_unref(saved);
    g_free(path);
    g_free(gone);
}

/* A file that one stream reads and another writes is as it was before the reader looks at it. */
static void read_and_written(const char *directory)
{
    for (int removed = 0; removed < 2; removed++) {
        char *path = g_build_filename(directory, "both", NULL);
        g_assert_true(g_file_set_contents(path, "twelve bytes", -1, NULL));
        FILE *read = dome_capture_fopen(path, "r"), *written = dome_capture_fopen(path, "r+");
        const uint64_t number = (uint64_t)dome__capture_stream_number(read);
        GByteArray *saved;
        g_assert_cmpint(fseek(read, 7, SEEK_SET), ==, 0);
        g_assert_cmpstr(save_streams(&saved), ==, NULL);
        dome_capture_fclose(read);
        dome_capture_fclose(written);
        if (removed)
            g_assert_cmpint(remove(path), ==, 0);
        else
            g_assert_true(g_file_set_contents(path, "", 0, NULL));
        g_assert_cmpstr(open_streams(saved), ==, NULL);
        g_assert_cmpint(getc(dome__capture_stream(number)), ==, 'b');
        dome_capture_fclose(dome__capture_stream(number));
        dome_capture_fclose(dome__capture_stream(number + 1));
        g_byte_array_unref(saved);
        g_free(path);
    }
}

/* A file that is only read may be sought behind its end, too. */
static void read_behind_the_end(const char *directory)
{
    char *path = g_build_filename(directory, "short", NULL);
    g_assert_true(g_file_set_contents(path, "five.", -1, NULL));
    FILE *read = dome_capture_fopen(path, "r");
    const uint64_t number = (uint64_t)dome__capture_stream_number(read);
    GByteArray *saved;
    g_assert_cmpint(fseek(read, 100, SEEK_SET), ==, 0);
    g_assert_cmpstr(save_streams(&saved), ==, NULL);
    dome_capture_fclose(read);
    g_assert_cmpstr(open_streams(saved), ==, NULL);
    g_assert_cmpint((int)ftell(dome__capture_stream(number)), ==, 100);
    g_assert_cmpint(getc(dome__capture_stream(number)), ==, EOF);
    dome_capture_fclose(dome__capture_stream(number));
    g_byte_array_unref(saved);
    g_free(path);
}

static void test_streams(void)
{
    char *directory = g_dir_make_tmp("dome-capture-XXXXXX", NULL);
    g_assert_nonnull(directory);
    dome__capture_streams_begin();
    two_streams(directory);
    moved_streams(directory);
    missing_stream(directory);
    read_and_written(directory);
    read_behind_the_end(directory);
    static const char *const names[] = {"two", "moved", "away", "written", "gone", "both", "short"};
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        char *path = g_build_filename(directory, names[k], NULL);
        remove(path);
        g_free(path);
    }
    g_assert_cmpint(remove(directory), ==, 0);
    g_free(directory);
}

/* A descriptor of the program is found although its number was that of one before. */
static void test_descriptors(void)
{
    int before = open("/dev/null", O_RDONLY), ends[2];
    dome__capture_foreign_begin();
    g_assert_cmpstr(dome__capture_foreign_find(NULL), ==, NULL);
    close(before);
    g_assert_cmpint(pipe(ends), ==, 0);
    g_assert_cmpint(ends[0], ==, before);
    close(ends[1]);
    char *found = dome__capture_foreign_find(NULL);
    g_assert_nonnull(found);
    g_assert_nonnull(strstr(found, "pipe:"));
    g_free(found);
    close(ends[0]);
}

/* ---- the heap ---- */

static void heap_model(void)
{
    enum { BLOCKS = 400, ROUNDS = 20000, LARGE = 20000 };
    static char *memory[BLOCKS];
    static size_t bytes[BLOCKS];
    for (int round = 0; round < ROUNDS; round++) {
        int k = (int)(draw(BLOCKS));
        size_t size = draw(4) ? draw(100) : draw(LARGE);
        if (!memory[k]) {
            memory[k] = dome_capture_malloc(&dome_capture_char, size);
            bytes[k] = size;
            g_assert_true(size == 0 || (memory[k][0] == 0 && memory[k][size - 1] == 0));
        } else if (draw(3) == 0) {
            memory[k] = dome_capture_realloc(&dome_capture_char, memory[k], size);
            bytes[k] = size;
        } else {
            dome_capture_free(memory[k]);
            memory[k] = NULL;
        }
        k = (int)(draw(BLOCKS));
        if (!memory[k])
            continue;
        memset(memory[k], k, bytes[k]);
        const char *places[] = {memory[k], memory[k] + bytes[k], memory[k] + bytes[k] / 2, memory[k] + bytes[k] - (bytes[k] > 0)};
        for (size_t p = 0; p < G_N_ELEMENTS(places); p++) {
            dome_capture_block b;
            g_assert_true(dome__capture_block_find(places[p], &b));
            g_assert_true(dome__capture_block_memory(&b) == memory[k] && b.bytes == bytes[k]);
        }
        dome_capture_block before; /* there may be one that ends there */
        if (dome__capture_block_find(memory[k] - 1, &before))
            g_assert_true((char *)dome__capture_block_memory(&before) + before.bytes == memory[k] - 1);
    }
    char *foreign = malloc(100);
    dome_capture_block none;
    g_assert_false(dome__capture_block_find(foreign, &none));
    foreign = dome_capture_realloc(&dome_capture_char, foreign, 200);
    dome_capture_free(foreign);
    for (int k = 0; k < BLOCKS; k++)
        dome_capture_free(memory[k]);
    g_assert_cmpuint(dome_capture_blocks(), ==, 0);
    g_assert_true(dome__capture_heap_index());
}

/* ---- images ---- */

static void test_image(void)
{
    enum { CIRCLE = 2500, LARGE = 400000 };
    forget();
    make_state(CIRCLE, LARGE);
    GPtrArray *before = take();
    /* head, frames; of the globals head and literal share a block, the table and `text` have one each; 3 groups; 3 parts, the
     * last of which is a little larger */
    g_assert_cmpuint(before->len, ==, 2 + 3 + 3 + 3);
    inspected found;
    g_assert_null(inspect(before, &found));
    g_assert_cmpuint(found.frames, ==, 3);
    g_assert_cmpuint(found.globals, ==, 3);
    g_assert_cmpuint(found.blocks, ==, CIRCLE + 1);
    /* next and end of each; either.link of a third, the first has none; globals head and text; three frames */
    g_assert_cmpuint(found.pointers, ==, 2 * CIRCLE + CIRCLE / 3 + 2 + 3);
    g_assert_cmpuint(found.dangling, ==, 0);
    forget();
    g_assert_null(restore(before));
    g_assert_cmpuint(dome_capture_blocks(), ==, CIRCLE + 1);
    g_assert_true(text == literal + 2);
    g_assert_cmpfloat(table[299][199], ==, 300 * 200 - 1);
    struct outer *at = head;
    for (int k = CIRCLE - 1; k > 0; k--, at = at->next) {
        g_assert_cmpint(at->l, ==, -k);
        g_assert_true(at->end == at->inner[k % 2].text + k % 4);
        g_assert_true(at->tag != 0 || at->either.number == 7 * k);
        g_assert_true(at->tag != 1 || at->either.link == at->next);
    }
    g_assert_true(at->next == head);
    dome__capture_status_set(DOME_CAPTURE_RESUMING);
    for (int k = 2; k >= 0; k--) {
        int point;
        struct inner *m = dome_capture_enter(&function);
        const struct frame *f = dome_capture_pop(&function, &point);
        g_assert_cmpint(point, ==, k);
        g_assert_cmpint(f->n, ==, 10 * k);
        g_assert_true(f->at == at);
        g_assert_cmpfloat(m->number, ==, 2 - k);
        g_assert_true(k != 1 || at->end == m->text + 1);
    }
    dome__capture_status_clear(DOME_CAPTURE_RESUMING);
    forget();
    make_state(CIRCLE, LARGE);
    GPtrArray *again = take();
    assert_equal(before, again);
    g_ptr_array_unref(again);
    g_ptr_array_unref(before);
    forget();
}

/* Into how many blocks of the image large arrays are cut, whose lengths are around those at which there is one more. */
static void test_parts(void)
{
    enum { MOST = PART_BYTES / sizeof(uint64_t) };
    static const struct {
        size_t elements;
        guint parts;
    } all[] = {{MOST, 1},     {MOST + 1, 1},     {MOST + MOST / 2, 1},     {MOST + MOST / 2 + 1, 2},
               {2 * MOST, 2}, {2 * MOST + 1, 2}, {2 * MOST + MOST / 2, 2}, {2 * MOST + MOST / 2 + 1, 3}};
    for (size_t k = 0; k < G_N_ELEMENTS(all); k++) {
        forget();
        make_state(1, 1);
        unsigned long long *values = dome_capture_malloc(&dome_capture_ullong, all[k].elements * sizeof *values);
        for (size_t n = 0; n < all[k].elements; n++)
            values[n] = ~(unsigned long long)n;
        GPtrArray *blocks = take();
        g_assert_cmpuint(blocks->len, ==, 2 + 3 + 1 + all[k].parts);
        inspected found;
        g_assert_null(inspect(blocks, &found));
        forget();
        g_assert_null(restore(blocks));
        values = newest();
        for (size_t n = 0; n < all[k].elements; n++)
            g_assert_cmpuint(values[n], ==, ~(unsigned long long)n);
        forget();
        g_byte_array_unref(g_ptr_array_steal_index(blocks, blocks->len - 1)); /* the last part is missing */
        char *problem = restore(blocks);
        g_assert_nonnull(problem);
        g_free(problem);
        forget();
        g_ptr_array_unref(blocks);
    }
}

/* What is said of an element of an array that is another one on another task. */
static void test_difference(void)
{
    enum { MOST = PART_BYTES / sizeof(uint64_t), ELEMENT = MOST + 5 };
    forget();
    make_state(1, 1);
    long *values = dome_capture_malloc(&dome_capture_long, 2 * MOST * sizeof *values);
    values[ELEMENT] = 7;
    dome_capture_image *image = dome__capture_image_new(0);
    g_assert_null(dome__capture_image_take(image));
    const uint64_t last = dome__capture_image_blocks(image) - 1, bytes = dome__capture_image_block_bytes(image, last);
    uint8_t *other = g_malloc(bytes);
    dome__capture_image_write_block(image, last, other);
    values[ELEMENT] = 8;
    char *text = dome__capture_image_say_difference(image, last, 0, other, bytes, 1),
         *wanted = g_strdup_printf("block 3 of the heap, of type 'long'[%d] is 8 on task 0 and 7 on task 1", ELEMENT);
    g_assert_cmpstr(text, ==, wanted);
    g_free(wanted);
    g_free(text);
    g_free(other);
    dome__capture_image_free(image);
    forget();
}

static void add_described(GByteArray *to, const dome_capture_type *type, const char *name, const char *longer)
{
    dome_capture_descriptions *d = dome__capture_descriptions_new();
    g_assert_cmpuint(dome__capture_describe_name(d, "a/path/of.c:one"), ==, 0);
    g_assert_cmpuint(dome__capture_describe_name(d, "a/path/of.c:another"), ==, 1);
    g_assert_cmpuint(dome__capture_describe_name(d, name), ==, 2);
    g_assert_cmpuint(dome__capture_describe_name(d, longer), ==, 3);
    g_assert_cmpuint(dome__capture_describe_name(d, "a/path/of.c:one"), ==, 0);
    const uint64_t number = dome__capture_describe_type(d, type);
    g_assert_cmpuint(dome__capture_describe_type(d, type), ==, number);
    dome__capture_descriptions_append(d, to);
    dome__capture_descriptions_free(d);
}

static void test_descriptions(void)
{
    char *name = g_strnfill(300, 'x'), *longer = g_strconcat(name, "y", NULL);
    GByteArray *bytes = g_byte_array_new();
    dome_capture_described d;
    add_described(bytes, &outer_type, name, longer); /* which have more in common than is left out */
    dome_bytes from = dome__bytes_of(bytes->data, bytes->len);
    dome__capture_described_read(&d, &from);
    g_assert_true(dome__read_all(&from));
    g_assert_cmpstr(d.names->pdata[0], ==, "a/path/of.c:one");
    g_assert_cmpstr(d.names->pdata[1], ==, "a/path/of.c:another");
    g_assert_cmpstr(d.names->pdata[2], ==, name);
    g_assert_cmpstr(d.names->pdata[3], ==, longer);
    const dome_capture_shown_type *t = d.types->pdata[d.types->len - 1]; /* made of all the others */
    uint64_t one;
    g_assert_cmpstr(t->name, ==, "struct outer");
    g_assert_cmpuint(t->shape, ==, dome__capture_shape(&outer_type));
    g_assert_cmpuint(t->bytes, ==, dome__capture_layout(&outer_type, &one)->portable);
    dome__capture_described_clear(&d);
    for (guint cut = 0; cut < bytes->len; cut++) {
        from = dome__bytes_of(bytes->data, cut);
        dome__capture_described_read(&d, &from);
        g_assert_true(from.bad);
        dome__capture_described_clear(&d);
    }
    g_byte_array_unref(bytes);
    g_free(longer);
    g_free(name);
}

/* Short descriptions of what would be endless. */
static void test_bad_descriptions(void)
{
    static const struct {
        size_t length;
        uint8_t bytes[16];
    } bad[] = {{6, {2, 0, 1, 'a', 2, 0}},                 /* the second name shares two bytes with the first, which has one */
               {8, {1, 0, 1, 'a', 1, 0, 2, 0}},           /* an array whose elements are itself */
               {9, {1, 0, 1, 'a', 1, 0, 3, 1, 0}},        /* a struct without the type of its member */
               {7, {1, 0, 1, 'a', 1, 0, 9}},              /* no kind */
               {9, {1, 0, 1, 'a', 1, 0, 0, 0x80, 0x80}}}; /* no form */
    dome_capture_described d;
    for (size_t k = 0; k < G_N_ELEMENTS(bad); k++) {
        dome_bytes from = dome__bytes_of(bad[k].bytes, bad[k].length);
        dome__capture_described_read(&d, &from);
        g_assert_true(from.bad);
        dome__capture_described_clear(&d);
    }
    /* A type of 2^40 numbers, by structs of two of the one before: read at once. Of 2^70, refused. */
    for (int depth = 40; depth <= 70; depth += 30) {
        GByteArray *bytes = g_byte_array_new();
        static const uint8_t begin[] = {1, 0, 1, 'a'}, number[] = {0, DOME_CAPTURE_KIND_SCALAR, DOME_KIND_U8};
        dome__append_bytes(bytes, begin, sizeof begin);
        dome__append_leb128(bytes, (uint64_t)depth + 1);
        dome__append_bytes(bytes, number, sizeof number);
        for (int k = 0; k < depth; k++) {
            const uint8_t two[] = {0, DOME_CAPTURE_KIND_STRUCT, 2, 0, (uint8_t)k, 0, (uint8_t)k};
            dome__append_bytes(bytes, two, sizeof two);
        }
        dome_bytes from = dome__bytes_of(bytes->data, bytes->len);
        dome__capture_described_read(&d, &from);
        g_assert_cmpint(from.bad, ==, depth > 64);
        g_assert_true(from.bad || ((const dome_capture_shown_type *)d.types->pdata[depth])->bytes == (UINT64_C(1) << depth));
        dome__capture_described_clear(&d);
        g_byte_array_unref(bytes);
    }
}

/* Each byte of a small image is changed in turn, and each block is cut at each place: the image is refused, or it is another one.
 */
static void damage(GPtrArray *blocks, unsigned least_refused, unsigned least_taken)
{
    unsigned refused = 0, taken = 0;
    for (guint k = 0; k < blocks->len; k++) {
        GByteArray *block = blocks->pdata[k];
        guint step = block->len > 5000 ? 997 : 1;
        for (guint at = 0; at < block->len; at += step) {
            uint8_t was = block->data[at];
            inspected found;
            block->data[at] ^= (uint8_t)(1u << draw(8));
            g_free(inspect(blocks, &found));
            char *problem = restore(blocks);
            *(problem ? &refused : &taken) += 1;
            g_free(problem);
            forget();
            block->data[at] = was;
            guint length = block->len;
            block->len = at;
            problem = restore(blocks);
            g_assert_nonnull(problem);
            g_free(problem);
            forget();
            problem = inspect(blocks, &found);
            g_assert_nonnull(problem);
            g_free(problem);
            block->len = length;
        }
    }
    g_assert_cmpuint(refused, >, least_refused);
    g_assert_cmpuint(taken, >, least_taken);
    g_assert_null(restore(blocks));
}

static void test_damage(void)
{
    forget();
    make_state(5, 4);
    memset(table, 0, sizeof table);
    GPtrArray *blocks = take(), *whole = with_zeros(blocks, false);
    damage(blocks, 300, 50);
    damage(whole, 500, 100);
    g_ptr_array_unref(blocks);
    g_ptr_array_unref(whole);
    forget();
}

/* ---- short blocks without their zeros ---- */

static uint8_t *put_back(const GByteArray *bytes, uint64_t *length)
{
    return dome__capture_zeros_put_back(bytes->data + 1, bytes->len - 1, length);
}

static void test_zeros(void)
{
    enum { KIND = 7, TIMES = 2000 };
    static const uint8_t pointer[] = {0x10, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0},
                         expected[] = {KIND, 16, 1, 0x10, 0x61, 5, 0x80};
    uint8_t block[DOME_CAPTURE_ZEROS_MOST];
    uint64_t length;
    GByteArray *bytes = g_byte_array_new();
    dome__capture_zeros_leave_out(bytes, KIND, pointer, sizeof pointer);
    g_assert_cmpmem(bytes->data, bytes->len, expected, sizeof expected);
    unsigned refused = 0;
    for (int k = 0; k < TIMES; k++) {
        const uint64_t count = k == 0 ? sizeof block : 1 + draw(sizeof block), run = 1 + draw(40);
        for (uint64_t n = 0, zero = 0; n < count; n++) {
            zero = n % run == 0 ? draw(2) : zero;
            block[n] = zero ? 0 : (uint8_t)draw(256);
        }
        g_byte_array_set_size(bytes, 0);
        dome__capture_zeros_leave_out(bytes, KIND, block, count);
        uint8_t *back = put_back(bytes, &length);
        g_assert_cmpmem(back, length, block, count);
        g_free(back);
        bytes->data[1 + draw(bytes->len - 1)] = (uint8_t)draw(256); /* another block, or none */
        back = put_back(bytes, &length);
        refused += !back;
        g_free(back);
        g_byte_array_set_size(bytes, 1 + draw(bytes->len - 1));
        g_assert_null(put_back(bytes, &length));
    }
    g_assert_cmpuint(refused, >, TIMES / 40);
    /* Too long; a piece of nothing; one of more than the block; bytes behind the last one. */
    static const uint8_t bad[][7] = {{KIND, 0x81, 0x20, 0xf0, 0xf2, 0x1f, 0},
                                     {KIND, 2, 0, 0x20, 0, 0, 0},
                                     {KIND, 2, 0x30, 0, 0, 0, 0},
                                     {KIND, 2, 0x20, 0, 0, 0, 0}};
    for (unsigned k = 0; k < G_N_ELEMENTS(bad); k++)
        g_assert_null(dome__capture_zeros_put_back(bad[k] + 1, sizeof *bad - 1, &length));
    g_byte_array_unref(bytes);
}

/* Images with the zeros in their places are taken, and those that earlier builds wrote: they are of the same program. */
static void test_versions(void)
{
    make_state(10, 40000);
    GPtrArray *blocks = take();
    inspected now;
    g_assert_cmpstr(inspect(blocks, &now), ==, NULL);
    for (int bare = 0; bare < 2; bare++) {
        GPtrArray *other = with_zeros(blocks, bare);
        inspected found;
        forget();
        g_assert_cmpstr(inspect(other, &found), ==, NULL);
        g_assert_cmpmem(&found, sizeof found, &now, sizeof now);
        g_assert_cmpstr(restore(other), ==, NULL);
        GPtrArray *again = take();
        assert_equal(blocks, again);
        g_ptr_array_unref(again);
        g_ptr_array_unref(other);
    }
    /* A kind that stands elsewhere. */
    for (guint k = SEGMENT_FRAMES; k < blocks->len; k++) {
        GPtrArray *other = with_zeros(blocks, false);
        GByteArray *block = other->pdata[k];
        inspected found;
        block->data[0] = SEGMENT_HEAD;
        char *shown = inspect(other, &found), *problem = restore(other);
        const bool part = block->len > PART_BYTES / 4; /* a number of the table, or of the large block */
        if (!part)
            g_assert_true(shown && problem);
        g_free(shown);
        g_free(problem);
        g_ptr_array_unref(other);
        forget();
    }
    g_ptr_array_unref(blocks);
    forget();
}

/* Constants, of which programs may have others than the image, neither begin nor end a block: here before and behind a large
 * global. */
static void test_constants(void)
{
    make_state(3, 1);
    GArray *segments = g_array_new(FALSE, TRUE, sizeof(segment));
    head = NULL;
    text = NULL;
    globals[0].flags = globals[3].flags = DOME_CAPTURE_GLOBAL_CONSTANT;
    dome__capture_image_cut_globals(segments, false);
    for (guint k = 0; k < segments->len; k++)
        g_assert_cmpint(g_array_index(segments, segment, k).kind, ==, SEGMENT_GLOBAL_PART);
    GPtrArray *blocks = take();
    inspected found;
    g_assert_cmpstr(inspect(blocks, &found), ==, NULL);
    g_assert_cmpuint(found.globals, ==, 1);
    table[7][7] = 0;
    g_assert_cmpstr(restore(blocks), ==, NULL);
    g_assert_cmpfloat(table[7][7], ==, 7 * 200 + 7);
    globals[0].flags = globals[3].flags = 0;
    g_array_unref(segments);
    g_ptr_array_unref(blocks);
    forget();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dome_capture_register(&module);
    g_test_add_func("/capture/places", test_places);
    g_test_add_func("/capture/ends", test_ends);
    g_test_add_func("/capture/inside", test_inside);
    g_test_add_func("/capture/unions", test_unions);
    g_test_add_func("/capture/functions", test_functions);
    g_test_add_func("/capture/streams", test_streams);
    g_test_add_func("/capture/stream-numbers", test_stream_numbers);
    g_test_add_func("/capture/types-of-types", test_types_of_types);
    g_test_add_func("/capture/frame-of-an-array", test_frame_of_an_array);
    g_test_add_func("/capture/descriptors", test_descriptors);
    g_test_add_func("/capture/heap", heap_model);
    g_test_add_func("/capture/image", test_image);
    g_test_add_func("/capture/parts", test_parts);
    g_test_add_func("/capture/difference", test_difference);
    g_test_add_func("/capture/descriptions", test_descriptions);
    g_test_add_func("/capture/bad-descriptions", test_bad_descriptions);
    g_test_add_func("/capture/damage", test_damage);
    g_test_add_func("/capture/zeros", test_zeros);
    g_test_add_func("/capture/versions", test_versions);
    g_test_add_func("/capture/constants", test_constants);
    return g_test_run();
}
