/* Commands on other hosts, by the way that daemons are started there. */
#ifndef DOME_SRC_REMOTE_H
#define DOME_SRC_REMOTE_H

#include <stdbool.h>

/* Runs a command, a line for a shell, on hosts of a hostfile, and says where it succeeded. Takes a few seconds if a host does not
 * answer. */
void dome__hosts_run(char **lines, const char *command, bool *answers);

#endif
