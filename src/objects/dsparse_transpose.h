/* What the two ways of making a transpose's blocks share. Only dsparse_transpose*.c include this. */
#ifndef DOME_SRC_DSPARSE_TRANSPOSE_H
#define DOME_SRC_DSPARSE_TRANSPOSE_H

#include "objects/dsparse_private.h"
#include "objects/dvec_mail.h"

#include <string.h>

/* The functions with this are compiled for each size of values. */
#define FOR_EACH_SIZE static inline __attribute__((always_inline))

#define BY_SIZE(function, size, ...)                                                                                             \
    ((size) == 4 ? function(__VA_ARGS__, 4) : (size) == 8 ? function(__VA_ARGS__, 8) : function(__VA_ARGS__, 16))

/* A task's rows are at most two spans. */
enum { SPANS = 2 };

/* Entries in the order of the new blocks that they belong to, and of the spans of rows that they come from: for each a row of the
 * new block and a column; and its value. */
typedef struct entries {
    uint64_t total;
    uint32_t *place;
    char *value;
} entries;

typedef struct transposition {
    dsparse *t;
    const dsparse *a;
    size_t size;            /* of a value */
    uint64_t *first_slot;   /* by rank: new blocks have slots, in the order of the tasks' runs, this task's last */
    uint32_t *slot;         /* by number of the new block */
    uint64_t *counts;       /* by slot and span: entries of this task */
    uint64_t *in_counts;    /* by other rank, block of this task and span: entries that come */
    uint64_t *sent, *taken; /* by rank: of what is sent and received, 0 for this task */
    bool quiet;             /* a lack of memory is not a failure of the operation */
    bool near;      /* this task's columns lie near each other in its blocks: its own entries go straight to their places */
    uint64_t *next; /* near: by local new row and one more: entries, and then places */
    bool uniform;   /* all values of the matrix are `same`: they do not travel */
    _Alignas(double) char same[2 * sizeof(double)];
    entries mine, come;
} transposition;

/* Entries of a task, from those of the next block on. */
typedef struct source {
    const uint64_t *counts;
    const uint32_t *place;
    const char *value;
} source;

/* The rows of a span of a task. */
typedef struct turn {
    uint64_t row; /* the first one */
    int rank;
    source *from;
    int span;
} turn;

/* ---- for entries that lie near each other ---- */

/* Whether most entries of this task lie in blocks whose columns are near each other. */
bool dsparse__transpose_is_near(const dsparse *a);

/* Counts this task's entries; its own ones by new rows. p->next is 0. */
void dsparse__transpose_count_near(transposition *p);

/* Fills the blocks, which have their arrays in `store`, turn by turn. */
void dsparse__transpose_fill_near(const transposition *p, dsparse_block *block, void *store, uint64_t entries, const turn *turns,
                                  int nturns);

#endif
