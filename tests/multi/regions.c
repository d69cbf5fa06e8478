/* Regions: plain loads and stores by all tasks, in one memory. */
#include "checked.h"

#include "core/environment.h"
#include "transport/transport.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

typedef struct odd {
    double a[3];
} odd; /* 24 bytes: does not divide a page */

static uint64_t rank, size;
static dome_consistency consistency;

#define OPTIONS(...) DOME_REGION_OPTIONS(.consistency = consistency, __VA_ARGS__)

static void check_sight(void)
{
    enum { N = 5000 };
    dome_region *r = dome_region_new(env, "sight", DOME_I64, N, OPTIONS());
    int64_t *x = dome_region_data(r);
    CHECK(dome_region_env(r) == env && dome_region_type(r) == DOME_I64 && dome_region_length(r) == N);
    CHECK(dome_region_width(r) == 1 && strcmp(dome_region_name(r), "sight") == 0);
    CHECK(dome_object_find(env, "sight") == dome_region_object(r));
    for (uint64_t i = 0; i < N; i++)
        CHECK(x[i] == 0);
    for (int64_t round = 1; round < 20; round++) {
        dome_barrier(env);
        for (uint64_t i = (rank + (uint64_t)round) % size; i < N; i += size)
            x[i] = round * N + (int64_t)i;
        dome_barrier(env);
        for (uint64_t i = 0; i < N; i++)
            CHECK(x[i] == round * N + (int64_t)i);
    }
    dome_region_free(r);
    CHECK(!dome_object_find(env, "sight"));
}

/* Tasks write neighbouring bytes at the same time, and none is lost. */
static void check_neighbours(void)
{
    enum { N = 20000, ROUNDS = 50 };
    dome_region *r = dome_region_new(env, "bytes", DOME_U8, N, OPTIONS());
    unsigned char *x = dome_region_data(r);
    for (int round = 0; round < ROUNDS; round++)
        for (uint64_t i = rank; i < N; i += size)
            x[i]++;
    dome_barrier(env);
    for (uint64_t i = 0; i < N; i++)
        CHECK(x[i] == ROUNDS);
    dome_region_free(r);
}

/* Spans divide the elements among the tasks, in each layout; values and their place stay. */
static void check_layouts(void)
{
    enum { N = 3000 };
    dome_region *r = dome_region_new(env, "layouts", DOME_U32, N, OPTIONS(.block = 16));
    uint32_t *x = dome_region_data(r);
    for (uint64_t i = rank; i < N; i += size)
        x[i] = (uint32_t)i;
    for (int round = 1; round < 3 * LAYOUTS; round++) {
        dome_span spans[2];
        relayout(N, 16, round % LAYOUTS);
        CHECK(dome_region_data(r) == x);
        int count = dome_region_spans(r, spans);
        for (int s = 0; s < count; s++)
            for (uint64_t i = spans[s].first; i < spans[s].first + spans[s].count; i++)
                x[i] += (uint32_t)N;
        dome_barrier(env);
        for (uint64_t i = 0; i < N; i++)
            CHECK(x[i] == (uint32_t)round * N + i);
    }
    dome_region_free(r);
}

static void check_sizes(void)
{
    const dome_field field = {"a", DOME_F64, 0, 3};
    dome_type type = dome_type_struct(env, "odd", sizeof(odd), &field, 1, sizeof field);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    dome_region *none = dome_region_new(env, "none", DOME_F64, 0, OPTIONS()),
                *one = dome_region_new(env, "one", DOME_F64, 1, OPTIONS());
    dome_region *odds = dome_region_new(env, NULL, type, 1000, OPTIONS());
    odd *o = dome_region_data(odds);
    CHECK(!dome_region_data(none) && dome_region_length(none) == 0);
    CHECK(dome_region_unit(one) == page / 8 && dome_region_unit(odds) == page / 8 && dome_region_unit(none) == page / 8);
    double *x = dome_region_data(one);
    if (rank == size - 1) {
        *x = 0.1;
        for (int i = 0; i < 1000; i++)
            o[i] = (odd){{i, i + 0.25, i + 0.5}};
    }
    dome_barrier(env);
    CHECK(*x == 0.1);
    for (int i = 0; i < 1000; i++)
        CHECK(o[i].a[0] == i && o[i].a[1] == i + 0.25 && o[i].a[2] == i + 0.5);
    dome_region_free(odds);
    dome_region_free(one);
    dome_region_free(none);
    dome_region_free(NULL);
}

/* Reads from a file, or writes to it; again where another task has taken elements meanwhile. */
static bool transfer(dome_region *r, int file, uint64_t first, uint64_t count, off_t at, bool in)
{
    char *x = dome_region_data(r);
    uint64_t done = 0;
    for (int attempts = 0; done < count && attempts < 10000; attempts++) {
        CHECK(dome_region_want(r, first + done, count - done, in) == DOME_OK);
        char *from = x + first + done;
        const ssize_t some =
            in ? pread(file, from, count - done, at + (off_t)done) : pwrite(file, from, count - done, at + (off_t)done);
        if (some < 0 && errno != EFAULT)
            return false;
        done += some > 0 ? (uint64_t)some : 0;
    }
    return done == count;
}

