/* Runs commands on other hosts, in the same way as daemons are started there. */
#ifndef DOME_SRC_REMOTE_H
#define DOME_SRC_REMOTE_H

#include <stdbool.h>

/* Runs a shell command on the hosts of a hostfile; sets answers[i] if it succeeded on host i. Takes a few seconds if a host does
 * not answer. */
void dome__hosts_run(char **lines, const char *command, bool *answers);

/* The same with a command for each host, within so many seconds. */
void dome__hosts_run_each(char **lines, const char *const *commands, double seconds, bool *answers);

#endif
