/* Vectors as Zarr arrays: round trips of every type in chunks of many sizes, the bytes in the files, arrays as others write them,
 * and bad ones, each with a status and one line that all tasks agree on. In half of the rounds odd ranks work in another
 * directory and do not see the files. */
#include "files/zarr.h"
#include "core/environment.h"
#include "files/file_item.h"
#include "transport/collective.h"

#include <dome/dome.h>
#include <dome/structure.h>

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vector_files.h"

#ifdef DOME_WITH_ZSTD
enum { LEVELS = 2 };
#else
enum { LEVELS = 1 };
#endif

/* Rank 0 makes a file, and the folders that it is in. */
static void make(const char *path, const void *data, size_t bytes)
{
    if (dome_rank(env) == 0) {
        char *in = g_path_get_dirname(path);
        CHECK(g_mkdir_with_parents(in, 0777) == 0, "%s", in);
        CHECK(g_file_set_contents(path, data, (gssize)bytes, NULL), "%s", path);
        g_free(in);
    }
    dome_barrier(env);
}

static void remove_all(const char *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        char *inner = g_build_filename(path, name, NULL);
        remove_all(inner);
        g_free(inner);
    }
    if (dir)
        g_dir_close(dir);
    CHECK(g_remove(path) == 0, "%s", path);
}

