/* The battery that every distributed structure must pass.
 *
 * A structure supplies a short main that makes an environment, fills in a `conformance` and calls conformance_run for each kind
 * of object it has (types, sizes, distributions). Run it with several numbers of tasks. Only public functions are used here, so
 * the battery serves structures outside this tree as well. docs/adding-a-structure.md has an example.
 *
 * What fails ends the program with one line that says what was expected (dome_abort). */
#ifndef DOME_TESTS_CONFORMANCE_H
#define DOME_TESTS_CONFORMANCE_H

#include <dome/dome.h>
#include <dome/structure.h>

typedef struct conformance {
    const char *what; /* for messages: "dvec of f64" */

    /* Makes an object called name with known content, and returns its handle. Called alike on every task. While the program
     * restarts (dome_is_restarting) it leaves the content as it comes from the checkpoint. */
    dome_object *(*make)(dome_env *env, const char *name, void *ctx);

    /* Whether this task's part, and all of it, is as make left it. Must not communicate. */
    bool (*check)(dome_object *object, void *ctx);

    /* Changes some element of every block, by the structure's own functions. check must notice wherever there is a block.
     * Called alike on every task. */
    void (*alter)(dome_object *object, void *ctx);

    void *ctx;

    int layouts; /* random ones that a dynamic object goes through besides, and looks at itself in each */
} conformance;

/* Runs everything. seed chooses the random layouts and must be equal on all tasks. */
void conformance_run(dome_env *env, const conformance *c, uint64_t seed);

/* Checkpoints: makes an object called c->what, which stays, and looks whether it is as made. A program calls it for each kind of
 * object, then dome_checkpoint; the first time with --dome-checkpoint-dir and --dome-checkpoint-every 1, and then with
 * --dome-restart on other numbers of tasks. */
void conformance_keep(dome_env *env, const conformance *c);

#endif
