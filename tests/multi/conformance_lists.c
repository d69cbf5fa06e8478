/* The battery for the structure that docs/adding-a-structure.md explains: lists, in several numbers. */
#include "conformance.h"
#include "structure_lists.h"

#include <stdio.h>
#include <string.h>

/* List i has i % 5 values; the first lists are longer, so that blocks differ. */
static size_t length(size_t i)
{
    return i < 8 ? 40 - i : i % 5;
}

static double value(size_t i, size_t k)
{
    return (double)i + 1 / (double)(k + 1);
}

static void push(dome_env *env, lists *l, size_t i, double x)
{
    if (lists_push(l, i, x) != DOME_OK)
        dome_abort(env, "no value can be put into list %zu", i);
}

static dome_object *make(dome_env *env, const char *name, void *ctx)
{
    lists *l = lists_new(env, name, *(const size_t *)ctx);
    dome_span spans[2];
    int nspans = lists_local(l, spans);
    for (int s = 0; s < nspans && !dome_is_restarting(env); s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++)
            for (size_t k = 0; k < length(i); k++)
                push(env, l, i, value(i, k));
    return lists_object(l);
}

static bool check(dome_object *object, void *ctx)
{
    const lists *l = dome_object_content(object);
    dome_span spans[2];
    int nspans = lists_local(l, spans);
    (void)ctx;
    for (int s = 0; s < nspans; s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++) {
            size_t count;
            const double *values = lists_values(l, i, &count);
            if (count != length(i))
                return false;
            for (size_t k = 0; k < count; k++)
                if (values[k] != value(i, k))
                    return false;
        }
    return true;
}

/* Appends a value to every list. */
static void alter(dome_object *object, void *ctx)
{
    lists *l = dome_object_content(object);
    dome_span spans[2];
    int nspans = lists_local(l, spans);
    (void)ctx;
    for (int s = 0; s < nspans; s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++)
            push(dome_object_env(object), l, i, 0.5);
}

static void refused(dome_env *env, const char *name, const char *arguments, unsigned flags, dome_status status)
{
    if (dome_operation_register(env, name, arguments, flags) != 0 || dome_error_status(env) != status)
        dome_abort(env, "'%s' with \"%s\" and the flags %u: status %d", name, arguments, flags, dome_error_status(env));
}

/* There is no limit to the number of operations: each has a code of its own, and its calls and failures have its name. */
static void check_many_operations(dome_env *env, dome_operation_code before)
{
    enum { MANY = 700 };
    dome_operation_code code[MANY];
    char name[64], said[64];
    for (int k = 0; k < MANY; k++) {
        snprintf(name, sizeof name, "lists_number_%d", k);
        code[k] = dome_operation_register(env, name, "k:i", DOME_OPERATION_PLAIN);
        if (code[k] != (k ? code[k - 1] : before) + 1)
            dome_abort(env, "operation %d has the code %u: %s", k, code[k], dome_error_message(env));
    }
    for (int k = 0; k < MANY; k++) {
        uint64_t word = (uint64_t)k;
        dome_operation *op = dome_operation_begin(env, code[k], NULL, &word, 1);
        int status = dome_operation_fail(op, DOME_ERR_STATE, "no");
        snprintf(said, sizeof said, "lists_number_%d: no", k);
        if (dome_operation_end(op, status) != DOME_ERR_STATE || !strstr(dome_error_message(env), said))
            dome_abort(env, "operation %d fails with: %s", k, dome_error_message(env));
    }
    if (dome_operation_begin(env, code[MANY - 1] + 1, NULL, NULL, 0) || dome_error_status(env) != DOME_ERR_ARGUMENT)
        dome_abort(env, "an operation after the last one begins");
}