static void discard(const char *path)
{
    dome_barrier(env);
    if (dome_rank(env) == 0)
        remove_all(path);
    dome_barrier(env);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of names and contents of the files in a folder of rank 0's. */
static uint64_t folder_hash(const char *path)
{
    uint64_t hash = 0;
    if (dome_rank(env) == 0) {
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
        GDir *dir = g_dir_open(path, 0, NULL);
        CHECK(dir, "%s", path);
        for (const char *name; (name = g_dir_read_name(dir));)
            g_ptr_array_add(names, g_strdup(name));
        g_dir_close(dir);
        g_ptr_array_sort(names, by_name);
        for (guint i = 0; i < names->len; i++) {
            char *data, *file = g_build_filename(path, names->pdata[i], NULL);
            gsize bytes;
            CHECK(g_file_get_contents(file, &data, &bytes, NULL), "%s", file);
            hash = dome__hash_bytes(hash, names->pdata[i], strlen(names->pdata[i]));
            hash = dome__hash_bytes(hash, data, bytes);
            g_free(data);
            g_free(file);
        }
        g_ptr_array_free(names, TRUE);
    }
    dome_bcast(env, 0, DOME_U64, &hash, 1);
    return hash;
}

/* ---- round trips ---- */

typedef struct own {
    uint8_t tag;
    double weights[2];
    float _Complex z;
} own;

static dome_type describe_own(void)
{
    const dome_field fields[] = {{"tag", DOME_U8, offsetof(own, tag), 1},
                                 {"weights", DOME_F64, offsetof(own, weights), 2},
                                 {"z", DOME_C64, offsetof(own, z), 1}};
    return dome_type_struct(env, "own", sizeof(own), fields, 3, sizeof(dome_field));
}

/* The files of chunks along the first dimension, from the values. */
static void check_chunks(dvec *x, const dvec_zarr_options *o)
{
    dome_file_item item = {0};
    dome_type type = dvec_type(x);
    uint64_t width = dvec_width(x), n = dvec_length(x), chunk = MAX(1, MIN(o->chunk, n));
    const char *values = dvec_allgather(x);
    dome__item_describe(&item, type);
    size_t element = item.bytes * width;
    char *expected = g_malloc(chunk * element);
    for (uint64_t c = 0; c * chunk < n && dome_rank(env) == 0; c++) {
        uint64_t count = MIN(chunk, n - c * chunk);
        char *data, *path = g_strdup_printf(width > 1 ? "%s%" G_GUINT64_FORMAT ".0" : "%s%" G_GUINT64_FORMAT,
                                            o->version == 3 ? "trip.zarr/c." : "trip.zarr/", c);
        gsize bytes;
        memset(expected, 0, chunk * element);
        dome__item_pack(&item, type, expected, values + c * chunk * width * dome_type_size(type), count * width);
        CHECK(g_file_get_contents(path, &data, &bytes, NULL), "%s", path);
        CHECK(bytes == chunk * element && !memcmp(data, expected, bytes), "%s has other values", path);
        g_free(data);
        g_free(path);
    }
    g_free(expected);
    dome__item_clear(&item);
}

static void round_trip(dome_type type, size_t n, size_t width, int ndim, const uint64_t shape[])
{
    uint64_t hash = 0;
    dvec_zarr_options o = {
        .size = sizeof o, .version = 2 + (int)draw(2), .level = (int)draw(LEVELS), .chunk = draw(3) ? 1 + draw(n + 2) : 0};
    if (n / (o.chunk ? o.chunk : n + 1) > 5) /* a file each */
        o.chunk = n / 5;
    if (dome_type_kind_of(type) == DOME_KIND_STRUCT)
        o.version = 2;
    for (int k = 0; k < 3; k++) {
        dvec_options options = {.size = sizeof options, .distribution = (dome_distribution)k, .width = width};
        dvec *x = dvec_new_with(env, "x", type, n, &options);
        CHECK(ndim == 0 || dvec_set_shape(x, ndim, shape) == DOME_OK, "shape");
        fill_any(x);
        if (k == DOME_DYNAMIC)
            move(n);
        stand(draw(2));
        CHECK(dvec_write_zarr(x, "trip.zarr", &o) == DOME_OK, "write");
        uint64_t found = folder_hash("trip.zarr");
        CHECK(k == 0 || found == hash, "the files of a %s vector differ by its distribution", dome_type_name(type));
        hash = found;
        if (o.chunk && !o.level && ndim == 0)
            check_chunks(x, &o);
        stand(draw(2));
        options = (dvec_options){.size = sizeof options, .distribution = (dome_distribution)draw(3), .width = ndim ? width : 0};
        dvec *y = dvec_read_with(env, "y", "trip.zarr/", &options);
        CHECK(y != NULL, "read");
        CHECK(dvec_distribution(y) == options.distribution && !strcmp(dvec_name(y), "y"), "%s", dvec_name(y));
        check_equal(x, y);
        dvec_free(x);
        dvec_free(y);
    }
    check_folder("trip.zarr");
    discard("trip.zarr");
}

static void round_trips(dome_type own_type)
{
    const dome_type types[] = {DOME_I8,  DOME_I16, DOME_I32, DOME_I64, DOME_U8,   DOME_U16, DOME_U32,
                               DOME_U64, DOME_F32, DOME_F64, DOME_C64, DOME_C128, own_type};
    for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
        round_trip(types[i], i % 3 ? 1 + draw(3000) : draw(6), i % 2 ? 1 : 1 + draw(4), 0, NULL);
    }
    round_trip(DOME_F64, 0, 1, 0, NULL);
    round_trip(own_type, 0, 2, 0, NULL);
    round_trip(own_type, 800, 1, 0, NULL);
    round_trip(DOME_F64, 1500000, 1, 0, NULL);
    round_trip(DOME_U8, 2, 9000000, 0, NULL); /* elements longer than a chunk */
    round_trip(DOME_F64, 60, 1, 3, (uint64_t[]){3, 4, 5});
    round_trip(DOME_I16, 12, 10, 4, (uint64_t[]){3, 4, 5, 2});
    round_trip(DOME_F32, 700, 3, 3, (uint64_t[]){7, 100, 3});
}

/* ---- contents ---- */

#define V2(shape, chunks, dtype, rest)                                                                                           \
    "{\"zarr_format\": 2, \"shape\": " shape ", \"chunks\": " chunks ", \"dtype\": " dtype ", \"order\": \"C\", "                \
    "\"filters\": null" rest "}"

static void make_metadata(const char *text)
{
    make("other.zarr/.zarray", text, strlen(text));
}

