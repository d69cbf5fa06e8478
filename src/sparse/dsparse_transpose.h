/* Shared by the two ways of making a transpose's blocks. Only dsparse_transpose*.c include this. */
#ifndef DOME_SRC_DSPARSE_TRANSPOSE_H
#define DOME_SRC_DSPARSE_TRANSPOSE_H

#include "arrays/dvec_exchange.h"
#include "sparse/dsparse_private.h"

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

/* An entry with another value than nearly all others. at: its number, as each use says. */
typedef struct odd_entry {
    uint64_t at;
    _Alignas(double) char value[2 * sizeof(double)];
} odd_entry;

typedef struct odd_entries {
    uint64_t count;
    odd_entry *entry;
} odd_entries;

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

    /* the other values, where nearly all are the same; entries are numbered */
    bool any_odd;         /* on some task */
    uint64_t own_odd;     /* of this task */
    odd_entries odd_sent; /* in `mine`, for each rank from its first entry on */
    odd_entries odd_come; /* in `come`, for each rank from its first entry on */
    uint64_t *odd_from;   /* by rank: the first of those that have come, and the end */
} transposition;

/* Entries of a task, from those of the next block on. */
typedef struct source {
    const uint64_t *counts;
    const uint32_t *place;
    const char *value;
    odd_entries odd; /* of another task, by their numbers from its first entry on */
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

/* Blocks that have their arrays in `store`, for so many entries. */
typedef struct new_blocks {
    dsparse_block *block;
    void *store;
    uint64_t entries;
    odd_entries *odd; /* room for all; numbers: places in the store */
} new_blocks;

/* Fills them turn by turn. */
void dsparse__transpose_fill_near(const transposition *p, const new_blocks *made, const turn *turns, int nturns);

/* ---- for values nearly all of which are the same ---- */

/* Finds whether they are; the same on all tasks. Returns the transport's status. */
int dsparse__transpose_find_uniform(transposition *p);

/* Makes room for the odd entries that this task sends, and sends them, when `mine` has been divided. The first fails by false. */
bool dsparse__transpose_odd_room(transposition *p);
int dsparse__transpose_odd_exchange(transposition *p);

void dsparse__transpose_note_odd(odd_entries *odd, const transposition *p, uint64_t at, const void *value);

/* Gives the odd entries of new blocks, which are in any order, their values. */
void dsparse__transpose_put_odd(const transposition *p, odd_entries *odd, dsparse_block *block);

#endif
