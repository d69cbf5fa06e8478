/* State of the program's process beside its memory: the current directory, the environment and the like. A task whose thread
 * changes it writes that down, in memory that all tasks share; the others do the same before they run threads, and where tasks
 * meet. */
#ifndef DOME_SRC_PROCESS_OMP_STATE_H
#define DOME_SRC_PROCESS_OMP_STATE_H

#include "process/omp_image.h"
#include "system/bytes.h"

/* In shared memory, zero at first. */
typedef struct dome_omp_output {
    char *text; /* that this task's threads have printed since the tasks met last */
    uint64_t bytes;
    uint64_t streams; /* as many bytes behind these: records of omp_streams.h */
} dome_omp_output;

typedef struct dome_omp_action {
    void (*handler)(int);
    uint64_t flags, mask;
} dome_omp_action;

enum { DOME_OMP_STATE_SIGNALS = 64 };
enum { DOME_OMP_STATE_TASKS = 1024, DOME_OMP_STATE_TEXT = 4096, DOME_OMP_STREAMS = 64 };

typedef struct dome_omp_state_page {
    uint64_t changes; /* how often the rest was changed */
    char **environment;
    uint64_t umask;
    bool umask_set;
    uint64_t openings, streams[DOME_OMP_STREAMS]; /* of streams; which has the place, or 0 (omp_streams.h) */
    char directory[DOME_OMP_STATE_TEXT], locale[DOME_OMP_STATE_TEXT];
    dome_omp_action actions[DOME_OMP_STATE_SIGNALS]; /* what the program does at signals */
    uint64_t handled;                                /* a bit for each of them that it has set */
    _Alignas(64) char library[1024];                 /* of the C library (clib/omp_library.h) */
    /* omp_output.h; meetings use them in turns: task 0 may fetch the page when another task is on its way to the next one */
    _Alignas(64) dome_omp_output output[2][DOME_OMP_STATE_TASKS];
} dome_omp_state_page;

/* It follows the program's arguments (omp_arguments.h). */
dome_omp_state_page *dome__omp_state(void);

/* Thread 0 sets what the program does at a signal. */
struct sigaction;
void dome__omp_state_action(int number, const struct sigaction *action);

/* Other tasks: the same, while they run threads of the program. */
void dome__omp_signals_take(void);
void dome__omp_signals_leave(void);

/* Task 0, when the program goes on from where it was saved: the process gets what the page says, and this. */
void dome__omp_state_put_back(const char *directory, char **environment);

/* Task 0: the functions that the program has given to atexit, and destructors of its static objects, as they were saved and in a
 * new process; `enter` gives those to the C library that its constructors have not. */
void dome__omp_exits_save(GByteArray *to);
void dome__omp_exits_read(dome_bytes *from);
void dome__omp_exits_enter(void);

/* Before a task runs threads of the program, and after; the first also behind a meeting in a region. */
void dome__omp_state_take(void);
void dome__omp_state_leave(void);

#endif
