/* Vectors as .npy files, and in HDF5 files: round trips of every type, the bytes in the file, files of other byte orders, and bad
 * files, each with a status and one line that all tasks agree on. In half of the rounds odd ranks work in another directory and
 * do not see the files. */
#include "core/environment.h"
#include "files/npy.h"
#include "transport/collective.h"

#include <dome/dome.h>
#include <dome/structure.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vector_files.h"

static void make(const char *path, const void *data, size_t bytes)
{
    if (dome_rank(env) == 0)
        CHECK(g_file_set_contents(path, data, (gssize)bytes, NULL), "%s", path);
    dome_barrier(env);
}

static void discard(const char *path)
{
    dome_barrier(env);
    if (dome_rank(env) == 0)
        CHECK(g_remove(path) == 0, "%s", path);
}

/* A file with a version 1.0 header. */
static void make_npy(const char *path, const char *header, const void *data, size_t bytes)
{
    GString *file = g_string_new_len("\x93NUMPY\1", 8);
    size_t n = strlen(header);
    g_string_append_c(file, (char)n);
    g_string_append_c(file, (char)(n >> 8));
    g_string_append(file, header);
    g_string_append_len(file, data, (gssize)bytes);
    make(path, file->str, file->len);
    g_string_free(file, TRUE);
}

/* ---- round trips ---- */

typedef struct inner {
    int16_t code;
    double weights[2];
} inner;

typedef struct outer {
    uint8_t tag;
    inner parts[2];
    float _Complex z;
} outer;

static dome_type describe_outer(void)
{
    const dome_field inner_fields[] = {{"code", DOME_I16, offsetof(inner, code), 1},
                                       {"weights", DOME_F64, offsetof(inner, weights), 2}};
    dome_type inner_type = dome_type_struct(env, "inner", sizeof(inner), inner_fields, 2, sizeof(dome_field));
    const dome_field outer_fields[] = {{"tag", DOME_U8, offsetof(outer, tag), 1},
                                       {"parts", inner_type, offsetof(outer, parts), 2},
                                       {"z", DOME_C64, offsetof(outer, z), 1}};
    return dome_type_struct(env, "outer", sizeof(outer), outer_fields, 3, sizeof(dome_field));
}

static uint64_t file_hash(const char *path)
{
    uint64_t hash = 0;
    if (dome_rank(env) == 0) {
        char *data;
        gsize bytes;
        CHECK(g_file_get_contents(path, &data, &bytes, NULL), "%s", path);
        hash = dome__hash_bytes(0, data, bytes);
        g_free(data);
    }
    dome_bcast(env, 0, DOME_U64, &hash, 1);
    return hash;
}

/* A path for dvec_write, and the file it is in. */
typedef struct place {
    const char *path, *file;
} place;

static void round_trip(const place *at, dome_type type, size_t n, size_t width)
{
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        dvec_options options = {.size = sizeof options, .distribution = (dome_distribution)k, .width = width};
        dvec *x = dvec_new_with(env, "x", type, n, &options);
        fill_any(x);
        if (k == DOME_DYNAMIC)
            move(n);
        stand(draw(2));
        CHECK(dvec_write(x, at->path) == DOME_OK, "write");
        uint64_t found = file_hash(at->file);
        CHECK(k == 0 || found == hash, "the file of a %s vector differs by its distribution", dome_type_name(type));
        hash = found;
        stand(draw(2));
        options = (dvec_options){.size = sizeof options, .distribution = (dome_distribution)draw(3)};
        dvec *y = dvec_read_with(env, "y", at->path, &options);
        CHECK(y != NULL, "read");
        CHECK(dvec_distribution(y) == options.distribution && !strcmp(dvec_name(y), "y"), "%s", dvec_name(y));
        check_equal(x, y);
        dvec_free(x);
        dvec_free(y);
    }
    discard(at->file);
}

static void round_trips(const place *at, dome_type own)
{
    const dome_type types[] = {DOME_I8,  DOME_I16, DOME_I32, DOME_I64, DOME_U8,   DOME_U16, DOME_U32,
                               DOME_U64, DOME_F32, DOME_F64, DOME_C64, DOME_C128, own};
    for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
        round_trip(at, types[i], 1 + draw(3000), 1);
        round_trip(at, types[i], draw(6), 1 + draw(4));
    }
    round_trip(at, DOME_F64, 0, 1);
    round_trip(at, own, 0, 2);
}

