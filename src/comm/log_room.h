/* The memory of a message log (message_log.h), in pieces.
 *
 * With a directory it is a file there, mapped into memory: what a task keeps for others outlives the task, and a checkpoint says
 * only where it is. A task that goes back reads its predecessor's pieces where they are, and takes new ones of a file of its own:
 * a predecessor that is not quite dead cannot spoil those. Without a directory it is plain memory. A piece that is given back is
 * used again, since fresh memory costs several times as much as the copy that is made there. */
#ifndef DOME_SRC_COMM_LOG_ROOM_H
#define DOME_SRC_COMM_LOG_ROOM_H

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct dome_log_room dome_log_room;

typedef struct dome_log_piece {
    uint64_t file, place, bytes; /* where it is */
    uint64_t turn;               /* differs each time the piece is taken, and stands at its beginning */
    char *at;
    uint64_t used;         /* bytes, from the beginning on */
    uint64_t kept, copied; /* the log's */
    GList link;
} dome_log_piece;

/* The first bytes of each piece say which it is. */
enum { DOME_LOG_PIECE_HEAD = 64 };

/* Files are called STEM-NUMBER. stem NULL: without files. */
dome_log_room *dome__log_room_new(const char *stem);
void dome__log_room_free(dome_log_room *room);

/* A piece of at least so many bytes. NULL: there is no memory, or no space in the directory; *why (g_free'd) says which. */
dome_log_piece *dome__log_room_take(dome_log_room *room, uint64_t bytes, char **why);

/* Whether more may be put into the piece. */
bool dome__log_room_is_own(const dome_log_room *room, const dome_log_piece *piece);

/* A piece as it was when a checkpoint noted where it is; `at` of what is returned may be written to. NULL: it has been used again
 * since, or is not there. */
dome_log_piece *dome__log_room_find(dome_log_room *room, const dome_log_piece *noted);

void dome__log_room_give(dome_log_room *room, dome_log_piece *piece);

/* This process has no more to do with it; what is there stays there. */
void dome__log_room_leave(dome_log_piece *piece);

/* All that has been put into pieces is in the file, whatever becomes of the host. Returns an errno. */
int dome__log_room_sync(const dome_log_room *room);

/* Removes the files of predecessors of which no piece is in use. */
void dome__log_room_tidy(dome_log_room *room);

/* Appends the numbers (uint64_t) of the files that this does not remove. */
void dome__log_room_files(const dome_log_room *room, GArray *numbers);

#endif
