/* The daemon's table for people and for programs: a part of dome ps and dome hosts. */
#ifndef DOME_TOOLS_SUBMITTED_H
#define DOME_TOOLS_SUBMITTED_H

#include <stdbool.h>
#include <stdio.h>

typedef struct dome_table dome_table;

/* The option --on HOST[:PORT] of commands: requests are for the daemon of that host, and this host's passes them on. */
char **dome__daemon_on(void);

#define DOME_DAEMON_ON                                                                                                           \
    {                                                                                                                            \
        "on", 0, 0, G_OPTION_ARG_STRING, dome__daemon_on(), "Ask the domed of that host, by the one of this host", "HOST[:PORT]" \
    }

/* Prints the programs of all hosts. False: no daemon runs here. */
bool dome__submitted_print(bool json);

/* Prints the daemons' hosts; nothing if there is no daemon. */
void dome__submitted_hosts(bool json);

/* Hosts and programs as an object of two lists, in JSON. */
void dome__submitted_write(const dome_table *table, FILE *to);

/* dome hosts enable|disable|drain|lost: whether it is one of these verbs. */
bool dome__submitted_is_host_verb(const char *verb);
int dome__submitted_use(const char *verb, char **names);

#endif
