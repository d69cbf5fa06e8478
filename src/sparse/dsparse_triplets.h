/* Triplets that tasks are given, and that they send to the tasks that own their rows. */
#ifndef DOME_SRC_DSPARSE_TRIPLETS_H
#define DOME_SRC_DSPARSE_TRIPLETS_H

#include "sparse/dsparse_entries.h"

/* The triplets that a task is given, of one kind: structs, the parts of three vectors, or triplets that other tasks have sent. */
typedef struct given {
    size_t count;
    const dsparse_triplet *real;
    const dsparse_triplet_c128 *parts;
    const dsparse_triplet_i64 *integers;
    const dsparse_entry *entries;
    const uint64_t *row, *column; /* vectors; `value` has `words` words for each */
    const uint64_t *place;        /* arrived: row and column of each; `value` as for vectors */
    const word *value;
    unsigned words;
    bool whole; /* the values are integers */
} given;

FOR_EACH_WIDTH dsparse_number dsparse__number_of(const given *g, size_t k)
{
    if (g->whole)
        return (dsparse_number){.integer = (int64_t)g->value[k].number};
    return (dsparse_number){.re = g->value[g->words * k].value, .im = g->words > 1 ? g->value[g->words * k + 1].value : 0};
}

FOR_EACH_WIDTH dsparse_entry dsparse__entry_of(const given *g, size_t k)
{
    if (g->row)
        return (dsparse_entry){g->row[k], g->column[k], dsparse__number_of(g, k)};
    if (g->place)
        return (dsparse_entry){g->place[2 * k], g->place[2 * k + 1], dsparse__number_of(g, k)};
    if (g->real)
        return (dsparse_entry){g->real[k].row, g->real[k].column, {.re = g->real[k].value}};
    if (g->parts)
        return (dsparse_entry){g->parts[k].row, g->parts[k].column, {.re = g->parts[k].value[0], .im = g->parts[k].value[1]}};
    if (g->integers)
        return (dsparse_entry){g->integers[k].row, g->integers[k].column, {.integer = g->integers[k].value}};
    return g->entries[k];
}

/* Triplets on their way to the tasks that own their rows. */
typedef struct parcel {
    uint64_t *counts, *in_counts; /* by rank: triplets to send and to receive */
    uint64_t *scaled, *in_scaled; /* the same in values */
    uint64_t *place, *in_place;   /* row and column of each */
    word *value, *in_value;       /* a->parts of each */
    uint64_t in_total;
    uint64_t *start; /* by local row */
    word *entries;
} parcel;

void dsparse__parcel_clear(parcel *p);

/* All tasks agree on whether all triplets lie in the matrix. */
dome_status dsparse__check_triplets(const dsparse *a, const given *g);

/* Sends triplets to the owners of their rows; *arrived: those of this task's rows. */
dome_status dsparse__exchange_triplets(parcel *p, const dsparse *a, const given *g, given *arrived);

/* Whether triplets of this task's rows already are in the order of these. */
bool dsparse__in_order(const dsparse *a, const given *g);

/* Puts triplets of this task's rows in the order of these. */
dome_status dsparse__sort_by_row(parcel *p, const dsparse *a, const given *g);

#endif