static void long_trips(const place *at)
{
    round_trip(at, DOME_F64, 500000, 3); /* parts longer than a piece */
    round_trip(at, DOME_U8, 3, 7000000); /* elements about as long as a piece */
}

/* ---- contents ---- */

static void check_golden(dome_type own)
{
    static const uint8_t row[] = {1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff};
    char expected[128 + sizeof row], *data = NULL;
    gsize bytes = 0;
    stand(true);
    memset(expected, ' ', 128);
    memcpy(expected, "\x93NUMPY\1\0v\0", 10);
    static const char header[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2), }";
    memcpy(expected + 10, header, sizeof header - 1);
    expected[127] = '\n';
    memcpy(expected + 128, row, sizeof row);
    dvec *x = dvec_new_with(env, "x", DOME_I32, 1, DVEC_OPTIONS(.width = 2));
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    if (spans[0].count > 0) {
        ((int32_t *)spans[0].data)[0] = 1;
        ((int32_t *)spans[0].data)[1] = -2;
    }
    CHECK(dvec_write(x, "golden.npy") == DOME_OK, "write");
    if (dome_rank(env) == 0) {
        CHECK(g_file_get_contents("golden.npy", &data, &bytes, NULL), "golden.npy");
        CHECK(bytes == sizeof expected && !memcmp(data, expected, bytes), "%zu bytes", bytes);
        g_free(data);
    }
    dvec_free(x);

    dvec *s = dvec_new(env, "s", own, 2);
    CHECK(dvec_write(s, "golden.npy") == DOME_OK, "write");
    if (dome_rank(env) == 0) {
        static const char text[] = "{'descr': [('tag', '|u1'), ('parts', [('code', '<i2'), ('weights', '<f8', (2,))], (2,)), "
                                   "('z', '<c8')], 'fortran_order': False, 'shape': (2,), }";
        CHECK(g_file_get_contents("golden.npy", &data, &bytes, NULL), "golden.npy");
        CHECK(bytes == 192 + 2 * 45 && !memcmp(data + 10, text, sizeof text - 1), "%zu bytes", bytes);
        g_free(data);
    }
    dvec_free(s);
    discard("golden.npy");
}

