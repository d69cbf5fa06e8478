/* The state of a program, on its way out. There is one way: deferred work is completed, the objects that the program has named
 * are described, and the blocks that this task is to write go into a sink, object after object.
 *
 *     checkpoint_copy.c     a copy, which a thread writes into the file of a checkpoint beside the program
 *     handover_write.c      this host's piece of the state that a program takes into its next view
 *     kept.c                this task's piece of what the tasks keep for themselves
 *
 * The texts that say why the state cannot be saved are g_free'd by the caller; NULL means that there is no reason. */
#ifndef DOME_SRC_CKPT_STATE_H
#define DOME_SRC_CKPT_STATE_H

#include "core/environment.h"
#include "store/format.h"

#include <dome/structure.h>

/* Which blocks of an object that all tasks have complete a task writes: its share of them, or all. */
typedef enum dome_state_share { DOME_STATE_SHARED_OUT, DOME_STATE_COMPLETE } dome_state_share;

/* An object, as a sink gets it. */
typedef struct dome_state_item {
    dome_object *object;
    dome_object_info info;
    uint64_t index;                /* among the objects of the state, and of its description */
    bool fixed;                    /* its blocks are stored as values of its type */
    const dome_ckpt_object *there; /* its entry in the description; NULL if the walk has none */
    dome_span runs[2];             /* the blocks that this task writes */
    int nruns;
} dome_state_item;

/* Slots may be NULL. A text that one returns ends the walk. */
typedef struct dome_state_sink {
    char *(*begin)(void *ctx, const dome_state_item *item);
    char *(*run)(void *ctx, const dome_state_item *item, dome_span blocks);
    char *(*block)(void *ctx, const dome_state_item *item, uint64_t block); /* if `run` is NULL */
    char *(*end)(void *ctx, const dome_state_item *item);
} dome_state_sink;

typedef struct dome_state_walk {
    const dome_env *env;
    const dome_ckpt *ckpt; /* the description, or NULL */
    dome_state_share share;
    bool changed;  /* only blocks that may have been written since a mark */
    unsigned mark; /* this one (dome_object_delta) */
    const dome_state_sink *sink;
    void *ctx;
} dome_state_walk;

/* The blocks of an object that a task, by its rank, writes or reads, as one or two runs. */
int dome__state_blocks(const dome_env *env, int rank, dome_state_share share, const dome_object_info *info, dome_span runs[2]);

/* Whether an object's blocks are stored as values of its type. */
bool dome__state_is_fixed(const dome_object *object, const dome_object_info *info);

/* To be called before values are read and before the program goes on from there: if tasks write each other's values in memory
 * that they share (the slot `shares`), all tasks wait for each other. Collective. Fails by dome__fail. */
int dome__state_meet(dome_env *env);

/* Completes all deferred work. */
char *dome__state_settle(dome_env *env);

/* Describes the objects of the state, in the order in which they are walked. */
dome_ckpt *dome__state_describe(const dome_env *env, const char *program, uint64_t number, uint64_t loop, char **why);

/* Gives all objects to a sink. */
char *dome__state_walk(const dome_state_walk *walk);

/* Why: "'x' cannot be saved: ...". */
char *dome__state_cannot(const char *object, int status);

/* The bytes that a file has for a block, and their checksum. Returns a status. */
int dome__state_block(const dome_object *object, uint64_t block, void *to, uint64_t bytes, dome_checksum *sum);

/* ---- blocks into a file at their places ---- */

typedef struct dome_state_file {
    int fd;
    char *buffer;
    uint64_t room;         /* at least as much as the longest block */
    uint64_t used, offset; /* used bytes of the buffer belong at offset */
} dome_state_file;

/* Writes are gathered up to about so many bytes. */
#define DOME_STATE_WRITE ((uint64_t)1 << 20)

/* Room for a block that belongs at this place; what is before it may be written first. NULL on failure, with *why. */
char *dome__state_file_place(dome_state_file *file, const dome_ckpt_entry *entry, char **why);
bool dome__state_file_flush(dome_state_file *file, char **why);

/* A file of this task alone, with all blocks that it has. Once `why` is set (g_free'd), these functions do nothing. */
typedef struct dome_state_piece {
    dome_ckpt *ckpt;
    dome_state_file file;
    char *why;
} dome_state_piece;

/* In this order: describes all objects, when their deferred work is done; says where each block will be; makes room for writing;
 * writes the blocks to file.fd, but not the head. */
void dome__state_piece_describe(dome_state_piece *piece, dome_env *env, const char *program, uint64_t number, uint64_t loop);
void dome__state_piece_plan(dome_state_piece *piece, const dome_env *env);
void dome__state_piece_room(dome_state_piece *piece);
void dome__state_piece_write(dome_state_piece *piece, const dome_env *env);

#endif
