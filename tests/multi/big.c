/* Sizes beyond 32 bits. The first argument selects the test:
 *
 *     big message [BYTES]   a message of 3 GiB from rank 0 to the last, checked byte for byte
 *     big vector [BYTES]    a vector of 2^31 + 1000 bytes elements
 *     big extremes          64-bit extremes through the portable form
 *
 * The exit status is 77 if the machine has too little memory. */
#include "core/environment.h"
#include "core/storage.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <dome/dome.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program on all tasks if rank 0 sees less memory than `bytes`. */
static bool enough(dome_env *env, uint64_t bytes)
{
    uint64_t there = dome__storage_available();
    dome_bcast(env, 0, DOME_U64, &there, 1);
    if (there >= bytes)
        return true;
    dome_print(env, "skipped: needs %.1f GiB of memory, %.1f are there\n", (double)bytes / 0x1p30, (double)there / 0x1p30);
    return false;
}

static uint64_t word(uint64_t i)
{
    return (i + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ i >> 7;
}

static void message(dome_env *env, uint64_t bytes)
{
    dome_transport *t = env->transport;
    int last = t->group.size - 1;
    if (last == 0)
        return;
    uint64_t words = bytes / 8;
    if (t->group.rank == 0) {
        uint64_t *data = g_malloc(bytes);
        for (uint64_t i = 0; i < words; i++)
            data[i] = word(i);
        if (dome__send(t, last, DOME_CHANNEL_DATA, DOME_U8, data, bytes))
            dome_abort(env, "cannot send: %s", t->reason);
        g_free(data);
    } else if (t->group.rank == last) {
        uint64_t *data = g_malloc(bytes);
        if (dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_U8, data, bytes))
            dome_abort(env, "cannot receive: %s", t->reason);
        for (uint64_t i = 0; i < words; i++)
            if (data[i] != word(i))
                dome_abort(env, "byte %" PRIu64 " of the message is wrong", 8 * i);
        g_free(data);
    }
}

static void expect(dome_env *env, const char *what, int64_t got, int64_t expected)
{
    if (got != expected)
        dome_abort(env, "%s is %" PRId64 " instead of %" PRId64, what, got, expected);
}

static uint64_t largest(const dvec *x)
{
    uint64_t position;
    return dvec_argmax(x, &position), position;
}

static void vector(dome_env *env, uint64_t n)
{
    dvec *x = dvec_new(env, "long", DOME_U8, n), *z = dvec_new(env, "shifted", DOME_U8, n);
    dvec_fill(x, 3);
    expect(env, "the sum", dvec_sum_i64(x), (int64_t)(3 * n));

    /* Marks at the ends and where a signed and an unsigned 32-bit index would overflow. */
    const uint64_t marks[] = {0, n / 2, (UINT64_C(1) << 31) - 1, UINT64_C(1) << 31, n - 1};
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    int nmarks = 0;
    int64_t added = 0;
    for (size_t k = 0; k < G_N_ELEMENTS(marks); k++) {
        if (marks[k] >= n)
            continue;
        nmarks++;
        added += 100 + (int64_t)k - 3;
        for (int s = 0; s < 2; s++)
            if (marks[k] >= spans[s].first && marks[k] - spans[s].first < spans[s].count)
                ((uint8_t *)spans[s].data)[marks[k] - spans[s].first] = (uint8_t)(100 + k);
    }
    expect(env, "the sum with marks", dvec_sum_i64(x), (int64_t)(3 * n) + added);
    expect(env, "the place of the largest", (int64_t)largest(x), (int64_t)(n - 1));

    /* The largest, which is the last, comes to the front; the others go up by one. */
    dvec_roll(z, x, 1);
    expect(env, "the place of the largest after the shift", (int64_t)largest(z), 0);
    expect(env, "the sum after the shift", dvec_sum_i64(z), (int64_t)(3 * n) + added);
    dvec_local_spans_const(z, spans);
    int64_t found = 0;
    for (size_t k = 0; k < G_N_ELEMENTS(marks); k++)
        for (int s = 0; s < 2 && marks[k] < n; s++) {
            uint64_t place = (marks[k] + 1) % n;
            if (place >= spans[s].first && place - spans[s].first < spans[s].count)
                found += ((const uint8_t *)spans[s].data)[place - spans[s].first] == 100 + k;
        }
    if (dome__allreduce(env->transport, DOME_I64, &found, 1, dome__combine_sum_i64, NULL))
        dome_abort(env, "cannot reduce: %s", env->transport->reason);
    expect(env, "the number of marks found", found, nmarks);
    dvec_free(z);
    dvec_free(x);
}