/* What dvec_write writes, byte by byte. */
static void check_golden(void)
{
    static const char zarray[] =
        "{\n    \"chunks\": [\n        3,\n        2\n    ],\n    \"compressor\": null,\n"
        "    \"dimension_separator\": \".\",\n    \"dtype\": \"<i4\",\n    \"fill_value\": 0,\n"
        "    \"filters\": null,\n    \"order\": \"C\",\n    \"shape\": [\n        3,\n        2\n    ],\n"
        "    \"zarr_format\": 2\n}\n";
    static const uint8_t values[24] = {0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5};
    stand(true);
    dvec *x = dvec_new_with(env, "x", DOME_I32, 3, DVEC_OPTIONS(.width = 2));
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    for (int s = 0; s < 2; s++)
        for (uint64_t i = 0; i < 2 * spans[s].count; i++)
            ((int32_t *)spans[s].data)[i] = (int32_t)(2 * spans[s].first + i);
    CHECK(dvec_write(x, "golden.zarr") == DOME_OK, "write");
    if (dome_rank(env) == 0) {
        char *data;
        gsize bytes;
        CHECK(g_file_get_contents("golden.zarr/.zarray", &data, NULL, NULL) && !strcmp(data, zarray), "%s", data);
        g_free(data);
        CHECK(g_file_get_contents("golden.zarr/0.0", &data, &bytes, NULL), "0.0");
        CHECK(bytes == sizeof values && !memcmp(data, values, bytes), "%d bytes", (int)bytes);
        g_free(data);
    }
    dvec_free(x);
    discard("golden.zarr");
}

/* An array in chunks of two dimensions, big-endian, one of them missing. */
static void check_foreign(void)
{
    stand(draw(2));
    make_metadata(V2("[5, 3]", "[2, 2]", "\">i2\"", ", \"fill_value\": -7, \"dimension_separator\": \"/\""));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) {
            uint8_t chunk[8] = {0};
            char path[40];
            for (int k = 0; k < 4; k++)
                chunk[2 * k + 1] = (uint8_t)(3 * (2 * i + k / 2) + 2 * j + k % 2);
            snprintf(path, sizeof path, "other.zarr/%d/%d", i, j);
            if (i != 1 || j != 0)
                make(path, chunk, sizeof chunk);
        }
    for (int k = 0; k < 3; k++) {
        stand(draw(2));
        dvec *x = dvec_read_with(env, "x", "other.zarr", DVEC_OPTIONS(.distribution = (dome_distribution)k, .width = k ? 1 : 0));
        CHECK(x && dvec_type(x) == DOME_I16 && dvec_length(x) == (k ? 15 : 5) && dvec_width(x) == (k ? 1 : 3), "foreign");
        const int16_t *v = dvec_allgather(x);
        for (int i = 0; i < 15; i++)
            CHECK(v[i] == (i == 6 || i == 7 || i == 9 || i == 10 ? -7 : i), "value %d is %d", i, v[i]);
        dvec_free(x);
    }
    discard("other.zarr");
}

/* ---- bad input ---- */

/* Checks that the last call has failed with this status, and that all tasks have the same message, which contains these words. */
static void check_unreadable(dome_status status, const char *words)
{
    size_t objects = dome_object_count(env);
    stand(draw(2));
    CHECK(dvec_read(env, "bad", "other.zarr") == NULL, "read: %s", words);
    check_failed(status, words);
    CHECK(dome_object_count(env) == objects, "an object was left");
}

/* The vector is not written in place of what is there, or where nothing can be. */
static void check_unwritable(dvec *x, const char *path, const char *words)
{
    CHECK(dvec_write(x, path) != DOME_OK, "write to %s: %s", path, words);
    check_failed(DOME_ERR_IO, words);
}

