/* Runs commands on other hosts, in the same way as daemons are started there. */
#ifndef DOME_SRC_REMOTE_H
#define DOME_SRC_REMOTE_H

#include <stdbool.h>

/* Runs a shell command on the hosts of a hostfile; sets answers[i] if it succeeded on host i. Takes a few seconds if a host does
 * not answer. */
void dome__hosts_run(char **lines, const char *command, bool *answers);

#endif
