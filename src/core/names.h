/* A map from numbers to texts, by which one thread can name what another thread works on: objects by id, and text arguments by
 * hash. */
#ifndef DOME_SRC_NAMES_H
#define DOME_SRC_NAMES_H

#include <stdint.h>

typedef struct dome_names dome_names;

dome_names *dome__names_new(void);
void dome__names_free(dome_names *names);

/* Sets the text of a number, until dome__names_drop. */
void dome__names_keep(dome_names *names, uint64_t number, const char *text);

/* The number is no longer in use. Its text is kept while it is among the last few hundred dropped. */
void dome__names_drop(dome_names *names, uint64_t number);

/* Sets the text of a number, dropped at once: kept only for a while. */
void dome__names_recall(dome_names *names, uint64_t number, const char *text);

/* A copy (g_free) of a number's text, truncated to 100 bytes; NULL if it has none. */
char *dome__names_find(dome_names *names, uint64_t number);

#endif
