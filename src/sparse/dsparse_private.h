/* The fields of a dsparse. Only the dsparse_*.c files include this. */
#ifndef DOME_SRC_DSPARSE_PRIVATE_H
#define DOME_SRC_DSPARSE_PRIVATE_H

#include "core/marks.h"
#include "objects/dvec_private.h"
#include "sparse/dsparse_operations.h"

#include <dome/sparse.h>

/* The rows of one block. Memory of its own begins at `value`; without entries the pointers may be NULL. Entries of row i:
 * start[i] ... start[i + 1] - 1. */
typedef struct dsparse_block {
    uint32_t rows;
    uint8_t written;  /* the marks since which it was (core/marks.h) */
    bool stored;      /* the arrays are part of the matrix's store; else of an allocation of their own */
    bool separate;    /* the values are an allocation of their own, though the others are stored */
    bool scattered;   /* its columns lie so far apart that their elements of x do not stay in the cache */
    bool uniform;     /* all values are `same`, and not in `value`, whose memory is then never touched */
    void *value;      /* of the matrix's type; there is room for all, even where the block is uniform */
    uint32_t *column; /* ascending in each row */
    uint32_t *start;  /* rows + 1 numbers */
    _Alignas(double) char same[2 * sizeof(double)];
} dsparse_block;

typedef struct dsparse_plan dsparse_plan;                             /* dsparse_product.h */
typedef struct dsparse_transposed_product dsparse_transposed_product; /* dsparse_transposed_product.h */

struct dsparse {
    dome_object *object; /* NULL: the transpose that a matrix keeps for its transposed products */
    const dsparse *of;   /* that matrix, whose name messages have; NULL: an object */
    dome_env *env;
    dome_type type; /* DOME_I32, DOME_I64, DOME_F32, DOME_F64, DOME_C64 or DOME_C128 */
    dome_type_kind kind;
    unsigned parts; /* 2 of a complex value, otherwise 1 */
    uint64_t rows, columns;
    dome_layout *layout;
    uint64_t blocks;      /* this task's */
    dsparse_block *block; /* in the order of the layout's run */
    void *store;          /* dome__storage of the blocks that were filled last: large pages */
    dsparse_plan *plan;   /* of the last product; NULL: none */
    dsparse_transposed_product
        *transposed; /* how transposed products are done; NULL: not chosen, or what was chosen holds no longer */
    bool copied;     /* it has a copy of the entries */
    void (*forget_plan)(struct dsparse *a); /* set with plan and transposed */
    void (*forget_transposed)(struct dsparse *a);
    uint64_t expected; /* how many transposed products the last choice has served; 0: not known */
    int wanted;        /* by tests: the dsparse_way to take; 0: choose */
};

/* A matrix has at most this many columns, so that a column's number has 32 bits. */
#define DSPARSE_COLUMNS_MAX (UINT64_C(1) << 32)

static inline uint64_t dsparse__block_entries(const dsparse_block *b)
{
    return b->start ? b->start[b->rows] : 0;
}

/* Complex values in memory. C's own operators for them depend on compiler and flags. */
typedef struct dsparse_c64 {
    float re, im;
} dsparse_c64;

typedef struct dsparse_c128 {
    double re, im;
} dsparse_c128;

/* A value of any type: an integer, or the parts of another one. */
typedef struct dsparse_number {
    union {
        double re;
        int64_t integer;
    };
    double im;
} dsparse_number;

/* A triplet of any type of values. */
typedef struct dsparse_entry {
    uint64_t row, column;
    dsparse_number value;
} dsparse_entry;

static inline bool dsparse__integer(const dsparse *a)
{
    return a->kind <= DOME_KIND_U64;
}

/* A value in an array of the matrix's type; the imaginary part of a real one is 0. */
static inline dsparse_number dsparse__value(const dsparse *a, const void *values, uint64_t k)
{
    switch ((int)a->kind) {
    case DOME_KIND_I32:
        return (dsparse_number){.integer = ((const int32_t *)values)[k]};
    case DOME_KIND_I64:
        return (dsparse_number){.integer = ((const int64_t *)values)[k]};
    case DOME_KIND_F32:
        return (dsparse_number){.re = ((const float *)values)[k]};
    case DOME_KIND_C64:
        return (dsparse_number){.re = ((const dsparse_c64 *)values)[k].re, .im = ((const dsparse_c64 *)values)[k].im};
    case DOME_KIND_C128:
        return (dsparse_number){.re = ((const dsparse_c128 *)values)[k].re, .im = ((const dsparse_c128 *)values)[k].im};
    default:
        return (dsparse_number){.re = ((const double *)values)[k]};
    }
}

/* The value of an entry. */
static inline dsparse_number dsparse__entry(const dsparse *a, const dsparse_block *b, uint64_t k)
{
    return b->uniform ? dsparse__value(a, b->same, 0) : dsparse__value(a, b->value, k);
}

/* Sets a value, rounded to float where the type has floats, or modulo 2^32. */
static inline void dsparse__set_value(const dsparse *a, void *values, uint64_t k, dsparse_number v)
{
    switch ((int)a->kind) {
    case DOME_KIND_I32:
        ((uint32_t *)values)[k] = (uint32_t)v.integer;
        return;
    case DOME_KIND_I64:
        ((int64_t *)values)[k] = v.integer;
        return;
    case DOME_KIND_F32:
        ((float *)values)[k] = (float)v.re;
        return;
    case DOME_KIND_C64:
        ((dsparse_c64 *)values)[k] = (dsparse_c64){(float)v.re, (float)v.im};
        return;
    case DOME_KIND_C128:
        ((dsparse_c128 *)values)[k] = (dsparse_c128){v.re, v.im};
        return;
    default:
        ((double *)values)[k] = v.re;
        return;
    }
}

