/* The hosts on which a program begins whose hosts a script prints (--hosts-script). */
#ifndef DOME_SRC_HOSTS_SCRIPT_H
#define DOME_SRC_HOSTS_SCRIPT_H

#include <stdbool.h>

/* Runs the shell command once. Returns lines of a hostfile (g_strfreev), and *slots as DOME_VARIABLE_SLOTS has them (g_free'd);
 * NULL with *message (g_free'd). */
char **dome__hosts_script_ask(const char *command, char **slots, char **message);

#endif
