/* The fields of a dsparse. Only the dsparse_*.c files include this. */
#ifndef DOME_SRC_DSPARSE_PRIVATE_H
#define DOME_SRC_DSPARSE_PRIVATE_H

#include "objects/dvec_private.h"

#include <dome/sparse.h>

/* The rows of one block, in one allocation that begins at `value`; without entries the pointers may be NULL. Entries of row i:
 * start[i] ... start[i + 1] - 1. */
typedef struct dsparse_block {
    uint32_t rows;
    bool changed; /* since the last mark_saved */
    double *value;
    uint32_t *column; /* ascending in each row */
    uint32_t *start;  /* rows + 1 numbers */
} dsparse_block;

typedef struct dsparse_plan dsparse_plan;

struct dsparse {
    dome_object *object;
    dome_env *env;
    uint64_t rows, columns;
    dome_layout *layout;
    uint64_t blocks;      /* this task's */
    dsparse_block *block; /* in the order of the layout's run */
    dsparse_plan *plan;   /* of the last product; NULL: none */
};

/* A matrix has at most this many columns, so that a column's number has 32 bits. */
#define DSPARSE_COLUMNS_MAX (UINT64_C(1) << 32)

static inline uint64_t dsparse__block_entries(const dsparse_block *b)
{
    return b->start ? b->start[b->rows] : 0;
}

/* Allocates the arrays of a block and sets rows; false without memory. The caller fills the arrays. */
bool dsparse__block_alloc(dsparse_block *b, uint32_t rows, uint32_t entries);

/* Frees the arrays of `count` blocks, and the blocks. */
void dsparse__blocks_free(dsparse_block *block, uint64_t count);

/* a->blocks blocks for this task's part, without entries; NULL without memory. */
dsparse_block *dsparse__blocks_new(const dsparse *a);

/* Entries on their way into a matrix: of the rows of one task, row by row. */
typedef struct dsparse_entry {
    uint64_t column;
    double value;
} dsparse_entry;

/* Sorts and adds the entries of each local row, and replaces a's content on all tasks or none. start: by local row, where its
 * entries begin, and the end. text: a failure that this task has found before (with its status), freed here; else NULL. */
dome_status dsparse__take(dsparse *a, const uint64_t *start, dsparse_entry *entries, dome_status status, char *text);

/* Makes `block` the content of a, which owns it from now on. */
void dsparse__replace(dsparse *a, dsparse_block *block);

/* Whether y has an element for each row, in the same blocks; else fails. */
dome_status dsparse__check_by_row(const dsparse *a, const dvec *y);

/* Forgets the plan of the last product. */
void dsparse__plan_forget(dsparse *a);

/* The id for the program's history; 0 for NULL. dome__begin refuses the operation if a was freed. */
static inline uint64_t dsparse__id(const dsparse *a)
{
    return a ? dome_operation_object_word(a->object) : 0;
}

#endif
