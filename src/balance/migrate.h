/* Migration: the objects of one length and block size go from one layout to another. It knows the operation table of objects and
 * never a concrete structure. dome_env_relayout (object.h) is its public face. */
#ifndef DOME_SRC_MIGRATE_H
#define DOME_SRC_MIGRATE_H

#include <dome/object.h>

/* The blocks that `from` has under one layout and `to` has under another, as ranges of block numbers in the order in which they
 * travel. At most DOME_MOVES. */
#define DOME_MOVES 4
int dome__moves(const dome_layout *was, int from, const dome_layout *becomes, int to, dome_span moves[DOME_MOVES]);

#endif
