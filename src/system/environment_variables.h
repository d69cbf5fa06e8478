/* The environment variables that Dome reads or sets. */
#ifndef DOME_SRC_ENVIRONMENT_VARIABLES_H
#define DOME_SRC_ENVIRONMENT_VARIABLES_H

/* ---- for users; docs/running.md describes them ---- */

#define DOME_VARIABLE_OPTIONS "DOME_OPTIONS"   /* options, quoted as for the shell */
#define DOME_VARIABLE_CACHE   "DOME_CACHE_DIR" /* the folder of generated code and measured networks */
#define DOME_VARIABLE_RSH     "DOME_RSH"       /* the command that reaches other hosts */
#define DOME_VARIABLE_OMP_CC  "DOME_OMP_CC"    /* the compiler of dome-omp */

#define DOME_VARIABLE_DAEMON "DOME_DAEMON" /* the path of domed's socket */

/* From domed to a program: its number, such as j7. */
#define DOME_VARIABLE_SUBMITTED "DOME_SUBMITTED"

/* From a script that runs the program by an emulator or a loader: the path of the script (system/own_program.h). */
#define DOME_VARIABLE_PROGRAM "DOME_PROGRAM"

/* ---- passed from a process of a program to one that it starts ---- */

/* From `dome run` or a task that starts others, to task 0: the address of the running hub. dome_init removes it, so that programs
 * started by the task do not see it. */
#define DOME_VARIABLE_HUB "DOME_HUB"

/* From task 0 to the tasks it spawns: join that program, instead of starting one. 2: and tell task 0 when you have enrolled. */
#define DOME_VARIABLE_JOIN "DOME_JOIN"

/* From a supervisor to each attempt: it restarts the program if that is lost. The value is the descriptor to which the hub
 * reports, with the most losses that the hub may heal and the descriptor of what has been shown; 0: the hub is running. */
#define DOME_VARIABLE_SUPERVISED "DOME_SUPERVISED"

/* From a supervisor to an attempt: hosts that stopped responding, separated by spaces. No task is started on them. */
#define DOME_VARIABLE_AVOID "DOME_AVOID"

/* From `dome run --hosts` to task 0: the slots of hosts, "h1=2 h2=4". */
#define DOME_VARIABLE_SLOTS "DOME_SLOTS"

/* From a supervisor to each attempt after the first, and to the first if the program has run before: how many losses the program
 * has gone on after, in how many seconds: "2 31.5". */
#define DOME_VARIABLE_LOSSES "DOME_LOSSES"

/* From a supervisor to attempts after the first: add to the trace file, do not replace it. */
#define DOME_VARIABLE_TRACE_APPEND "DOME_TRACE_APPEND"

/* From a supervisor to each attempt: the directory of checkpoints in memory (--dome-checkpoint-dir memory:). */
#define DOME_VARIABLE_MEMORY "DOME_MEMORY"

/* From a task to itself, when it becomes the program anew to enter the next view: src/wire/view_note.h. */
#define DOME_VARIABLE_VIEW "DOME_VIEW"

/* From a hub to task 0: its standard output leads to the hub, which shows it once (src/wire/shown.h). */
#define DOME_VARIABLE_ONCE "DOME_ONCE"

/* ---- from tests ---- */

#define DOME_VARIABLE_TRACKER     "DOME_TRACKER"           /* how memory is tracked: a row of src/memory/tracker.c */
#define DOME_VARIABLE_TEST_LINGER "DOME_TRACE_TEST_LINGER" /* seconds that a recording continues after its last viewer leaves */
#define DOME_VARIABLE_TEST_ROOM   "DOME_TRACE_TEST_ROOM"   /* capacity of a recording in memory, bytes */
#define DOME_VARIABLE_TEST_SHIFT  "DOME_TRACE_TEST_SHIFT"  /* simulated clock offsets: "RANK:NANOSECONDS[:MILLIONTHS],..." */

#endif
