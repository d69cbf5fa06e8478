/* Shared by the files that read checkpoints: reader.c (files, and blocks as their entries name them) and chain.c (deltas). */
#ifndef DOME_SRC_STORE_READER_PRIVATE_H
#define DOME_SRC_STORE_READER_PRIVATE_H

#include "store/reader.h"
#include "store/windows.h"

#include <pthread.h>

/* The window that was read last. */
typedef struct dome_ckpt_read_window {
    const dome_ckpt_window *window; /* NULL: none */
    void *bytes;
    GArray *changes;
} dome_ckpt_read_window;

struct dome_ckpt_file {
    int references; /* only by g_atomic_int */
    int fd;
    char *path;
    dome_ckpt *ckpt;
    dome_ckpt_file **earlier; /* opened when first needed; as many as in ckpt->earlier */
    dome_ckpt_file **chain;   /* if it is one of deltas: itself and those before it, ckpt->chain in all, the oldest first */
    dome_ckpt_read_window read;
    pthread_mutex_t patching; /* of the file that is read: deltas are applied by one thread at a time */
};

bool dome__ckpt_read_at(int fd, void *buffer, uint64_t bytes, uint64_t offset, char **message);

/* Opens the file that earlier[index] names, or returns it. What it has itself is read of it: if it is one of deltas, it gets no
 * table. */
dome_ckpt_file *dome__ckpt_open_earlier(dome_ckpt_file *file, guint index, char **message);

/* Sets the message about a block, whose bytes are in the file `holder`. Returns false. */
bool dome__ckpt_block_fails(const dome_ckpt_file *file, const dome_ckpt_file *holder, const dome_ckpt_object *object,
                            uint64_t block, const char *reason, char **message);

/* ---- chain.c ---- */

/* Finds the chain of a checkpoint of deltas, and gives it its table. */
bool dome__ckpt_resolve(dome_ckpt_file *file, char **message);

/* Brings a block, as its entry names it, up to date. */
bool dome__ckpt_patch(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, void *buffer, char **message);

void dome__ckpt_forget_window(dome_ckpt_file *file);

#endif
