/* The last operations of a task as text, and the names of their objects. */
#include "balance/balance_operations.h"
#include "comm/comm_operations.h"
#include "core/call_log.h"
#include "core/operation.h"
#include "objects/dvec_operations.h"
#include "program/operations.h"
#include "wire/call_log_frame.h"
#include "wire/wire.h"

#include <pthread.h>
#include <string.h>

static void test_names_go(void)
{
    dome_names *names = dome__names_new();
    dome__names_keep(names, 1, "stays");
    for (uint64_t k = 2; k < 3000; k++) {
        char text[32];
        g_snprintf(text, sizeof text, "text %d", (int)k);
        dome__names_recall(names, k, text);
    }
    char *first = dome__names_find(names, 1), *old = dome__names_find(names, 2), *new = dome__names_find(names, 2999);
    g_assert_cmpstr(first, ==, "stays");
    g_assert_null(old);
    g_assert_cmpstr(new, ==, "text 2999");
    g_free(first);
    g_free(new);
    dome__names_drop(names, 1);
    dome__names_drop(names, 1);
    first = dome__names_find(names, 1); /* for a while */
    g_assert_cmpstr(first, ==, "stays");
    g_free(first);
    dome__names_free(names);
}

enum { ROUNDS = 20000 };

static void *read_names(void *argument)
{
    dome_names *names = argument;
    for (int k = 0; k < ROUNDS; k++) {
        char *name = dome__names_find(names, 7);
        if (name)
            g_assert_cmpstr(name, ==, "an object that comes and goes");
        g_free(name);
    }
    return NULL;
}

/* The watcher's thread asks for names while the program frees objects. */
static void test_names_of_threads(void)
{
    dome_names *names = dome__names_new();
    pthread_t reader;
    g_assert_cmpint(pthread_create(&reader, NULL, read_names, names), ==, 0);
    for (int k = 0; k < ROUNDS; k++) {
        dome__names_keep(names, 7, "an object that comes and goes");
        dome__names_drop(names, 7);
        for (uint64_t other = 100; k % 100 == 0 && other < 700; other++)
            dome__names_recall(names, other, "others push it out");
    }
    pthread_join(reader, NULL);
    dome__names_free(names);
}

static void check_call(dome_names *names, const dome_call_log_entry *e, const char *text, const char *arguments)
{
    char **pairs, *call = dome__call_log_call(names, e, &pairs), *all = g_strjoinv(" ", pairs);
    g_assert_cmpstr(call, ==, text);
    if (arguments)
        g_assert_cmpstr(all, ==, arguments);
    g_strfreev(pairs);
    g_free(all);
    g_free(call);
}

static void test_calls(void)
{
    dome_names *names = dome__names_new();
    dome__names_keep(names, 1, "x");
    dome__names_keep(names, 2, "y");
    dome__names_recall(names, 77, "z");
    dome__names_recall(names, 78, "f64");
    check_call(names, &(dome_call_log_entry){.operation = DOME_OP_BARRIER}, "dome_barrier", "");
    check_call(names,
               &(dome_call_log_entry){.operation = DOME_OP_DVEC_FILL, .object = 1, .count = 1, .word = {dome__double_word(0.1)}},
               "dvec_fill of 'x'", "value 0.1");
    check_call(names, &(dome_call_log_entry){.operation = DOME_OP_DVEC_ADD, .object = 1, .count = 2, .word = {2, 1}},
               "dvec_add of 'x'", "x 'y' y 'x'");
    check_call(names, &(dome_call_log_entry){.operation = DOME_OP_DVEC_ROLL, .object = 2, .count = 2, .word = {1, (uint64_t)-3}},
               "dvec_roll of 'y'", "x 'x' distance -3");
    check_call(names, &(dome_call_log_entry){.operation = DOME_OP_DVEC_NEW, .count = 6, .word = {77, 100, 78, 2, 1, 0}},
               "dvec_new of 'z'", "name 'z' length 100 type 'f64' distribution DOME_WHOLE width 1 block 0");
    check_call(names,
               &(dome_call_log_entry){.operation = DOME_OP_BALANCE, .object = 1, .count = 2, .word = {DOME_OP_DVEC_SUM, 16}},
               "dvec_sum of 'x'", NULL);
    check_call(names,
               &(dome_call_log_entry){.operation = DOME_OP_DVEC_MAP, .object = 1, .count = 7, .word = {6, 1, 2, 0, 1, 255}},
               "dvec_map of 'x'", "inputs 6 input 'x' input 'y' input NULL input 'x' one of the further arguments #ff");
    check_call(names, &(dome_call_log_entry){.operation = 100000, .count = 1, .word = {3}}, "an unknown operation",
               "arguments #3");
    dome__names_free(names);
}

/* Every operation's description can be read. */
static void test_all_described(void)
{
    dome_names *names = dome__names_new();
    g_assert_cmpuint(dome__operation_count(), >, 250);
    for (uint32_t k = 0; k < dome__operation_count(); k++) {
        const dome_call_log_entry entry = {.operation = dome__operation_at(k), .object = 3, .count = DOME_CALL_LOG_WORDS};
        char **pairs;
        g_free(dome__call_log_call(names, &entry, &pairs));
        g_assert_cmpuint(g_strv_length(pairs), ==, 2 * DOME_CALL_LOG_WORDS);
        g_strfreev(pairs);
    }
    dome__names_free(names);
}

static void test_frame(void)
{
    dome_call_log *call_log = dome__call_log_new();
    for (uint64_t s = 1; s <= 1000; s++)
        dome__call_log_note(call_log, s, s * s, DOME_OP_DVEC_RANDOM, 0, &s, 1);
    GArray *calls = dome__call_log_frame(call_log, 1000);
    g_assert_cmpuint(calls->len, ==, DOME_CALL_LOG_LENGTH);
    GByteArray *frame = dome__wire_frame(&(dome_wire_message){.kind = DOME_WIRE_CALL_LOG, .calls = calls});
    dome_wire_message message;
    g_assert_cmpint(dome__wire_next(frame, NULL, &message), ==, 1);
    g_assert_cmpint(message.kind, ==, DOME_WIRE_CALL_LOG);
    g_assert_cmpuint(message.calls->len, ==, DOME_CALL_LOG_LENGTH);
    for (guint i = 0; i < message.calls->len; i++) {
        const dome_wire_call *call = &g_array_index(message.calls, dome_wire_call, i);
        uint64_t s = 1000 - i;
        g_assert_cmpuint(call->sequence, ==, s);
        g_assert_cmpuint(call->history, ==, s * s);
        g_assert_cmpstr(call->text, ==, "dvec_random");
        g_assert_cmpuint(g_strv_length(call->arguments), ==, 2);
        g_assert_cmpstr(call->arguments[0], ==, "seed");
        g_assert_cmpuint(g_ascii_strtoull(call->arguments[1], NULL, 10), ==, s);
    }
    dome__wire_clear(&message);
    g_array_unref(calls);
    g_byte_array_unref(frame);
    dome__call_log_free(call_log);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dome__operations_add();
    g_test_add_func("/call-log/names-go", test_names_go);
    g_test_add_func("/call-log/names-of-threads", test_names_of_threads);
    g_test_add_func("/call-log/calls", test_calls);
    g_test_add_func("/call-log/all-described", test_all_described);
    g_test_add_func("/call-log/frame", test_frame);
    return g_test_run();
}