/* A program's own operations: registration, nesting and failures. */
static void check_operations(dome_env *env)
{
    dome_set_errors_return(env);
    dome_operation_code one = dome_operation_register(env, "lists_one", "x:v a_number:u", DOME_OPERATION_MOVES);
    dome_operation_code other = dome_operation_register(env, "lists_other", "", DOME_OPERATION_PLAIN);
    if (!one || !other || one == other ||
        dome_operation_register(env, "lists_one", "x:v a_number:u", DOME_OPERATION_MOVES) != one)
        dome_abort(env, "operations get the codes %u and %u", one, other);
    refused(env, "lists_one", "x:v", DOME_OPERATION_MOVES, DOME_ERR_NAME);
    refused(env, "lists_one", "x:v a_number:u", DOME_OPERATION_PLAIN, DOME_ERR_NAME);
    refused(env, "dvec_sum", "", DOME_OPERATION_PLAIN, DOME_ERR_NAME);
    refused(env, "", "", DOME_OPERATION_PLAIN, DOME_ERR_NAME);
    refused(env, "lists_bad", "x", DOME_OPERATION_PLAIN, DOME_ERR_ARGUMENT);
    refused(env, "lists_bad", "x:v y:z", DOME_OPERATION_PLAIN, DOME_ERR_ARGUMENT);
    refused(env, "lists_bad", "x:v", 64, DOME_ERR_ARGUMENT);
    if (dome_operation_begin(env, other + 1, NULL, NULL, 0) || dome_error_status(env) != DOME_ERR_ARGUMENT)
        dome_abort(env, "an operation that is not registered begins");

    check_many_operations(env, other);
    lists *l = lists_new(env, "l", 300);
    dvec *sums = dvec_new(env, "sums", DOME_F64, 300), *few = dvec_new(env, "few", DOME_F64, 299);
    if (lists_sums(sums, l) != DOME_OK || dvec_sum(sums) != 0)
        dome_abort(env, "empty lists have a sum");
    if (lists_sums(few, l) != DOME_ERR_SHAPE || !strstr(dome_error_message(env), "lists_sums of 'l': 'few' has no element"))
        dome_abort(env, "too few sums: %s", dome_error_message(env));
    uint64_t words[] = {dome_operation_object_word(dvec_object(sums)), 5};
    dome_operation *outer = dome_operation_begin(env, one, lists_object(l), words, 2);
    dome_operation *inner = dome_operation_begin(env, other, NULL, NULL, 0);
    dvec_fill(sums, 2);
    int status = dome_operation_fail(inner, DOME_ERR_STATE, "%d apples", 3);
    if (dome_operation_end(inner, status) != DOME_ERR_STATE || dvec_sum(sums) != 600 ||
        !strstr(dome_error_message(env), "lists_one of 'l': 3 apples"))
        dome_abort(env, "an operation inside of another one: %s", dome_error_message(env));
    if (dome_operation_end(outer, DOME_OK) != DOME_OK)
        dome_abort(env, "an operation does not end well");
    dome_env *none = NULL;
    if (dome_operation_register(none, "x", "", 0) || dome_operation_end(NULL, DOME_OK) != DOME_ERR_ARGUMENT)
        dome_abort(env, "NULL is taken");
    dvec_free(few);
    dvec_free(sums);
    lists_free(l);
    dome_error_clear(env);
}

/* For each of the lengths: ten thousand. */
enum { LAYOUTS = 1250 };

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    bool keep = argc > 1 && strcmp(argv[1], "keep") == 0;
    size_t lengths[] = {0, 1, 2, 7, 255, 256, 1000, 3000}, count = sizeof lengths / sizeof lengths[0];
    for (size_t t = 0; t < count; t++) {
        char what[64];
        snprintf(what, sizeof what, "%zu lists", lengths[t]);
        conformance c = {.what = what, .make = make, .check = check, .alter = alter, .ctx = &lengths[t], .layouts = LAYOUTS};
        conformance_test(env, &c, keep, t);
    }
    if (keep)
        dome_checkpoint(env);
    else
        check_operations(env);
    dome_print(env, "ok conformance of lists: %zu lengths, %d tasks\n", count, dome_size(env));
    return dome_finalize(env);
}