static void check_foreign(dome_type own)
{
    static const uint8_t doubles[] = {0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t flags[] = {0, 1, 1, 0, 1, 0};
    static const uint8_t points[] = {0, 0, 0, 7, 0x3f, 0xc0, 0, 0, 9, 0xff, 0xff, 0xff, 0xfd, 0x40, 0, 0, 0, 8};
    stand(draw(2));
    make_npy("foreign.npy", "{'descr': '>f8', 'fortran_order': False, 'shape': (2,)}", doubles, sizeof doubles);
    dvec *x = dvec_read(env, NULL, "foreign.npy");
    CHECK(x && dvec_type(x) == DOME_F64 && dvec_length(x) == 2, "big-endian doubles");
    CHECK(dvec_sum(x) == -0.5 && dvec_max_value(x) == 1.5, "%g", dvec_sum(x));
    dvec_free(x);

    make_npy("foreign.npy", "{'descr': '|b1', 'fortran_order': False, 'shape': (3, 2)}", flags, sizeof flags);
    x = dvec_read(env, "mask", "foreign.npy");
    CHECK(x && dvec_type(x) == DOME_U8 && dvec_length(x) == 3 && dvec_width(x) == 2, "bool");
    CHECK(dvec_sum(x) == 3, "%g", dvec_sum(x));
    dvec_free(x);

    /* Fields that this program has not described get a type with C's layout. */
    make_npy("foreign.npy", "{'descr': [('k', '>i4'), ('v', '>f4'), ('t', '|u1')], 'fortran_order': False, 'shape': (2,)}",
             points, sizeof points);
    x = dvec_read_with(env, "points", "foreign.npy", DVEC_OPTIONS(.distribution = DOME_WHOLE));
    struct point {
        int32_t k;
        float v;
        uint8_t t;
    };
    const struct point *p = x ? dvec_allgather(x) : NULL;
    CHECK(p && dome_type_size(dvec_type(x)) == sizeof *p, "structs");
    CHECK(p[0].k == 7 && p[0].v == 1.5f && p[0].t == 9 && p[1].k == -3 && p[1].v == 2 && p[1].t == 8, "%d", p[1].k);
    dvec_free(x);

    make_npy("foreign.npy",
             "{'descr': [('tag', '|u1'), ('parts', [('code', '<i2'), ('weights', '<f8', (2,))], (2,)), ('z', '<c8')], "
             "'fortran_order': False, 'shape': (0,)}",
             "", 0);
    x = dvec_read(env, "own", "foreign.npy");
    CHECK(x && dvec_type(x) == own && dvec_length(x) == 0, "the program's own type");
    dvec_free(x);
    discard("foreign.npy");
}

/* ---- bad input ---- */

/* Checks that the last call has failed with this status, and that all tasks have the same message, which contains these words. */
static void check_unreadable(int status, const char *words)
{
    size_t objects = dome_object_count(env);
    CHECK(dvec_read(env, "bad", "bad.npy") == NULL, "read");
    check_failed(status, words);
    CHECK(dome_object_count(env) == objects, "an object was left");
}

static void check_bad_files(void)
{
    static const struct {
        const char *header;
        size_t bytes;
        const char *words;
    } bad[] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (10,)}", 79, "truncated"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (10,)}", 81, "more than"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,)}", 80, "truncated"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551615, 3)}", 80, "truncated"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (10,)}", 80, "Python objects"},
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (2, 5)}", 80, "Fortran order"},
        {"{'descr': '<U2', 'fortran_order': False, 'shape': (10,)}", 80, "strings"},
        {"{'name': 'from elsewhere'}                             ", 80, "knows nothing"},
        {"P5 640 480 255 ", 80, "expected"},
    };
    char zeros[100] = "", good[160];
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        stand(i % 2);
        make_npy("bad.npy", bad[i].header, zeros, bad[i].bytes);
        check_unreadable(DOME_ERR_FORMAT, bad[i].words);
    }
    make("bad.npy", "", 0);
    check_unreadable(DOME_ERR_FORMAT, "empty");
    make("bad.npy", "\x93NUM", 4);
    check_unreadable(DOME_ERR_FORMAT, "not a .npy file");
    make("bad.npy", "\x93NUMPY\1\0v\0{'descr'", 18);
    check_unreadable(DOME_ERR_FORMAT, "truncated");
    discard("bad.npy");
    dome_barrier(env);
    check_unreadable(DOME_ERR_IO, "No such file");
    if (dome_rank(env) == 0)
        CHECK(mkfifo("bad.npy", 0600) == 0, "mkfifo");
    check_unreadable(DOME_ERR_IO, "regular file");
    discard("bad.npy");
    if (dome_rank(env) == 0)
        CHECK(mkdir("bad.npy", 0700) == 0, "mkdir");
    check_unreadable(DOME_ERR_IO, "regular file");
    dvec *x = dvec_new(env, "x", DOME_F64, 10);
    CHECK(dvec_write(x, "bad.npy") != DOME_OK, "write over a folder");
    check_failed(DOME_ERR_IO, "regular file");
    CHECK(dvec_write(x, "missing/x.npy") != DOME_OK, "write into nothing");
    check_failed(DOME_ERR_IO, "missing/x.npy");
    check_folder("bad.npy");
    discard("bad.npy");

    /* A good file with a few bytes changed is read or refused, in the same way on all tasks. */
    CHECK(dvec_write(x, "good.npy") == DOME_OK, "write");
    if (dome_rank(env) == 0) {
        char *data;
        CHECK(g_file_get_contents("good.npy", &data, NULL, NULL), "good.npy");
        memcpy(good, data, sizeof good);
        g_free(data);
    }
    dome_bcast(env, 0, DOME_U8, good, sizeof good);
    int read = 0;
    for (int round = 0; round < 100; round++) {
        char changed[208];
        memset(changed, 0, sizeof changed);
        memcpy(changed, good, sizeof good);
        for (uint64_t k = draw(3); k < 3; k++)
            changed[draw(75)] = (char)draw(256);
        stand(draw(2));
        make("bad.npy", changed, draw(4) ? 208 : draw(209));
        dvec *y = dvec_read(env, "y", "bad.npy");
        read += y != NULL;
        if (!y)
            check_failed(DOME_ERR_FORMAT, "'bad.npy'");
        dvec_free(y);
    }
    CHECK(read < 100, "no change was seen");
    CHECK(dvec_read_with(env, "y", "good.npy", DVEC_OPTIONS(.width = 2)) == NULL, "width");
    check_failed(DOME_ERR_SHAPE, "width");
    CHECK(dvec_read(env, "x", "good.npy") == NULL, "name");
    CHECK(dome_error_status(env) == DOME_ERR_NAME, "%s", dome_status_name(dome_error_status(env)));
    dome_error_clear(env);
    dvec_free(x);
    discard("good.npy");
    discard("bad.npy");
}