static void check_bad_arrays(void)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"{", "not JSON"},
        {"{\"zarr_format\": 3}", "not 2"},
        {V2("[100]", "[10]", "\"<f8\"", ", \"compressor\": {\"id\": \"lzma\"}"), "lzma"},
        {V2("[100]", "[10]", "\"|O\"", ""), "Python objects"},
        {V2("[-100]", "[10]", "\"<f8\"", ""), "not a length"},
        {V2("[9223372036854775807]", "[10]", "\"<f8\"", ""), "no machine"},
    };
    char zeros[200] = "";
    stand(true);
    check_unreadable(DOME_ERR_IO, "No such file");
    make("other.zarr", zeros, 5);
    check_unreadable(DOME_ERR_FORMAT, "not a folder");
    dvec *x = dvec_new(env, "x", DOME_F64, 100);
    check_unwritable(x, "other.zarr", "not a folder");
    discard("other.zarr");
    make("other.zarr/notes", zeros, 5);
    check_unreadable(DOME_ERR_FORMAT, "neither .zarray nor zarr.json");
    stand(draw(2));
    check_unwritable(x, "other.zarr", "'notes'");
    stand(true);
    discard("other.zarr");
    make("other.zarr/.zgroup", "{\"zarr_format\": 2}", 18);
    check_unreadable(DOME_ERR_FORMAT, "Zarr group");
    check_unwritable(x, "other.zarr", ".zgroup");
    CHECK(dvec_write(x, "other.zarr/inside") == DOME_OK, "write into a group");
    dvec *y = dvec_read(env, "y", "other.zarr/inside");
    CHECK(y && dvec_length(y) == 100, "read from a group");
    dvec_free(y);
    discard("other.zarr");
    make("other.zarr/zarr.json", "{\"zarr_format\": 3, \"node_type\": \"group\"}", 40);
    check_unreadable(DOME_ERR_FORMAT, "Zarr group");
    check_unwritable(x, "other.zarr", "not a Zarr array");
    check_unwritable(x, "missing/other.zarr", "missing/other.zarr");
    discard("other.zarr");

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        make_metadata(bad[i].text);
        check_unreadable(DOME_ERR_FORMAT, bad[i].words);
    }
    make_metadata(V2("[100]", "[10]", "\"<f8\"", ", \"fill_value\": 1"));
    make("other.zarr/7", zeros, 79);
    check_unreadable(DOME_ERR_FORMAT, "'other.zarr/7' is truncated: it has 79 of the 80 bytes");
    make("other.zarr/7", zeros, 81);
    check_unreadable(DOME_ERR_FORMAT, "'other.zarr/7' has 81 bytes");
    make("other.zarr/7", zeros, 0);
    check_unreadable(DOME_ERR_FORMAT, "'other.zarr/7' is truncated");
    discard("other.zarr/7");
    make("other.zarr/7/nothing", zeros, 0);
    stand(true);
    CHECK(dvec_read(env, "bad", "other.zarr") == NULL, "read a folder");
    check_failed(DOME_ERR_IO, "'other.zarr/7' cannot be read");
    discard("other.zarr/7");
    y = dvec_read(env, "y", "other.zarr");
    CHECK(y && dvec_sum(y) == 100, "read nothing but fill values");
    dvec_free(y);
#if defined(DOME_WITH_ZSTD) && defined(DOME_WITH_ZLIB)
    static const char *const codecs[] = {"zlib", "gzip", "zstd"};
    for (size_t i = 0; i < G_N_ELEMENTS(codecs); i++) {
        char *text = g_strdup_printf(V2("[100]", "[10]", "\"<f8\"", ", \"compressor\": {\"id\": \"%s\"}"), codecs[i]);
        make_metadata(text);
        make("other.zarr/9", zeros, 50);
        check_unreadable(DOME_ERR_FORMAT, "'other.zarr/9' is damaged");
        g_free(text);
    }
    discard("other.zarr/9");
    stand(draw(2));
    CHECK(dvec_write_zarr(x, "other.zarr", DVEC_ZARR_OPTIONS(.level = 1, .chunk = 50)) == DOME_OK, "replace an array");
    make("other.zarr/1", "\x28\xb5\x2f\xfd", 4);
    check_unreadable(DOME_ERR_FORMAT, "'other.zarr/1' is damaged");
