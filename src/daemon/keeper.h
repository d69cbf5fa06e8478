/* The parent of a program that a daemon has started: a process that waits for its end and writes that into a file. It lives on
 * when the daemon ends; the next daemon finds it by its files, in the daemon's folder:
 *
 *     j7.1.run    locked by the keeper of attempt 1 of program j7 while that runs; says the pid of `dome run`
 *     j7.1.end    how it has ended: a record `ended status= why= time=`
 *
 * If the keeper is killed, the program gets SIGTERM. */
#ifndef DOME_SRC_KEEPER_H
#define DOME_SRC_KEEPER_H

#include "daemon/table.h"

#include <stdbool.h>
#include <sys/types.h>

#define DOME_KEEPER_END ".end"

typedef enum dome_keeper_state {
    DOME_KEEPER_NONE, /* it was never there, or is gone and has left no word */
    DOME_KEEPER_RUNS,
    DOME_KEEPER_ENDED
} dome_keeper_state;

/* Starts the program's present attempt by these words, in its directory, as its owner, with its environment and these variables
 * more. hosts: the word that is a file of the daemon's folder, which the owner need not be able to open; NULL: none is. What then
 * fails is in the file of its end. False with *message (g_free'd): there is no keeper. */
bool dome__keeper_start(const char *folder, const dome_program *program, char **words, const char *hosts, char *const *variables,
                        char **message);

/* Removes what the program's attempts have noted about its output, beside the file for that. As its owner, and without waiting.
 */
void dome__keeper_forget_output(const dome_program *program);

/* *run: the process that it waits for, 0: not known yet. end: to be cleared, if it has ended. */
dome_keeper_state dome__keeper_look(const char *folder, int64_t id, int64_t attempt, pid_t *run, dome_record *end);

/* Removes its files. */
void dome__keeper_forget(const char *folder, int64_t id, int64_t attempt);

#endif