/* The tasks pretend to have different formats, so that all messages between them are portable. */
static void extremes(dome_env *env)
{
    static const int64_t values[] = {INT64_MIN, INT64_MIN + 1, -7, -1, 0, 1, INT64_C(1) << 31, INT64_C(1) << 40, INT64_MAX};
    enum { COUNT = G_N_ELEMENTS(values) };
    dome_transport *t = env->transport;
    int *formats = t->group.data_format;
    t->group.data_format = g_new(int, t->group.size);
    for (int r = 0; r < t->group.size; r++)
        t->group.data_format[r] = r;
    int64_t *all = g_new0(int64_t, COUNT * (size_t)t->group.size);
    uint64_t unsigned_values[COUNT], before = t->account.bytes;
    for (int i = 0; i < COUNT; i++)
        unsigned_values[i] = (uint64_t)values[i];
    if (dome__allgather(t, DOME_I64, values, COUNT, all))
        dome_abort(env, "cannot gather: %s", t->reason);
    for (size_t i = 0; i < COUNT * (size_t)t->group.size; i++)
        expect(env, "an integer", all[i], values[i % COUNT]);
    memset(all, 0, COUNT * sizeof *all);
    if (t->group.rank == 0)
        memcpy(all, unsigned_values, sizeof unsigned_values);
    if (dome__bcast(t, 0, DOME_U64, all, COUNT))
        dome_abort(env, "cannot broadcast: %s", t->reason);
    expect(env, "the broadcast", memcmp(all, unsigned_values, sizeof unsigned_values), 0);
    if (t->group.size > 1 && t->group.rank == 0)
        expect(env, "whether bytes travelled", t->account.bytes > before, 1);
    g_free(t->group.data_format);
    t->group.data_format = formats;
    g_free(all);

    dscalar *s = dscalar_new(env, "extreme", DOME_I64);
    dscalar_set_i64(s, INT64_MIN);
    expect(env, "the scalar", dscalar_get_i64(s), INT64_MIN);
    dvec *x = dvec_new(env, "extremes", DOME_I64, 1000);
    int64_t value = INT64_MIN;
    dvec_fill_value(x, &value);
    expect(env, "the smallest", dvec_min_value_i64(x), INT64_MIN);
    value = INT64_MAX;
    dvec_fill_value(x, &value);
    expect(env, "the largest", dvec_max_value_i64(x), INT64_MAX);
    dome_barrier(env);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *mode = argc > 1 ? argv[1] : "extremes";
    uint64_t bytes = argc > 2 ? g_ascii_strtoull(argv[2], NULL, 10) : 0;
    bool skipped = false;
    if (!strcmp(mode, "message")) {
        bytes = bytes ? bytes : UINT64_C(3) << 30;
        skipped = !enough(env, 3 * bytes + (UINT64_C(1) << 29));
        if (!skipped)
            message(env, bytes);
    } else if (!strcmp(mode, "vector")) {
        bytes = bytes ? bytes : (UINT64_C(1) << 31) + 1000;
        skipped = !enough(env, 4 * bytes + (UINT64_C(1) << 29));
        if (!skipped)
            vector(env, bytes);
    } else if (!strcmp(mode, "extremes")) {
        extremes(env);
    } else {
        dome_abort(env, "no such test: %s", mode);
    }
    if (!skipped)
        dome_print(env, "ok %s on %d tasks\n", mode, dome_size(env));
    int status = dome_finalize(env);
    return skipped ? 77 : status;
}
