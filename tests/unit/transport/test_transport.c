#include "collective_checks.h"
#include "core/type_private.h"
#include "local_transport.h"
#include "transport/agree.h"
#include "transport/transport.h"

/* A struct type that needs no environment: char, double, 3 shorts, with padding between. */
typedef struct sample {
    uint8_t tag;
    double value;
    int16_t small[3];
} sample;

static dome_field sample_fields[] = {
    {"tag", &dome__basic_types[DOME_KIND_U8], offsetof(sample, tag), 1},
    {"value", &dome__basic_types[DOME_KIND_F64], offsetof(sample, value), 1},
    {"small", &dome__basic_types[DOME_KIND_I16], offsetof(sample, small), 3},
};

static const struct dome_type_desc sample_type = {
    .name = "sample",
    .kind = DOME_KIND_STRUCT,
    .size = sizeof(sample),
    .portable = 15,
    .nfields = 3,
    .fields = sample_fields,
};

static int battery(dome_transport *t, void *ctx)
{
    const dome_type types[] = {&sample_type, DOME_F64, DOME_I16, DOME_U8, DOME_F32, DOME_C128};
    return check_collectives(t, types, g_test_slow() ? G_N_ELEMENTS(types) : 2, *(uint64_t *)ctx);
}

static void test_collectives(void)
{
    for (int size = 1; size <= 8; size += g_test_slow() ? 1 : 3) {
        uint64_t seed = 1995 + (uint64_t)size;
        g_assert_cmpint(local_run(size, NULL, battery, &seed), ==, 0);
    }
}

static void test_collectives_mixed(void)
{
    static const int formats[] = {1, 2, 2, 1, 3};
    for (int size = 2; size <= 5; size += g_test_slow() ? 1 : 3) {
        uint64_t seed = 34 + (uint64_t)size;
        g_assert_cmpint(local_run(size, formats, battery, &seed), ==, 0);
    }
}

static int many(dome_transport *t, void *ctx)
{
    (void)ctx;
    check c = {.t = t, .random = 5, .type = DOME_F64};
    check_barrier(&c);
    check_bcast(&c, 11, 3);
    check_reduce(&c, 17, 3, false);
    check_reduce(&c, 0, 3, true);
    check_gather(&c, 21, 2, false);
    check_gather(&c, 0, 2, true);
    check_gatherv(&c, 13, false);
    check_gatherv(&c, 0, true);
    check_alltoallv(&c, false);
    return c.failures;
}

static void test_many_tasks(void)
{
    g_assert_cmpint(local_run(23, NULL, many, NULL), ==, 0);
}

/* A message that is converted in several pieces, with extreme values where the pieces meet and random ones elsewhere. */
static int long_portable(dome_transport *t, void *ctx)
{
    const uint64_t count = (9u << 20) / 8, edge = (8u << 20) / 8, step = 1021;
    int64_t *data = g_new0(int64_t, count);
    (void)ctx;
    if (t->group.rank == 0) {
        for (uint64_t i = 0; i < count; i += step)
            data[i] = (int64_t)(i * UINT64_C(0x9e3779b97f4a7c15));
        data[0] = data[edge] = data[count - 1] = INT64_MIN;
        data[edge - 1] = INT64_MAX;
    }
    int status = t->group.rank == 0 ? dome__send(t, 1, DOME_CHANNEL_DATA, DOME_I64, data, count)
                                    : dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_I64, data, count);
    g_assert_cmpint(status, ==, DOME_OK);
    g_assert_cmpuint(t->account.messages, ==, t->group.rank == 0 ? 2 : 0);
    if (t->group.rank == 1) {
        for (uint64_t i = step; i < count; i += step)
            g_assert_cmpint(data[i], ==, (int64_t)(i * UINT64_C(0x9e3779b97f4a7c15)));
        g_assert_cmpint(data[1], ==, 0);
        g_assert_cmpint(data[0], ==, INT64_MIN);
        g_assert_cmpint(data[edge - 1], ==, INT64_MAX);
        g_assert_cmpint(data[edge], ==, INT64_MIN);
        g_assert_cmpint(data[count - 1], ==, INT64_MIN);
    }
    g_free(data);
    return 0;
}

