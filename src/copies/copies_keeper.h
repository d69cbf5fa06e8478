/* A partner's side of copies: what other tasks ask for, in the service channel's thread. Whatever a task asks for, files of other
 * tasks are not touched. */
#ifndef DOME_SRC_COPIES_COPIES_KEEPER_H
#define DOME_SRC_COPIES_COPIES_KEEPER_H

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct dome_keeper dome_keeper;

/* A request begins with one of these, a word, and has words and data behind it:
 *
 *     RANGE   number of the file of messages; place and length of the piece; where in the piece; bytes
 *     PART    number of the checkpoint; offset; bytes
 *     COMMIT  number of the checkpoint; its length; numbers of the files of messages that are needed */
typedef enum dome_keeper_kind { DOME_KEEPER_RANGE, DOME_KEEPER_PART, DOME_KEEPER_COMMIT, DOME_KEEPER_KINDS } dome_keeper_kind;

dome_keeper *dome__keeper_new(const char *directory, const char *program, int size, bool memory);
void dome__keeper_free(dome_keeper *keeper);

/* The newest checkpoint of a task that is there, which the next one replaces. */
void dome__keeper_note(dome_keeper *keeper, int rank, uint64_t number);

/* Does what a task asks for. NULL: it is done; otherwise why it cannot be, g_free'd by the caller. */
char *dome__keeper_take(dome_keeper *keeper, int from, const void *request, size_t bytes);

/* Removes a task's files of messages whose numbers are not among these. */
void dome__keeper_tidy(const char *stem, const uint64_t *used, size_t count);

#endif
