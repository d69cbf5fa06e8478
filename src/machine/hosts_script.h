/* Runs the user's script of hosts (--hosts-script): once before the program begins, and again and again while it runs
 * (hub_script.c). Whatever the script does, a run takes bounded time and memory. */
#ifndef DOME_SRC_HOSTS_SCRIPT_H
#define DOME_SRC_HOSTS_SCRIPT_H

#include <glib.h>

#include <stdbool.h>
#include <sys/types.h>

/* Seconds after which it is killed, and bytes of output after which it is. */
enum { DOME_SCRIPT_LONGEST = 20, DOME_SCRIPT_OUTPUT_MOST = 1 << 20 };

typedef struct dome_hosts_script {
    const char *command;
    pid_t process;
    int fd; /* of its output; -1: it does not run */
    GString *output;
    double began;
} dome_hosts_script;

/* The shell command is not copied. */
dome_hosts_script dome__hosts_script_new(const char *command);

/* Kills it if it runs. */
void dome__hosts_script_clear(dome_hosts_script *script);

/* Starts it; false with errno. now: seconds of any clock. */
bool dome__hosts_script_begin(dome_hosts_script *script, double now);

/* Takes what it has printed, without waiting. readable: there is something. Returns whether the run is over: then *offers is what
 * it has printed (dome__offers_parse), or NULL with *why (g_free'd), which names the command. */
bool dome__hosts_script_hear(dome_hosts_script *script, bool readable, double now, GArray **offers, char **why);

/* Runs the shell command once, and waits for it. Returns lines of a hostfile (g_strfreev), and *slots as DOME_VARIABLE_SLOTS has
 * them (g_free'd); NULL with *message (g_free'd). */
char **dome__hosts_script_ask(const char *command, char **slots, char **message);

#endif