/* Each row begins at a unit; neighbours write neighbouring rows, and rows move. */
static void check_pitch(void)
{
    enum { ROWS = 60, COLUMNS = 513 };
    dome_region *r = dome_region_new(env, "rows", DOME_F64, ROWS, OPTIONS(.width = COLUMNS, .block = 4, .pitched = 1)),
                *plain = dome_region_new(env, "plain", DOME_F64, ROWS, OPTIONS(.width = COLUMNS)),
                *whole =
                    dome_region_new(env, "whole", DOME_U8, ROWS, OPTIONS(.width = (size_t)sysconf(_SC_PAGESIZE), .pitched = 1));
    const size_t pitch = dome_region_pitch(r);
    double *x = dome_region_data(r);
    CHECK(pitch >= COLUMNS && pitch * sizeof *x % (size_t)sysconf(_SC_PAGESIZE) == 0 && dome_region_unit(r) == 1);
    CHECK(dome_region_pitch(plain) == COLUMNS && dome_region_pitch(whole) == dome_region_width(whole));
    for (uint64_t round = 0; round < 2 * LAYOUTS; round++) {
        for (uint64_t i = (rank + round) % size; i < ROWS; i += size)
            for (uint64_t k = 0; k < COLUMNS; k++)
                x[i * pitch + k] = (double)(round * 1000000 + i * 1000 + k);
        dome_barrier(env);
        for (uint64_t i = 0; i < ROWS; i++)
            for (uint64_t k = 0; k < COLUMNS; k++)
                CHECK(x[i * pitch + k] == (double)(round * 1000000 + i * 1000 + k));
        CHECK(dome_region_want(r, ROWS - 1, 1, false) == DOME_OK && dome_region_want(r, ROWS, 0, false) == DOME_OK);
        relayout(ROWS, 4, round % LAYOUTS);
    }
    dome_region_free(whole);
    dome_region_free(plain);
    dome_region_free(r);
}

/* A system call writes to a region, beyond a page. */
static void check_read(void)
{
    enum { N = 10000 };
    static char text[N];
    dome_region *r = dome_region_new(env, "read", DOME_U8, (uint64_t)N * size, OPTIONS());
    char *x = dome_region_data(r);
    FILE *file = tmpfile();
    CHECK(file);
    memset(text, 'a' + (int)(rank % 20), sizeof text);
    CHECK(fwrite(text, 1, N, file) == N && fflush(file) == 0);
    CHECK(transfer(r, fileno(file), rank * N, N, 0, true));
    CHECK(transfer(r, fileno(file), rank * N, N, N, false));
    fclose(file);
    dome_barrier(env);
    for (uint64_t i = 0; i < N * size; i++)
        CHECK(x[i] == 'a' + (char)(i / N % 20));
    dome_region_free(r);
}

/* Atomic operations of C work across tasks. */
static void check_atomic(void)
{
    enum { TIMES = 20000 };
    dome_region *r = dome_region_new(env, "atomic", DOME_U64, 1, OPTIONS());
    _Atomic uint64_t *count = dome_region_data(r);
    for (int k = 0; k < TIMES; k++)
        atomic_fetch_add(count, 1);
    dome_barrier(env);
    CHECK(*count == TIMES * size);
    dome_region_free(r);
}

static void check_errors(void)
{
    const uint64_t words[8] = {sizeof words, 0, 0, 0, 0, 0, 0, 1};
    dome_set_errors_return(env);
    dome_region *r = dome_region_new(env, "there", DOME_F64, 10, NULL);
    CHECK(!dome_region_new(env, "there", DOME_F64, 10, NULL));
    FAILED(DOME_ERR_NAME, "there");
    CHECK(!dome_region_new(env, "other", NULL, 10, NULL));
    FAILED(DOME_ERR_ARGUMENT, "no type");
    CHECK(!dome_region_new(env, "other", DOME_F64, 10, DOME_REGION_OPTIONS(.block = 3)));
    FAILED(DOME_ERR_ARGUMENT, "power of two");
    CHECK(!dome_region_new(env, "other", DOME_F64, UINT64_MAX / 4, NULL));
    FAILED(DOME_ERR_ARGUMENT, "more than memory can have");
    CHECK(!dome_region_new(env, "other", DOME_F64, UINT64_C(1) << 45, NULL));
    FAILED(DOME_ERR_MEMORY, "'other' cannot be shared");
    CHECK(!dome_region_new(env, "other", DOME_F64, 10, (const dome_region_options *)(const void *)words));
    FAILED(DOME_ERR_ARGUMENT, "DOME_REGION_OPTIONS");
    dome_region *again = dome_region_new(env, "other", DOME_F64, 10, NULL);
    CHECK(again);
    dome_region_free(again);
    dome_region_free(r);
}

