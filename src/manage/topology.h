/* Topologies: an ordered list of wishes of which hosts a program may run on (Stardust, section 3.3.3). The first that fits is
 * taken; while none fits, the program waits, suspended.
 *
 *     [1]                     # best: eight tasks on four hosts of this architecture
 *     arch=x86-64
 *     tasks=8
 *     hosts=h[1-4]
 *     [2]                     # else two tasks anywhere
 *     tasks=2 */
#ifndef DOME_SRC_TOPOLOGY_H
#define DOME_SRC_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

/* One wish. */
typedef struct dome_wish {
    int tasks;          /* at least 1 */
    char *architecture; /* NULL: any */
    char **hosts;       /* patterns, ended by NULL; NULL: any host */
} dome_wish;

typedef struct dome_topologies {
    size_t count; /* at least 1 */
    dome_wish *wishes;
} dome_topologies;

/* Reads the text of a file. A group begins with any name in brackets and has the keys tasks (needed), arch and hosts; # begins a
 * comment. Freed by dome__topologies_free; NULL with *message (g_free'd), which begins with "line L, column C: ". */
dome_topologies *dome__topologies_parse(const char *text, char **message);
void dome__topologies_free(dome_topologies *topologies);

/* Whether one of the wishes has a number of tasks from `least` to `most`. */
bool dome__topologies_within(const dome_topologies *topologies, int least, int most);

/* Whether a host's name is that of a pattern: the name itself, or one with one list of numbers in brackets, such as h[1-4,7]. The
 * numbers of h[01-12] have two digits. */
bool dome__topology_is_host(const char *pattern, const char *name);

/* Whether tasks of this wish may run on a host. */
bool dome__topology_admits(const dome_wish *wish, const char *name, const char *architecture);

#endif