/* Whether the parts of a value are floats. */
static inline bool dsparse__single(const dsparse *a)
{
    return a->kind == DOME_KIND_F32 || a->kind == DOME_KIND_C64;
}

/* Products ask for elements of x so many entries before they need them: columns may be read, not used, so far behind the last
 * one. */
enum { DSPARSE_AHEAD = 24 };

/* Bytes of a block's arrays, and a block with arrays in so much memory of its own, which the caller fills. */
uint64_t dsparse__block_bytes(const dsparse *a, uint64_t rows, uint64_t entries);
void dsparse__block_place(const dsparse *a, dsparse_block *b, uint32_t rows, uint32_t entries, void *memory);

/* To be called when the arrays of a block are complete; of a uniform one `same` instead of the values. Finds whether it is
 * uniform. */
void dsparse__block_ready(const dsparse *a, dsparse_block *b);

/* Puts the values of a uniform block into its array, so that they may become different. */
void dsparse__block_spread(const dsparse *a, dsparse_block *b);

/* Gives a stored block of a matrix whose other blocks are uniform an array of its own for its values: in the store they would
 * touch pages of which the rest is never used. Without memory the block keeps its place in the store. */
void dsparse__block_separate(const dsparse *a, dsparse_block *b, uint64_t entries);

/* The name for messages. */
const char *dsparse__label(const dsparse *a);

/* Frees the arrays of `count` blocks, and the blocks. */
void dsparse__blocks_free(dsparse_block *block, uint64_t count);

/* a->blocks blocks for this task's part, without entries; NULL without memory. */
dsparse_block *dsparse__blocks_new(const dsparse *a);

/* The block with a number, or NULL if another task owns it. */
dsparse_block *dsparse__block(const dsparse *a, uint64_t number);

/* Makes `block` the content of a, which owns it and its store from now on. */
void dsparse__replace(dsparse *a, dsparse_block *block, void *store);

/* Calls `visit` for each of this task's rows that may have entries, in the order of its memory. local: the row's position there.
 */
typedef void (*dsparse_visitor)(void *ctx, const dsparse *a, dsparse_block *b, uint32_t row, uint64_t index, uint64_t local);
void dsparse__visit_rows(const dsparse *a, dsparse_visitor visit, void *ctx);

/* dsparse_assemble for any type; and with parts, of which the imaginary ones must be 0 in a real matrix. */
dome_status dsparse__assemble(dsparse *a, size_t n, const dsparse_entry entries[]);
dome_status dsparse__assemble_parts(dsparse *a, size_t n, const dsparse_triplet_c128 triplets[]);

/* Gives all blocks arrays for so many entries each, in one store: all values, then all columns, then all starts, so that a
 * product reads each from end to end. NULL without memory. */
void *dsparse__place_blocks(const dsparse *a, dsparse_block *block, const uint64_t *total);

/* The text for a block of rows that has too many entries, by the block's position in this task's run (g_free). */
char *dsparse__too_many(const dsparse *a, uint64_t position);

/* Replaces a's content on all tasks, if all succeeded, or on none: then block and store are freed. text: of this task's failure,
 * freed here; else NULL. */
dome_status dsparse__take(dsparse *a, dsparse_block *block, void *store, dome_status status, char *text);

/* Sends pairs of numbers, of which the first is a row of a, to the tasks that own the rows, ordered by the rank that has sent
 * them. *received: to be freed with dome__storage_free. Fails on all tasks or none. */
dome_status dsparse__send_to_owners(const dsparse *a, uint64_t n, const uint64_t pairs[], uint64_t *in_total,
                                    uint64_t **received);

/* Fails on all tasks unless all have the memory that they need for entries. */
dome_status dsparse__agree_memory(const dsparse *a, bool have);

/* The worst status of all tasks, which is not reported as a failure, unless the tasks cannot be asked. */
dome_status dsparse__worst(const dsparse *a, dome_status status);

/* Makes t, which has a's columns as rows and has been checked, the transpose of a. quiet: a lack of memory, or too many entries
 * in a block, is not reported as a failure. */
dome_status dsparse__transpose(dsparse *t, const dsparse *a, bool quiet);

/* Fail unless the values are complex; unless they are integers; if they are integers, naming the function for these. */
dome_status dsparse__check_complex(const dsparse *a);
dome_status dsparse__check_integer(const dsparse *a);
dome_status dsparse__check_not_integer(const dsparse *a, const char *function);

/* Whether v belongs to a's environment, and has its type and so many elements: rows or columns, as `what` says. */
dome_status dsparse__check_vector(const dsparse *a, const dvec *v, uint64_t length, const char *what);

/* Whether y has an element for each row, in the same blocks; else fails. */
dome_status dsparse__check_by_row(const dsparse *a, const dvec *y);

/* Forgets what products have kept: after a change of entries or layout. */
void dsparse__forget(dsparse *a);

/* Forgets what products have kept of the values: after a change of values alone. */
void dsparse__forget_values(dsparse *a);

/* The id for the program's history; 0 for NULL. dome__begin refuses the operation if a was freed. */
static inline uint64_t dsparse__id(const dsparse *a)
{
    return a ? dome_operation_object_word(a->object) : 0;
}

#endif
