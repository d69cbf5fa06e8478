/* Migration: moves the objects of one length and block size from one layout to another. It uses the operation table of objects
 * and knows no concrete structure. dome_env_relayout (structure.h) is its public interface. */
#ifndef DOME_SRC_MIGRATE_H
#define DOME_SRC_MIGRATE_H

#include <dome/structure.h>

/* The blocks that `from` owns under one layout and `to` owns under another, as ranges of block numbers in the order in which they
 * travel. At most DOME_MOVES. */
#define DOME_MOVES 4
int dome__moves(const dome_layout *was, int from, const dome_layout *becomes, int to, dome_span moves[DOME_MOVES]);

/* Blocks that this task has sent since the program began (counted once for each object), by distance. */
struct dome_moved {
    uint64_t to_neighbours; /* one rank up or down */
    uint64_t around;        /* between the last rank and the first */
    uint64_t further;
    uint64_t bytes;
};
struct dome_moved *dome__moved_new(void); /* freed by g_free */
struct dome_moved dome__moved(const dome_env *env);

/* Equal for equal layouts. */
uint64_t dome__layout_hash(const dome_layout *layout);

/* Moves every dynamic object that follows the layout of the same length and block size. Deferred work must be done before. A
 * failure of the transport is reported; other failures end the program. Collective. */
int dome__relayout(dome_env *env, const dome_layout *layout);

#endif