/* If a task's writes fail half-way, the existing file is unchanged, and no other file is left. beside: another path in it. */
static void check_full(const place *at, const char *beside)
{
    stand(true);
    dvec *x = dvec_new(env, "x", DOME_F64, 100000);
    CHECK(dvec_write(x, at->path) == DOME_OK, "write");
    CHECK(!beside || dvec_write(x, beside) == DOME_OK, "write beside");
    uint64_t hash = file_hash(at->file);
    dvec_fill(x, 1);
    for (int k = 0; k < 2; k++) {
        struct rlimit before, small;
        dome_object_info info = {.size = sizeof info};
        dome_object_describe(dvec_object(x), &info);
        int last = dome_layout_owner(info.layout, dome_layout_blocks(info.layout) - 1); /* it writes what lies beyond the limit */
        stand(k == 0);
        if (dome_rank(env) == (k ? 0 : last)) {
            CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0, "getrlimit");
            small = before;
            small.rlim_cur = k || last == 0 ? 4096 : 700000;
            CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0, "setrlimit");
        }
        CHECK(dvec_write(x, at->path) != DOME_OK, "write beyond the limit");
        check_failed(DOME_ERR_IO, "too large");
        if (dome_rank(env) == (k ? 0 : last))
            CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0, "setrlimit");
        check_folder(at->file);
        CHECK(beside || file_hash(at->file) == hash, "the file has changed");
        stand(true);
        dvec *y = dvec_read(env, "y", at->path);
        CHECK(y && dvec_max_value(y) == 0, "the values are other ones");
        dvec_free(y);
        y = dvec_read(env, "y", beside ? beside : at->path);
        CHECK(y && dvec_max_value(y) == 0, "the values beside are other ones");
        dvec_free(y);
    }
    dvec_free(x);
    discard(at->file);
}

/* A link stays a link, and the file behind it keeps its rights. */
static void check_link(void)
{
    stand(true);
    dvec *x = dvec_new(env, "x", DOME_F64, 100000);
    CHECK(dvec_write(x, "kept.npy") == DOME_OK, "write");
    dvec_fill(x, 1);
    if (dome_rank(env) == 0) {
        CHECK(chmod("kept.npy", 0640) == 0, "chmod");
        CHECK(symlink("kept.npy", "link.npy") == 0, "symlink");
    }
    dome_barrier(env);
    CHECK(dvec_write(x, "link.npy") == DOME_OK, "write through a link");
    struct stat s;
    if (dome_rank(env) == 0) {
        CHECK(lstat("link.npy", &s) == 0 && S_ISLNK(s.st_mode), "the link is gone");
        CHECK(lstat("kept.npy", &s) == 0 && (s.st_mode & 0777) == 0640, "mode %o", s.st_mode);
    }
    dvec *y = dvec_read(env, "y", "link.npy");
    CHECK(y && dvec_sum(y) == 100000, "read through a link");
    dvec_free(x);
    dvec_free(y);
    discard("link.npy");
    discard("kept.npy");
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    draw_state = 11;
    make_folder();
    dome_set_errors_return(env);
    dome_type own = describe_outer();
    round_trips(&(place){"trip.npy", "trip.npy"}, own);
    long_trips(&(place){"trip.npy", "trip.npy"});
    check_golden(own);
    check_foreign(own);
    check_bad_files();
    check_full(&(place){"kept.npy", "kept.npy"}, NULL);
    check_link();
#ifdef DOME_WITH_HDF5
    round_trips(&(place){"trip.h5:/x", "trip.h5"}, own);
    check_full(&(place){"kept.h5:/x", "kept.h5"}, NULL);
    check_full(&(place){"kept.hdf5:/x", "kept.hdf5"}, "kept.hdf5:/of/y");
#endif
    remove_folder();
    dome_print(env, "ok files on %d tasks\n", dome_size(env));
    return dome_finalize(env);
}