static void test_long_portable(void)
{
    static const int formats[] = {1, 2};
    g_assert_cmpint(local_run(2, formats, long_portable, NULL), ==, 0);
}

/* Data between tasks of different formats is big-endian, whatever this machine is. */
static int golden(dome_transport *t, void *ctx)
{
    (void)ctx;
    if (t->group.rank == 0) {
        const int64_t values[] = {INT64_MIN, -7, INT64_C(1) << 40};
        t->stamp = (dome_stamp){.sequence = 3, .history = 4, .object = 5, .operation = 6};
        t->group.flag = true;
        g_assert_cmpint(dome__send(t, 1, DOME_CHANNEL_DATA, DOME_I64, values, 3), ==, DOME_OK);
        return 0;
    }
    static const uint8_t head_expected[] = {'d',
                                            'o',
                                            'm',
                                            'e',
                                            2,
                                            DOME_PORTABLE,
                                            DOME_KIND_I64,
                                            DOME_CHANNEL_DATA,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            8,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            3,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            3,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            4,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            5,
                                            0,
                                            0,
                                            0,
                                            6,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            0,
                                            1};
    static const uint8_t data_expected[] = {0x80, 0,    0,    0,    0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
                                            0xff, 0xff, 0xff, 0xf9, 0, 0, 1, 0, 0,    0,    0,    0};
    uint8_t head_bytes[sizeof head_expected], data[sizeof data_expected];
    uint64_t bytes;
    g_assert_cmpint(t->provider.ops->recv_head(&t->provider, 0, DOME_CHANNEL_DATA, head_bytes, sizeof head_bytes, &bytes), ==,
                    DOME_OK);
    g_assert_cmpuint(bytes, ==, sizeof data);
    g_assert_cmpint(t->provider.ops->recv_data(&t->provider, 0, DOME_CHANNEL_DATA, data, bytes), ==, DOME_OK);
    g_assert_cmpmem(head_bytes, sizeof head_bytes, head_expected, sizeof head_expected);
    g_assert_cmpmem(data, sizeof data, data_expected, sizeof data_expected);
    return 0;
}

static void test_golden(void)
{
    static const int formats[] = {1, 2};
    g_assert_cmpint(local_run(2, formats, golden, NULL), ==, 0);
}

static char *describe_side(dome_transport *t, int rank, const dome_stamp *stamp)
{
    (void)t;
    return g_strdup_printf("rank %d does %u", rank, (unsigned)stamp->operation);
}

/* Each disagreement is detected, named, and leaves the next message readable. */
static int mismatches(dome_transport *t, void *ctx)
{
    const dome_stamp agreed = {.sequence = 9, .history = 77, .object = 2, .operation = 4};
    double values[3] = {1, 2, 3};
    (void)ctx;
    t->describe = describe_side;
    if (t->group.rank == 0) {
        t->stamp = (dome_stamp){.sequence = 9, .history = 78, .object = 2, .operation = 5};
        g_assert_cmpint(dome__send(t, 1, DOME_CHANNEL_DATA, DOME_F64, values, 3), ==, DOME_OK);
        t->stamp = agreed;
        t->stamp.history++;
        g_assert_cmpint(dome__send(t, 1, DOME_CHANNEL_DATA, DOME_F64, values, 3), ==, DOME_OK);
        t->stamp = agreed;
        g_assert_cmpint(dome__send(t, 1, DOME_CHANNEL_DATA, DOME_I64, values, 3), ==, DOME_OK);
        g_assert_cmpint(dome__send(t, 1, DOME_CHANNEL_DATA, DOME_F64, values, 2), ==, DOME_OK);
        g_assert_cmpint(dome__send(t, 1, DOME_CHANNEL_DATA, DOME_F64, values, 3), ==, DOME_OK);
        g_assert_cmpint(dome__send(t, 0, DOME_CHANNEL_DATA, DOME_F64, values, 3), ==, DOME_ERR_ARGUMENT);
        g_assert_cmpint(dome__send(t, 2, DOME_CHANNEL_DATA, DOME_F64, values, 3), ==, DOME_ERR_ARGUMENT);
        return 0;
    }
    double got[3] = {0, 0, 0};
    t->stamp = agreed;
    g_assert_cmpint(dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_F64, got, 3), ==, DOME_ERR_MISMATCH);
    g_assert_nonnull(strstr(t->reason, "rank 0 does 5"));
    g_assert_nonnull(strstr(t->reason, "rank 1 does 4"));
    g_assert_cmpint(dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_F64, got, 3), ==, DOME_ERR_MISMATCH);
    g_assert_nonnull(strstr(t->reason, "other arguments"));
    g_assert_cmpint(dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_F64, got, 3), ==, DOME_ERR_MISMATCH);
    g_assert_nonnull(strstr(t->reason, "f64"));
    g_assert_cmpint(dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_F64, got, 3), ==, DOME_ERR_MISMATCH);
    g_assert_nonnull(strstr(t->reason, "2 elements"));
    g_assert_cmpfloat(got[0], ==, 0);
    g_assert_cmpint(dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_F64, got, 3), ==, DOME_OK);
    g_assert_cmpfloat(got[2], ==, 3);
    return 0;
}

