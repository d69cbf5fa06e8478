/* Starts the newcomers of the next view, which wait for it, in a separate process. PVM may take minutes for that, or for ever, if
 * a host has been lost, and the tasks stand still meanwhile: task 0 asks the hub, which starts this process and can end it. So
 * the order is given up then, and the program goes on. */
#ifndef DOME_SRC_STANDBY_H
#define DOME_SRC_STANDBY_H

#include "transport/launcher.h"

/* Task 0: writes the path of the program, its arguments and its environment to a file in memory, from which newcomers are
 * started. Returns the descriptor; -1 with errno set. */
int dome__standby_order(const char *path, char **words, char **environment);

typedef struct dome_standby_request {
    const dome_launcher *launcher;
    int process, descriptor; /* of task 0: the file */
    const char *hosts;       /* by rank, separated by blanks; "-": the rank is no newcomer */
    double timeout, patience;
} dome_standby_request;

/* Starts the process: its number, 0 with errno set. Its answer, a line, comes from *fd: dome__standby_read. It stays until that
 * is closed: newcomers end some time after that, if their view has not come by then. */
pid_t dome__standby_start(const dome_standby_request *request, int *fd);

/* Reads the line: ids[r] is the launcher's id of rank r, 0 if that rank is no newcomer. Returns NULL, or why no newcomer could be
 * started (g_free'd). */
char *dome__standby_read(const char *line, int *ids, int n);

#endif
