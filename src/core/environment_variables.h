/* The environment variables that Dome reads or sets. */
#ifndef DOME_SRC_ENVIRONMENT_VARIABLES_H
#define DOME_SRC_ENVIRONMENT_VARIABLES_H

/* ---- for users; docs/running.md describes them ---- */

#define DOME_VARIABLE_OPTIONS "DOME_OPTIONS"   /* options, quoted as for the shell */
#define DOME_VARIABLE_CACHE   "DOME_CACHE_DIR" /* the folder of generated code */
#define DOME_VARIABLE_RSH     "DOME_RSH"       /* the command that reaches other hosts */

/* ---- from one process of a program to the next ---- */

/* From `dome run` or a task that starts others, to task 0: the address of the hub that runs already. dome_init removes it, so
 * that programs started by the task do not see it. */
#define DOME_VARIABLE_HUB "DOME_HUB"

/* From task 0 to the tasks it spawns: join that program, instead of starting one. */
#define DOME_VARIABLE_JOIN "DOME_JOIN"

/* From `dome run --restarts` to each attempt: a supervisor starts the program again if it is lost. */
#define DOME_VARIABLE_SUPERVISED "DOME_SUPERVISED"

/* From `dome run --restarts` to an attempt: hosts that have fallen silent, with spaces between. They get no task. */
#define DOME_VARIABLE_AVOID "DOME_AVOID"

/* From `dome run --restarts` to attempts after the first: add to the trace file, do not replace it. */
#define DOME_VARIABLE_TRACE_APPEND "DOME_TRACE_APPEND"

/* From `dome run --restarts` to each attempt: the directory of checkpoints in memory (--dome-checkpoint-dir memory:). */
#define DOME_VARIABLE_MEMORY "DOME_MEMORY"

/* ---- from tests ---- */

#define DOME_VARIABLE_TEST_LINGER "DOME_TRACE_TEST_LINGER" /* seconds for which a recording outlives its last viewer */
#define DOME_VARIABLE_TEST_ROOM   "DOME_TRACE_TEST_ROOM"   /* bytes of a recording in memory */
#define DOME_VARIABLE_TEST_SHIFT  "DOME_TRACE_TEST_SHIFT"  /* clocks that differ: "RANK:NANOSECONDS[:MILLIONTHS],..." */

#endif