static void test_mismatches(void)
{
    g_assert_cmpint(local_run(2, NULL, mismatches, NULL), ==, 0);
}

/* Heads that no Dome of this version sends. */
static int wrong_heads(dome_transport *t, void *ctx)
{
    static const uint8_t good[60] = {
        'd', 'o', 'm', 'e', 2, DOME_NATIVE, DOME_KIND_F64, DOME_CHANNEL_DATA, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 2};
    static const struct {
        int byte;
        uint8_t value;
    } damage[] = {{0, 'D'},   {4, 1}, {5, DOME_PORTABLE}, {7, DOME_CHANNEL_CONTROL}, {23, 3}, {23, 1}, {23, 0},
                  {16, 0xff}, {55, 1}};
    const double values[2] = {1, 2};
    double got[2] = {0, 0};
    (void)ctx;
    for (size_t k = 0; k < G_N_ELEMENTS(damage); k++)
        if (t->group.rank == 0) {
            uint8_t head_bytes[sizeof good];
            memcpy(head_bytes, good, sizeof good);
            head_bytes[damage[k].byte] = damage[k].value;
            g_assert_cmpint(t->provider.ops->send(&t->provider, 1, DOME_CHANNEL_DATA,
                                                  &(dome_packet){head_bytes, sizeof head_bytes, values, sizeof values}),
                            ==, DOME_OK);
        } else {
            void *data;
            uint64_t count;
            g_assert_cmpint(dome__recv_new(t, 0, DOME_CHANNEL_DATA, DOME_F64, &data, &count), !=, DOME_OK);
            g_assert_null(data);
        }
    if (t->group.rank == 0) {
        g_assert_cmpint(
            t->provider.ops->send(&t->provider, 1, DOME_CHANNEL_DATA, &(dome_packet){good, sizeof good, values, sizeof values}),
            ==, DOME_OK);
        return 0;
    }
    g_assert_cmpint(dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_F64, got, 2), ==, DOME_OK);
    g_assert_cmpfloat(got[1], ==, 2);
    return 0;
}

static void test_wrong_heads(void)
{
    g_assert_cmpint(local_run(2, NULL, wrong_heads, NULL), ==, 0);
}

/* A lost task is an error, and is not waited for. */
static int lost(dome_transport *t, void *ctx)
{
    (void)ctx;
    if (t->group.rank == 1)
        return 0;
    g_assert_cmpint(dome__barrier(t), ==, DOME_ERR_LOST);
    return 0;
}

static void test_lost(void)
{
    g_assert_cmpint(local_run(2, NULL, lost, NULL), ==, 0);
}

/* A relay that began in different operations fails, and stays failed. */
static int disagreeing(dome_transport *t, void *ctx)
{
    (void)ctx;
    dome_relay *relay = dome__relay_new(t, DOME_RELAY_BY_HOSTS);
    t->stamp = (dome_stamp){.sequence = 7, .history = 1 + (uint64_t)t->group.rank};
    int status = dome__relay_begin(relay, (double[]){3}, (uint64_t[]){1, 1});
    if (status != DOME_OK) /* the other task's message has arrived already */
        g_assert_true(t->group.rank == 0 && status == DOME_ERR_MISMATCH);
    for (int k = 0; k < 2 && t->group.rank == 0; k++)
        g_assert_cmpint(dome__relay_advance(relay, true), ==, DOME_ERR_MISMATCH);
    dome__relay_free(relay);
    return 0;
}

