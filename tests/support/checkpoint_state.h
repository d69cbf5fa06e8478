/* An artificial state of a program, in the form that checkpoints need: objects with the bytes of their blocks. */
#ifndef DOME_TESTS_CHECKPOINT_STATE_H
#define DOME_TESTS_CHECKPOINT_STATE_H

#include "store/store.h"

#include <dome/dome.h>
#include <dome/structure.h>

typedef struct checkpoint_part {
    char *name, *kind;
    dome_object_info info;
    dome_layout *layout;
    bool fixed;
    GPtrArray *blocks; /* of GBytes */
} checkpoint_part;

typedef struct checkpoint_state {
    char *program;
    GPtrArray *parts;
    uint64_t seed; /* a counter, "random" */
} checkpoint_state;

checkpoint_state *checkpoint_state_new(const char *program);
void checkpoint_state_free(checkpoint_state *state);

/* Adds an object of fixed blocks; `elements` are length * width values in memory. block_size 0: one block. */
checkpoint_part *checkpoint_state_add(checkpoint_state *state, const char *name, dome_type type, uint64_t length, uint64_t width,
                                      uint64_t block_size, dome_distribution distribution, const void *elements);

/* Adds an object without a type, with a text for each block. */
checkpoint_part *checkpoint_state_add_texts(checkpoint_state *state, const char *name, const char *const *texts, uint64_t blocks);

void checkpoint_part_set(checkpoint_part *part, uint64_t block, const void *bytes, size_t count);

/* The state of the two checkpoints in tests/data/checkpoints; step 1 or 2. */
checkpoint_state *checkpoint_state_known(dome_env *env, int step);

/* Describes the state as a checkpoint, with checksums but without a plan. */
dome_ckpt *checkpoint_describe(const checkpoint_state *state, uint64_t number);

/* Writes a planned checkpoint into a directory; the blocks are divided among `writers` descriptors. Ends the test on failure. */
void checkpoint_write(const char *directory, dome_ckpt *ckpt, const checkpoint_state *state, unsigned writers);

/* Checks that a file contains the state. Ends the test if it does not. */
void checkpoint_check(dome_ckpt_file *file, const checkpoint_state *state);

#endif
