/* The text of an array as NumPy prints it, as a pure function on memory: all values of a short one, the first and last three
 * along each dimension of a long one. */
#ifndef DOME_SRC_ARRAY_TEXT_H
#define DOME_SRC_ARRAY_TEXT_H

#include <dome/dvec.h>

/* An array of this shape, and how much of it is shown. */
typedef struct dome_array_view {
    int ndim;
    uint64_t shape[DOME_MAX_DIMENSIONS];
    uint64_t shown[DOME_MAX_DIMENSIONS]; /* along each dimension: all, or the first and the last half of so many */
    uint64_t count;                      /* values shown */
} dome_array_view;

dome_array_view dome__array_view(int ndim, const uint64_t shape[]);

/* The position, row by row, of the value that is shown as number k. */
uint64_t dome__array_position(const dome_array_view *view, uint64_t k);

/* The text; `values` are those that are shown, in this order. g_free'd by the caller. */
char *dome__array_text(const dome_array_view *view, dome_type type, const void *values);

#endif
