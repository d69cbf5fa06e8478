/* A handover: the state of a program between two views (wire/view.h), a whole checkpoint in memory without a name. Each host on
 * which a task stays has a piece of it: a file in memory, kept open by its lowest rank that stays. All pieces have the length of
 * the whole; each holds the blocks of that host's tasks at their places, and nothing elsewhere. If no task stays on a host, those
 * that leave it send their blocks to the others before they go, so the tasks that come back have all that the next view needs.
 *
 *     handover.c         what is to be written, whether there is room, the pieces
 *     handover_write.c   the old view writes; the values of its objects are given back to the system meanwhile
 *     handover_read.c    the next view reads, each task the blocks it owns there: from its host's piece in place, others
 *                        from the tasks that keep them; what has been read is given back meanwhile */
#ifndef DOME_SRC_CKPT_HANDOVER_H
#define DOME_SRC_CKPT_HANDOVER_H

#include "core/environment.h"
#include "store/reader.h"

/* The piece of the state that a task carries into the next view. */
typedef struct dome_handover_piece {
    int fd;     /* -1: none; closed on exec */
    int number; /* of the piece */
} dome_handover_piece;

/* ---- the old view ---- */

typedef struct dome_handover dome_handover;

/* Collective; the program stands still, and the objects stay as they are. loop: boundaries passed. stays: by rank, whether the
 * task comes into the next view; task 0 does. *why (g_free'd): before, why this task wants no handover, or NULL; afterwards, why
 * there can be none, the same text on all tasks, or NULL: then *handover is ready to be written. Returns a status of
 * communication. */
int dome__handover_prepare(dome_env *env, const char *program, uint64_t loop, const bool *stays, dome_handover **handover,
                           char **why);

/* Collective: makes one task's reason against the change that of all; *why as above. */
int dome__handover_confirm(dome_handover *handover, char **why);

/* Collective. The values of the objects are gone afterwards, so a failure ends the program. Frees the handover; the caller gets
 * its piece. */
dome_handover_piece dome__handover_write(dome_handover *handover);

/* For a handover that is not written after all. NULL is allowed. */
void dome__handover_free(dome_handover *handover);

/* ---- the next view ---- */

typedef struct dome_handover_source dome_handover_source;

/* Collective. view: its number. Takes over this task's piece. The file has the head of the handover, and the blocks of this
 * host's piece. in_place: dome__handover_spread follows. Fails by dome__fail. */
int dome__handover_open(dome_env *env, uint32_t view, dome_handover_piece piece, bool in_place, dome_ckpt_file **file,
                        dome_handover_source **source);

/* Brings all that the tasks of a host need to it, so that each task can then take its objects without the others: a view is
 * entered in place by some tasks, and through main by others. Collective. Fails by dome__fail. */
int dome__handover_spread(dome_handover_source *source);

/* Gives an object its values; `there` is its entry. Collective in order where tasks are on several hosts. Returns NULL, or a text
 * (g_free'd) with *status. */
char *dome__handover_take(dome_handover_source *source, dome_object *object, const dome_object_info *info,
                          const dome_ckpt_object *there, int *status);

/* The elements that are in no piece, as dome_span in order: those of tasks that are lost (kept.h). */
GArray *dome__handover_lost(const dome_handover_source *source, const dome_ckpt_object *there);

/* Frees the source, not the file. NULL is allowed. */
void dome__handover_close(dome_handover_source *source);

#endif
