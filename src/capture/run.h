/* The loop around the main of a captured program: it calls the program, saves it each time it returns captured, and calls it
 * again. */
#ifndef DOME_SRC_CAPTURE_RUN_H
#define DOME_SRC_CAPTURE_RUN_H

#include "capture/image_object.h"

#include <dome/env.h>

/* How programs of a kind run: those without calls of Dome (alone.c), and Dome programs of one task or many (parallel.c). */
typedef struct dome_capture_way {
    bool calls_dome;
    const char *without_image;                   /* message: a checkpoint has none */
    dome_env *(*start)(int *argc, char ***argv); /* calls dome_init */
    void (*restored)(void);                      /* after a restart, when globals, heap and functions are back */
    void (*begin)(void);                         /* before main is called for the first time */
    void (*save)(void);                          /* all functions have returned */
} dome_capture_way;

/* The files run.c, alone.c and parallel.c use these. */
typedef struct dome_capture_run {
    dome_env *env;
    dome_capture_image_object *image; /* NULL: a program that is never saved */
    bool active;                      /* main has been called, and has not returned */
} dome_capture_run;

/* The state of alone.c. */
typedef struct dome_capture_alone {
    GPtrArray *refusals; /* that have been told, the last ones */
    double again;        /* seconds until the next try */
    pid_t process;
    char **arguments; /* the program may keep it */
} dome_capture_alone;

/* The state of parallel.c. */
typedef struct dome_capture_parallel {
    bool given;           /* the program has called dome_init */
    dome_status result;   /* of the dome_checkpoint behind which the program goes on */
    bool between;         /* it polls behind its operations, too */
    uint64_t last_polled; /* the number of the operation behind which it has polled last */
    bool held_told;
} dome_capture_parallel;

/* Runs `program`, and returns what its main returns. */
int dome__capture_run(const dome_capture_way *way, int argc, char **argv, int (*program)(int argc, char **argv));

/* Seconds until a checkpoint is due by time; INFINITY: none is. */
double dome__capture_seconds_due(dome_env *env);

#endif
