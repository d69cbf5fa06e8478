/* For test programs that write vectors to files and read them: a directory of their own, in which odd ranks may not stand, values
 * of any bits, and failures that all tasks report alike. */
#ifndef DOME_TESTS_VECTOR_FILES_H
#define DOME_TESTS_VECTOR_FILES_H

#include "draw.h"

#include <dome/dome.h>
#include <dome/structure.h>

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static dome_env *env;
static char folder[200];

#define CHECK(condition, ...)                                                                                                    \
    do                                                                                                                           \
        if (!(condition)) {                                                                                                      \
            char text[400];                                                                                                      \
            snprintf(text, sizeof text, __VA_ARGS__);                                                                            \
            dome_abort(env, "%s line %d: %s: %s (%s)", __FILE__, __LINE__, #condition, text, dome_error_message(env));           \
        }                                                                                                                        \
    while (0)

/* Rank 0 makes the directory. */
static inline void make_folder(void)
{
    if (dome_rank(env) == 0) {
        char *path = g_build_filename(g_get_tmp_dir(), "dome-files-XXXXXX", NULL);
        CHECK(g_mkdtemp(path) && strlen(path) < sizeof folder, "%s", path);
        strcpy(folder, path);
        g_free(path);
    }
    dome_bcast(env, 0, DOME_U8, folder, sizeof folder);
}

/* All tasks go to the directory, or odd ranks to another one. */
static inline void stand(bool all)
{
    CHECK(chdir(all || dome_rank(env) % 2 == 0 ? folder : "/") == 0, "%s", folder);
}

/* Checks that rank 0's folder contains nothing but `expected` (NULL: nothing at all). */
static inline void check_folder(const char *expected)
{
    dome_barrier(env);
    if (dome_rank(env) == 0) {
        GDir *dir = g_dir_open(folder, 0, NULL);
        for (const char *name; (name = g_dir_read_name(dir));)
            CHECK(expected && !strcmp(name, expected), "left behind: %s", name);
        g_dir_close(dir);
    }
    dome_barrier(env);
}

/* Which is empty by now. */
static inline void remove_folder(void)
{
    check_folder(NULL);
    if (dome_rank(env) == 0)
        CHECK(chdir("/") == 0 && rmdir(folder) == 0, "%s", folder);
}

/* Any bits, by position alone; not too many different ones, so that they can be compressed. */
static inline void fill_any(dvec *x)
{
    dome_type type = dvec_type(x);
    size_t portable = dome_type_portable_size(type), size = dome_type_size(type);
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    uint8_t *bytes = g_malloc(portable);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < spans[s].count * dvec_width(x); i++) {
            uint64_t place = spans[s].first * dvec_width(x) + i;
            for (size_t b = 0; b < portable; b++)
                bytes[b] = (uint8_t)(((place + 1) * 40503 + b * 2654435761u) >> 9);
            dome_type_unpack(type, DOME_PORTABLE, (char *)spans[s].data + i * size, bytes, 1);
        }
    g_free(bytes);
}

/* Moves the blocks of all vectors of this length to other tasks, with runs that wrap around the end. */
static inline void move(uint64_t n)
{
    const dome_layout *now = dome_env_layout(env, n, 0);
    uint64_t blocks = dome_layout_blocks(now), left = blocks;
    int size = dome_size(env);
    uint64_t *counts = g_new0(uint64_t, size);
    for (int r = 0; r < size; r++) {
        counts[r] = r == size - 1 ? left : draw(left + 1);
        left -= counts[r];
    }
    dome_layout *next = dome_layout_new(n, dome_layout_block_size(now), size, blocks ? draw(blocks) : 0, counts);
    CHECK(next && dome_env_relayout(env, next) == DOME_OK, "relayout");
    dome_layout_unref(next);
    g_free(counts);
}

/* Checks that two vectors have one type, shape and values. */
static inline void check_equal(dvec *x, dvec *y)
{
    uint64_t a_shape[DOME_MAX_DIMENSIONS] = {0}, b_shape[DOME_MAX_DIMENSIONS] = {0};
    dome_type type = dvec_type(x);
    CHECK(dome_type_equal(type, dvec_type(y)), "%s", dome_type_name(dvec_type(y)));
    CHECK(dvec_length(x) == dvec_length(y) && dvec_width(x) == dvec_width(y), "%d x %d", (int)dvec_length(y), (int)dvec_width(y));
    int ndim = dvec_shape(x, a_shape);
    CHECK(dvec_shape(y, b_shape) == ndim && !memcmp(a_shape, b_shape, (size_t)ndim * sizeof *a_shape), "shape");
    size_t count = dvec_length(x) * dvec_width(x), bytes = count * dome_type_portable_size(type);
    const void *a = dvec_allgather(x), *b = dvec_allgather(y);
    char *pa = g_malloc(bytes + 1), *pb = g_malloc(bytes + 1);
    if (count) {
        dome_type_pack(type, DOME_PORTABLE, pa, a, count);
        dome_type_pack(type, DOME_PORTABLE, pb, b, count);
    }
    CHECK(memcmp(pa, pb, bytes) == 0, "%s of length %d, width %d", dome_type_name(type), (int)dvec_length(x), (int)dvec_width(x));
    g_free(pa);
    g_free(pb);
}

/* Checks that the last call has failed so on all tasks, in one line. */
static inline void check_failed(dome_status status, const char *words)
{
    char line[600] = "";
    CHECK(dome_error_status(env) == status, "%s instead of %s", dome_status_name(dome_error_status(env)),
          dome_status_name(status));
    CHECK(strstr(dome_error_message(env), words) != NULL, "%s", words);
    CHECK(!strchr(dome_error_message(env), '\n'), "one line");
    if (dome_rank(env) == 0)
        snprintf(line, sizeof line, "%s", dome_error_message(env));
    dome_bcast(env, 0, DOME_U8, line, sizeof line);
    size_t task = (size_t)(strstr(line, " (task") - line); /* each task reports what it finds by itself */
    CHECK(!strncmp(line, dome_error_message(env), status < DOME_ERR_MEMORY ? task : sizeof line), "rank 0 has: %.300s", line);
    dome_error_clear(env);
}

#endif
