/* The table of operations: the library's parts are in it, structures' operations follow without a limit, and other threads may
 * name operations while it grows. */
#include "core/environment.h"
#include "core/operation.h"
#include "kernels/elementwise.h"
#include "objects/dvec_operations.h"

#include <dome/dome.h>
#include <dome/structure.h>

#include <string.h>

enum { MANY = 1500 };

static dome_env *env;
static char *program;

static void begin(void)
{
    char *arguments[] = {program, "--dome-transport", "self", NULL}, **argv = arguments;
    int argc = 3;
    env = dome_init(&argc, &argv);
    dome_set_errors_return(env);
}

/* Every operation has a code and a name of its own. */
static void test_library(void)
{
    GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal), *codes = g_hash_table_new(NULL, NULL);
    g_assert_cmpuint(dome__operation_count(), >, 250);
    for (uint32_t k = 0; k < dome__operation_count(); k++) {
        const uint32_t code = dome__operation_at(k);
        char *name = (char *)(uintptr_t)dome__operation_name(code);
        g_assert_cmpuint(code, <, dome__operation_limit());
        g_assert_cmpstr(name, !=, "an unknown operation");
        g_assert_true(g_hash_table_add(names, name));
        g_assert_true(g_hash_table_add(codes, GUINT_TO_POINTER(code)));
    }
    g_hash_table_unref(names);
    g_hash_table_unref(codes);
    g_assert_cmpuint(dome__operation_at(0), ==, DOME_OP_NONE);
    g_assert_cmpuint(dome__operation_registered(), ==, 0);
}

static void test_rows(void)
{
    g_assert_cmpstr(dome__operation_name(DOME_OP_DVEC_SUM), ==, "dvec_sum");
    g_assert_cmpstr(dome__operation_name(DOME_OP_DVEC_AND), ==, "dvec_and");
    g_assert_cmpstr(dome__operation_arguments(DOME_OP_DVEC_ADDS), ==, "x:v a:f");
    g_assert_true(dome__operation_has(DOME_OP_DVEC_AND, DOME_OPERATION_DEFERRED));
    g_assert_true(dome__operation_has(DOME_OP_DVEC_SUM, DOME_OPERATION_MOVES));
    g_assert_false(dome__operation_has(DOME_OP_DVEC_SUM, DOME_OPERATION_DEFERRED));
    g_assert_cmpuint(dome__elementwise_number(DOME_OP_DVEC_FILL), ==, DOME_ELEMENTWISE_FILL);
    g_assert_cmpuint(dome__elementwise_number(DOME_OP_DVEC_RANDOM_NORMAL), ==, DOME_ELEMENTWISE_RANDOM_NORMAL);
    g_assert_cmpuint(dome__elementwise_number(DOME_OP_DVEC_SUM), ==, DOME_ELEMENTWISE_NONE);
    g_assert_cmpuint(dome__elementwise_number(DOME_OP_NONE), ==, DOME_ELEMENTWISE_NONE);
    for (uint32_t code = DOME_PART_DVEC_END; code < DOME_PART_DVEC_END + 2; code++)
        g_assert_cmpstr(dome__operation_name(code), ==, "an unknown operation");
    g_assert_cmpstr(dome__operation_name(UINT32_MAX), ==, "an unknown operation");
    g_assert_cmpstr(dome__operation_arguments(UINT32_MAX), ==, "");
}

/* ---- structures' operations ---- */

static int stop;

/* Names operations as a watcher does. Returns the number of names that were wrong. */
static void *name_all(void *data)
{
    uintptr_t wrong = 0;
    (void)data;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        const uint32_t count = dome__operation_registered();
        for (uint32_t k = 0; k < MANY; k++) {
            char expected[32];
            const char *name = dome__operation_name(DOME_OPERATION_REGISTERED + k);
            g_snprintf(expected, sizeof expected, "number_%u", k);
            wrong += strcmp(name, expected) != 0 && (k < count || strcmp(name, "an unknown operation") != 0);
        }
    }
    return GUINT_TO_POINTER(wrong);
}

static void call(dome_operation_code code)
{
    dome_operation *op = dome_operation_begin(env, code, NULL, NULL, 0);
    g_assert_nonnull(op);
    g_assert_cmpint(dome_operation_end(op, DOME_OK), ==, DOME_OK);
}

static void test_many(void)
{
    const uint32_t before = dome__operation_count();
    __atomic_store_n(&stop, 0, __ATOMIC_RELEASE);
    GThread *reader = g_thread_new("reader", name_all, NULL);
    for (uint32_t k = 0; k < MANY; k++) {
        char name[32];
        g_snprintf(name, sizeof name, "number_%u", k);
        const unsigned flags = k % 2 ? DOME_OPERATION_MOVES : DOME_OPERATION_PLAIN;
        g_assert_cmpuint(dome_operation_register(env, name, "", flags), ==, DOME_OPERATION_REGISTERED + k);
        g_assert_cmpuint(dome_operation_register(env, name, "", flags), ==, DOME_OPERATION_REGISTERED + k);
        call(DOME_OPERATION_REGISTERED + k);
        if (k % 100 == 0)
            g_usleep(1000);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    g_assert_cmpuint(GPOINTER_TO_UINT(g_thread_join(reader)), ==, 0);
    g_assert_cmpuint(dome__operation_registered(), ==, MANY);
    g_assert_cmpuint(dome__operation_count(), ==, before + MANY);
    for (uint32_t k = 0; k < MANY; k++) {
        const uint32_t code = DOME_OPERATION_REGISTERED + k;
        g_assert_cmpuint(dome__operation_at(before + k), ==, code);
        g_assert_cmpuint(dome__clock_entry_of(env, code)->count, ==, 1);
        g_assert_cmpint(dome__operation_has(code, DOME_OPERATION_MOVES), ==, k % 2);
    }
    g_assert_null(dome_operation_begin(env, DOME_OPERATION_REGISTERED + MANY, NULL, NULL, 0));
    g_assert_null(dome_operation_begin(env, DOME_OP_DVEC_SUM, NULL, NULL, 0));
    dome_error_clear(env);
}

/* They end with their environment, and the library's operations do not. */
static void test_again(void)
{
    g_assert_cmpint(dome_finalize(env), ==, 0);
    begin();
    g_assert_cmpuint(dome__operation_registered(), ==, 0);
    g_assert_cmpstr(dome__operation_name(DOME_OPERATION_REGISTERED), ==, "an unknown operation");
    test_library();
    test_rows();
    g_assert_cmpuint(dome_operation_register(env, "another", "", DOME_OPERATION_PLAIN), ==, DOME_OPERATION_REGISTERED);
    g_assert_false(dome__operation_has(DOME_OPERATION_REGISTERED + 1, DOME_OPERATION_MOVES));
    call(DOME_OPERATION_REGISTERED);
}

int main(int argc, char **argv)
{
    program = argv[0];
    g_test_init(&argc, &argv, NULL);
    begin();
    g_test_add_func("/operations/library", test_library);
    g_test_add_func("/operations/rows", test_rows);
    g_test_add_func("/operations/many", test_many);
    g_test_add_func("/operations/again", test_again);
    int failed = g_test_run();
    return dome_finalize(env) | failed;
}