#endif
    CHECK(dvec_write_zarr(x, "other.zarr", DVEC_ZARR_OPTIONS(.version = 4)) == DOME_ERR_ARGUMENT, "version 4");
    check_failed(DOME_ERR_ARGUMENT, "version 4");
    CHECK(dvec_write_zarr(x, "other.zarr", DVEC_ZARR_OPTIONS(.level = 23)) == DOME_ERR_ARGUMENT, "level 23");
    check_failed(DOME_ERR_ARGUMENT, "level 23");
    CHECK(dvec_write_zarr(x, "other.zarr", &(dvec_zarr_options){.version = 3}) == DOME_ERR_ARGUMENT, "no size");
    check_failed(DOME_ERR_ARGUMENT, "DVEC_ZARR_OPTIONS");
    dvec_free(x);
    x = dvec_new(env, "s", describe_own(), 3);
    CHECK(dvec_write_zarr(x, "other.zarr", DVEC_ZARR_OPTIONS(.version = 3)) == DOME_ERR_TYPE, "structs in version 3");
    check_failed(DOME_ERR_TYPE, "version 2 can");
    dvec_free(x);
    stand(true);
    discard("other.zarr");
}

/* ---- arrays that others change ---- */

enum { CHUNKS = 300 };

/* Gives a folder new metadata and all of its chunks, each of them at once. */
static void make_ones(const char *in)
{
    static const char text[] = V2("[3000]", "[10]", "\"<f8\"", ", \"fill_value\": 0");
    char path[100], *metadata = g_strconcat(in, "/.zarray", NULL);
    int fd = open("new", O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0 || write(fd, text, sizeof text - 1) < 0 || close(fd) != 0 || rename("new", metadata) != 0)
        _exit(1);
    g_free(metadata);
    for (int i = 0; i < CHUNKS; i++) {
        snprintf(path, sizeof path, "%s/%d", in, i);
        if (link("ones", path) != 0)
            _exit(1);
    }
}

/* Another writer: gives two folders each other's name again and again, and makes that anew which is replaced. */
static void replace_again_and_again(void)
{
    char path[100];
    while (renameat2(AT_FDCWD, "other.zarr", AT_FDCWD, "third.zarr", RENAME_EXCHANGE) == 0) {
        for (int i = 0; i < CHUNKS; i++) {
            snprintf(path, sizeof path, "third.zarr/%d", i);
            unlink(path);
        }
        make_ones("third.zarr");
    }
    _exit(0);
}

