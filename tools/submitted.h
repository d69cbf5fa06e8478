/* The daemon's table for people and for programs: a part of dome ps and dome hosts. */
#ifndef DOME_TOOLS_SUBMITTED_H
#define DOME_TOOLS_SUBMITTED_H

#include <stdbool.h>

/* Prints the programs of all hosts. False: no daemon runs here. */
bool dome__submitted_print(bool json);

/* Prints the daemons' hosts; nothing if there is no daemon. */
void dome__submitted_hosts(bool json);

/* dome hosts enable|disable|drain|lost: whether it is one of these verbs. */
bool dome__submitted_is_host_verb(const char *verb);
int dome__submitted_use(const char *verb, char **names);

#endif
