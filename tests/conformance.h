/* The test battery that every distributed structure must pass.
 *
 * A structure supplies a short main that makes an environment, fills in a `conformance` and calls conformance_run for each kind
 * of object it has (types, sizes, distributions). Run it with several numbers of tasks. The battery uses only public functions,
 * so it serves structures outside this tree as well. docs/adding-a-structure.md has an example.
 *
 * A failed check ends the program with a line that states what was expected (dome_abort). */
#ifndef DOME_TESTS_CONFORMANCE_H
#define DOME_TESTS_CONFORMANCE_H

#include <dome/dome.h>
#include <dome/structure.h>

typedef struct conformance {
    const char *what; /* for messages: "dvec of f64" */

    /* Makes an object called name with known content, and returns its handle. Called with the same arguments on every task. In a
     * restarting program (dome_is_restarting) it must leave the content that the checkpoint gave the object. */
    dome_object *(*make)(dome_env *env, const char *name, void *ctx);

    /* Whether this task's part has the content that make gave it. Must not communicate. */
    bool (*check)(dome_object *object, void *ctx);

    /* Changes some element of every block, by the structure's own functions. check must detect it on every task that has a block.
     * Called with the same arguments on every task. */
    void (*alter)(dome_object *object, void *ctx);

    void *ctx;

    int layouts; /* number of additional random layouts to which a dynamic object is moved; it is checked in each */
} conformance;

/* Runs all tests. seed selects the random layouts and must be equal on all tasks. */
void conformance_run(dome_env *env, const conformance *c, uint64_t seed);

/* Tests checkpoints: makes an object called c->what, which is kept, and checks its content. A program calls this for each kind of
 * object, then dome_checkpoint; the first time with --dome-checkpoint-dir and --dome-checkpoint-every 1, and then with
 * --dome-restart on other numbers of tasks. */
void conformance_keep(dome_env *env, const conformance *c);

/* One of the two, for programs that do both. */
static inline void conformance_test(dome_env *env, const conformance *c, bool keep, uint64_t seed)
{
    if (keep)
        conformance_keep(env, c);
    else
        conformance_run(env, c, seed);
}

#endif