/* An array that is replaced while it is read is read as a whole, or not at all. */
static void check_replaced(void)
{
    static const double ones[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    pid_t writer = 0;
    stand(true);
    make("ones", ones, sizeof ones);
    if (dome_rank(env) == 0) {
        CHECK(g_mkdir("other.zarr", 0777) == 0 && g_mkdir("third.zarr", 0777) == 0, "mkdir");
        make_ones("other.zarr");
        make_ones("third.zarr");
        writer = fork();
        if (writer == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            replace_again_and_again();
        }
    }
    dome_barrier(env);
    for (int k = 0; k < 20; k++) {
        dvec *x = dvec_read(env, "x", "other.zarr");
        if (!x)
            check_failed(DOME_ERR_IO, "changes while it is read");
        else
            CHECK(dvec_sum(x) == 3000, "a mixture: %g", dvec_sum(x));
        dvec_free(x);
    }
    dome_barrier(env);
    if (writer > 0) {
        CHECK(kill(writer, SIGKILL) == 0 && waitpid(writer, NULL, 0) == writer, "the writer");
        g_unlink("new");
    }
    dome_barrier(env);
    dvec *x = dvec_read(env, "x", "other.zarr");
    CHECK(x && dvec_sum(x) == 3000, "read in the end");
    dvec_free(x);
    discard("other.zarr");
    discard("third.zarr");
    discard("ones");
}

/* A folder that this user cannot look into is not replaced. The rights of root do not count here. */
static void check_unreadable_folder(void)
{
    bool first = dome_rank(env) == 0, root = geteuid() == 0;
    uint8_t listed = 0;
    dvec *x = dvec_new(env, "x", DOME_F64, 10);
    stand(true);
    make("other.zarr/.zarray", "", 0);
    if (first) {
        CHECK(chmod(folder, 0777) == 0 && chmod("other.zarr", 0) == 0, "chmod");
        if (root)
            setfsuid(65534);
        GDir *dir = g_dir_open("other.zarr", 0, NULL);
        listed = dir != NULL; /* where that user is unknown */
        if (dir)
            g_dir_close(dir);
    }
    dome_bcast(env, 0, DOME_U8, &listed, 1);
    dome_status status = listed ? DOME_OK : dvec_write(x, "other.zarr");
    if (first && root)
        setfsuid(0);
    if (!listed) {
        CHECK(status != DOME_OK, "write over a folder that cannot be read");
        check_failed(DOME_ERR_IO, "'other.zarr' is there, and what is in it cannot be listed");
    }
    if (first)
        CHECK(chmod("other.zarr", 0700) == 0 && access("other.zarr/.zarray", F_OK) == 0, "it is gone");
    check_folder("other.zarr");
    discard("other.zarr");
    dvec_free(x);
}

/* If a task's writes fail half-way, the existing array is unchanged, and nothing else is left. */
static void check_full(void)
{
    dvec *x = dvec_new(env, "x", DOME_F64, 100000);
    stand(true);
    CHECK(dvec_write_zarr(x, "kept.zarr", DVEC_ZARR_OPTIONS(.chunk = 5000)) == DOME_OK, "write");
    uint64_t hash = folder_hash("kept.zarr");
    dvec_fill(x, 1);
    int last = dome_size(env) - 1;
    for (int k = 0; k < 2; k++) {
        struct rlimit before, small;
        stand(k == 0);
        if (dome_rank(env) == (k ? 0 : last)) {
            CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0, "getrlimit");
            small = before;
            small.rlim_cur = 4096;
            CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0, "setrlimit");
        }
        CHECK(dvec_write_zarr(x, "kept.zarr", DVEC_ZARR_OPTIONS(.chunk = 5000)) != DOME_OK, "write beyond the limit");
        check_failed(DOME_ERR_IO, "too large");
        if (dome_rank(env) == (k ? 0 : last))
            CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0, "setrlimit");
        check_folder("kept.zarr");
        CHECK(folder_hash("kept.zarr") == hash, "the files have changed");
    }

    /* A link stays a link, and the folder behind it keeps its rights. */
    stand(true);
    if (dome_rank(env) == 0) {
        CHECK(chmod("kept.zarr", 0750) == 0, "chmod");
        CHECK(symlink("kept.zarr", "link.zarr") == 0, "symlink");
    }
    dome_barrier(env);
    CHECK(dvec_write(x, "link.zarr") == DOME_OK, "write through a link");
    struct stat s;
    if (dome_rank(env) == 0) {
        CHECK(lstat("link.zarr", &s) == 0 && S_ISLNK(s.st_mode), "the link is gone");
        CHECK(lstat("kept.zarr", &s) == 0 && (s.st_mode & 0777) == 0750, "mode %o", s.st_mode);
        CHECK(access("kept.zarr/1", F_OK) != 0, "a chunk of the array before is left");
        CHECK(unlink("link.zarr") == 0, "unlink");
    }
    dvec *y = dvec_read(env, "y", "kept.zarr");
    CHECK(y && dvec_sum(y) == 100000, "read what was written through a link");
    check_folder("kept.zarr");
    dvec_free(x);
    dvec_free(y);
    discard("kept.zarr");
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
#ifndef DOME_WITH_JANSSON
    dome_print(env, "skipped: built without jansson\n");
    dome_finalize(env);
    return 77;
#endif
    draw_state = 11;
    make_folder();
    dome_set_errors_return(env);
    round_trips(describe_own());
    check_golden();
    check_foreign();
    check_bad_arrays();
    check_replaced();
    check_unreadable_folder();
    check_full();
    remove_folder();
    dome_print(env, "ok zarr on %d tasks\n", dome_size(env));
    return dome_finalize(env);
}
