/* Processes that the library forks: a line to the child, what the child has of its parent's signals and descriptors, its end. */
#ifndef DOME_SRC_CHILD_H
#define DOME_SRC_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* The connection of parent and child. */
typedef enum dome_child_line {
    DOME_CHILD_ALONE,
    DOME_CHILD_TELLS, /* a pipe: the child writes, the parent reads */
    DOME_CHILD_HEARS, /* a pipe: the parent writes, the child reads */
    DOME_CHILD_TALKS  /* a stream socket */
} dome_child_line;

/* Standard input, output and error as bits. */
enum { DOME_CHILD_IN = 1, DOME_CHILD_OUT = 2, DOME_CHILD_ERR = 4, DOME_CHILD_STANDARD = 7 };

/* The child's settings; 0 leaves those that it has of its parent. Its end of the line, as all descriptors of the library, is
 * closed by exec. */
typedef struct dome_child_setup {
    dome_child_line line;
    unsigned null;     /* bits: these are /dev/null */
    int line_as;       /* the number of its end of the line, which exec keeps */
    int close_from;    /* descriptors from this number on are closed */
    bool unblocked;    /* no signal is blocked */
    bool handles_none; /* each signal has its default effect */
    bool group;        /* it leads a process group of its own */
    bool with_parent;  /* it is killed when the thread that forks it ends */
    unsigned seconds;  /* after so many it ends, by SIGALRM */
} dome_child_setup;

/* fork: 0 in the child, its process id in the parent, -1 with errno if there is none. *line, which may be NULL if there is none,
 * is set in both to the own end of the line; -1: there is none. */
pid_t dome__child_fork(const dome_child_setup *setup, int *line);

/* Waits until the child has ended. Its status as of waitpid; -1 if it is no child of this process, or has been reaped. */
int dome__child_reap(pid_t child);

/* Kills it, whatever it handles or ignores, and reaps it. Nothing where there is none, or its fork was refused (<= 0). */
void dome__child_kill(pid_t child);

#endif