/* A list at a fixed address: pointers mean the same on all tasks. */
static void check_pointers(void)
{
    typedef struct node {
        struct node *next;
        int64_t value;
    } node;
    enum { NODES = 1000 };
    void *const at = sizeof(void *) == 8 ? (void *)(uintptr_t)UINT64_C(0x210000000000) : (void *)(uintptr_t)0x30000000;
    dome_region *r = dome_region_new(env, NULL, DOME_U8, NODES * sizeof(node), DOME_REGION_OPTIONS(.at = at));
    node *nodes = dome_region_data(r);
    CHECK((void *)nodes == at);
    for (uint64_t i = rank; i < NODES; i += size)
        nodes[i] = (node){i + 1 < NODES ? &nodes[i + 1] : NULL, (int64_t)i};
    dome_barrier(env);
    int64_t sum = 0;
    for (const node *n = nodes; n; n = n->next)
        sum += n->value;
    CHECK(sum == NODES * (NODES - 1) / 2);
    CHECK(!dome_region_new(env, NULL, DOME_U8, 10, DOME_REGION_OPTIONS(.at = at)));
    FAILED(DOME_ERR_MEMORY, "something else is at that address");
    CHECK(!dome_region_new(env, NULL, DOME_U8, 10, DOME_REGION_OPTIONS(.at = (char *)at + 1)));
    FAILED(DOME_ERR_MEMORY, "no multiple of the page");
    CHECK(!dome_region_new(env, "list", DOME_U8, 10, DOME_REGION_OPTIONS(.at = at)));
    FAILED(DOME_ERR_ARGUMENT, "'list' is at a fixed address");
    dome_barrier(env);
    dome_region_free(r);
    r = dome_region_new(env, NULL, DOME_U8, 10, DOME_REGION_OPTIONS(.at = at));
    CHECK(dome_region_data(r) == at);
    dome_region_free(r);
}

/* Tasks write different parts of the same structs at the same time, by barriers and by a lock. */
static void check_parts(void)
{
    typedef struct parts {
        int8_t mark[7];
        double x[3];
        int16_t last;
    } parts;
    enum { N = 700, ROUNDS = 6 };
    const dome_field fields[] = {{"mark", DOME_I8, offsetof(parts, mark), 7},
                                 {"x", DOME_F64, offsetof(parts, x), 3},
                                 {"last", DOME_I16, offsetof(parts, last), 1}};
    dome_type type = dome_type_struct(env, "parts", sizeof(parts), fields, 3, sizeof(dome_field));
    dome_region *r = dome_region_new(env, NULL, type, N, OPTIONS(.block = 16));
    dome_lock *lock = dome_lock_new(env, NULL);
    parts *p = dome_region_data(r);
    for (int round = 1; round <= ROUNDS; round++) {
        for (uint64_t i = 0; i < N; i++) {
            for (uint64_t k = rank; k < 7; k += size)
                p[i].mark[k] = (int8_t)(round + (int)(i + k) % 50);
            for (uint64_t k = rank; k < 3; k += size)
                p[i].x[k] = round + (double)(i + k) / 3;
        }
        dome_lock_acquire(lock);
        for (uint64_t i = 0; i < N; i += 100)
            p[i].last++;
        dome_lock_release(lock);
        dome_barrier(env);
        for (uint64_t i = 0; i < N; i++) {
            for (uint64_t k = 0; k < 7; k++)
                CHECK(p[i].mark[k] == round + (int)(i + k) % 50);
            for (uint64_t k = 0; k < 3; k++)
                CHECK(p[i].x[k] == round + (double)(i + k) / 3);
            CHECK(p[i].last == (i % 100 ? 0 : round * (int)size));
        }
        dome_barrier(env);
        relayout(N, 16, round % LAYOUTS);
    }
    dome_lock_free(lock);
    dome_region_free(r);
}

/* The tasks pretend to have different formats, so that all that travels is portable. */
static int *pretend_unlike(void)
{
    int *formats = g_new(int, size);
    for (uint64_t k = 0; k < size; k++)
        formats[k] = (int)k;
    env->transport->group.data_format = formats;
    return formats;
}

int main(int argc, char **argv)
{
    init_unbalanced(argc, argv);
    consistency = argc > 1 && strcmp(argv[1], "release") == 0 ? DOME_RELEASE : DOME_SEQUENTIAL;
    rank = (uint64_t)dome_rank(env);
    size = (uint64_t)dome_size(env);
    int *formats = argc > 2 && strcmp(argv[2], "unlike") == 0 ? pretend_unlike() : NULL;
    check_parts();
    check_sight();
    check_neighbours();
    check_layouts();
    check_sizes();
    check_pitch();
    check_read();
    if (consistency == DOME_SEQUENTIAL)
        check_atomic();
    check_errors();
    check_pointers();
    if (formats)
        env->transport->group.data_format = NULL;
    g_free(formats);
    dome_print(env, "ok regions on %d tasks: %u checks\n", dome_size(env), checks);
    return dome_finalize(env) ? 1 : 0;
}
