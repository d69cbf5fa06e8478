/* Texts by number, for a thread that has to name what another works with: objects by their ids, and texts that were arguments by
 * their hashes. */
#ifndef DOME_SRC_NAMES_H
#define DOME_SRC_NAMES_H

#include <stdint.h>

typedef struct dome_names dome_names;

dome_names *dome__names_new(void);
void dome__names_free(dome_names *names);

/* From now on the number has this text. */
void dome__names_keep(dome_names *names, uint64_t number, const char *text);

/* The number is not used any more. Its text stays for a while: of all such the last few hundred do. */
void dome__names_drop(dome_names *names, uint64_t number);

/* The text is wanted for a while only. */
void dome__names_recall(dome_names *names, uint64_t number, const char *text);

/* A copy (g_free) of its text, cut after 100 bytes; NULL if there is none. */
char *dome__names_find(dome_names *names, uint64_t number);

#endif
