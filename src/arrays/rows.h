/* Arrays of three axes - outer, along, inner - whose rows along the middle one are brought together, each on one task. */
#ifndef DOME_SRC_ROWS_H
#define DOME_SRC_ROWS_H

#include "arrays/boxes.h"

/* x's values in C order. A row is the `count` values with one outer and one inner index; its number is outer * inner extent +
 * inner. */
typedef struct dvec_rows {
    const dvec *x;
    uint64_t outer, count, inner;
} dvec_rows;

/* The rows of all tasks: by rank two ranges of their numbers, of which the second is empty. If x is DOME_WHOLE, each task has
 * all. g_free'd by the caller. */
dome_span *dvec__share_rows(const dvec_rows *rows);

/* Allocates *values (dome__storage_free) and brings this task's rows there, one after the other. Collective; x is settled. */
int dvec__gather_rows(const dvec_rows *rows, const dome_span *shares, char **values);

/* Writes rows of values of z's type into z, an array of these extents. Collective. */
int dvec__scatter_rows(dvec *z, const dvec_rows *rows, const dome_span *shares, const char *values);

#endif
