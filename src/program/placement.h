/* Which host each task runs on. Pure functions of names and numbers. */
#ifndef DOME_SRC_PLACEMENT_H
#define DOME_SRC_PLACEMENT_H

#include "core/options.h"
#include "transport/launcher.h"

/* The slots of each host, by the text of DOME_VARIABLE_SLOTS ("h1=2 h2=4"; NULL: none). A host that the text does not name has
 * one. g_free'd by the caller. */
int *dome__placement_slots(char *const *hosts, const char *text);

/* The number of tasks of a program for which none is given: the sum of the slots. */
int dome__placement_default(int hosts, const int *slots);

/* Sets host[r], for each rank r, to the index of its host. Each host gets as many tasks as it has slots; if there are more tasks
 * than slots, this is repeated. FILL: neighbouring ranks are on one host as far as possible; SPREAD: ranks are dealt to the hosts
 * in turn. Rank 0 is on host 0. */
void dome__placement_deal(dome_placing how, int hosts, const int *slots, int tasks, int *host);

/* Leaves hosts out: those that the text names, separated by blanks, but for host 0, get 0 slots. */
void dome__placement_avoid(char *const *hosts, const char *text, int *slots);

/* The host for one more task, given how many each has: the one that has the fewest for its slots, the first of several. Not one
 * with 0 slots. */
int dome__placement_next(int hosts, const int *slots, const int *tasks);

/* The index of a host, which may be given without its domain; -1: it is not there. */
int dome__placement_find(char *const *hosts, const char *name);

/* The hosts of the tasks, each once, in the order of their lowest ranks; g_strfreev'd by the caller. */
char **dome__placement_hosts(int tasks, char *const *host);

/* Puts tasks that another command has placed into the order of these hosts, task 0 first; host 0 is its host. */
void dome__placement_sort(dome_members *members, char *const *hosts);

/* The number of neighbours on the ring of ranks, the pair of the last and the first included, that are on two hosts. */
int dome__placement_boundaries(int tasks, char *const *host);

#endif