static void test_disagreeing_relay(void)
{
    g_assert_cmpint(local_run(2, NULL, disagreeing, NULL), ==, 0);
}

/* Of the tasks whose bit is set in *(unsigned *)ctx each has a text of its own length. */
static int text_of_lowest(dome_transport *t, void *ctx)
{
    const unsigned have = *(unsigned *)ctx;
    const int rank = t->group.rank, lowest = have ? __builtin_ctz(have) : -1;
    char *text = have >> rank & 1 ? g_strnfill((gsize)rank * 700, (char)('a' + rank)) : NULL;
    char *right = have ? g_strnfill((gsize)lowest * 700, (char)('a' + lowest)) : NULL;
    int from = -1;
    g_assert_cmpint(dome__agree_text(t, &text, &from), ==, DOME_OK);
    g_assert_cmpstr(text, ==, right);
    g_assert_cmpint(from, ==, lowest);
    g_free(text);
    g_free(right);
    return 0;
}

static void test_text_of_lowest(void)
{
    for (unsigned have = 0; have < 8; have++)
        g_assert_cmpint(local_run(3, NULL, text_of_lowest, &have), ==, 0);
}

/* A task whose communication fails keeps its own text. */
static int text_without_others(dome_transport *t, void *ctx)
{
    (void)ctx;
    if (t->group.rank == 1)
        return 0;
    char *text = g_strdup("mine");
    g_assert_cmpint(dome__agree_text(t, &text, NULL), ==, DOME_ERR_LOST);
    g_assert_cmpstr(text, ==, "mine");
    g_free(text);
    return 0;
}

static void test_text_without_others(void)
{
    g_assert_cmpint(local_run(2, NULL, text_without_others, NULL), ==, 0);
}

static void test_self(void)
{
    dome_transport *t = dome__transport_self.open(NULL);
    g_assert_cmpstr(t->provider.ops->name, ==, "self");
    g_assert_cmpint(t->group.size, ==, 1);
    g_assert_cmpint(dome__barrier(t), ==, DOME_OK);
    g_assert_cmpint(dome__bcast(t, 0, DOME_U8, NULL, 0), ==, DOME_OK);
    g_assert_cmpint(dome__bcast(t, 1, DOME_U8, NULL, 0), ==, DOME_ERR_ARGUMENT);
    g_assert_cmpint(dome__send(t, 0, DOME_CHANNEL_DATA, DOME_U8, NULL, 0), ==, DOME_ERR_ARGUMENT);
    uint64_t bytes;
    g_assert_cmpint(t->provider.ops->recv_head(&t->provider, 1, DOME_CHANNEL_DATA, NULL, 0, &bytes), ==, DOME_ERR_COMM);
    const dome_type types[] = {DOME_F64, &sample_type};
    g_assert_cmpint(check_collectives(t, types, G_N_ELEMENTS(types), 1), ==, 0);
    g_assert_cmpuint(t->account.messages, ==, 0);
    g_assert_cmpuint(t->account.wait_ns, ==, 0);
    dome__transport_free(t);
    dome__transport_free(NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/transport/self", test_self);
    g_test_add_func("/transport/golden", test_golden);
    g_test_add_func("/transport/mismatches", test_mismatches);
    g_test_add_func("/transport/wrong_heads", test_wrong_heads);
    g_test_add_func("/transport/lost", test_lost);
    g_test_add_func("/transport/text-of-lowest", test_text_of_lowest);
    g_test_add_func("/transport/text-without-others", test_text_without_others);
    g_test_add_func("/transport/disagreeing-relay", test_disagreeing_relay);
    g_test_add_func("/transport/long-portable", test_long_portable);
    g_test_add_func("/collectives/equal", test_collectives);
    g_test_add_func("/collectives/mixed", test_collectives_mixed);
    g_test_add_func("/collectives/many", test_many_tasks);
    return g_test_run();
}
