/* Vectors as arrays of several dimensions: views, and reductions along axes.
 *
 * The values of a vector are those of an array row by row (C order, NumPy's default): value number
 * p is value p % width of element p / width. A dvec_view says which of them an array has, and in
 * which order: value (i[0], ..., i[ndim - 1]) of the array is value number
 *
 *     offset + i[0] * stride[0] + ... + i[ndim - 1] * stride[ndim - 1]
 *
 * of the vector (NumPy: ndarray.strides, in values instead of bytes; BLAS: increments). A view is a
 * description that costs nothing: transposing, slicing, reversing and broadcasting change its
 * numbers. dvec_take_view then moves the values, once for all these changes:
 *
 *     dvec_view v;
 *     dvec_view_array(&v, 2, (const uint64_t[]){rows, columns});
 *     dvec_view_slice(&v, 0, 0, rows / 2, 2);                      x[::2]
 *     dvec_view_transpose(&v, NULL);                               x[::2].T
 *     dvec *z = dvec_take_view(x, &v, "z");
 *
 * Functions that take a vector and a view accept NULL as view: the array is then the vector with
 * its own shape (dvec_shape). Vectors may have any type, width, block size and distribution. dvec.h
 * has the conventions. Results have the same bits for any number of tasks and any layout.
 *
 * Functions that return a vector make a new one called `name`, as dvec_new does: of width 1, with
 * the distribution of their first vector, the default block size, and, if it has 1 to
 * DOME_MAX_DIMENSIONS dimensions, the shape of the result. An array without dimensions has one
 * value. env owns the vector. NULL on failure, with the errors of dvec_new and those named here. */
#ifndef DOME_NDIM_H
#define DOME_NDIM_H

#include <dome/dvec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- views ---- */

enum { DVEC_MAX_AXES = 32 };

typedef struct dvec_view {
    int ndim; /* 0 ... DVEC_MAX_AXES */
    uint64_t offset;
    uint64_t extent[DVEC_MAX_AXES]; /* how many values the array has along each axis */
    int64_t stride[DVEC_MAX_AXES];  /* in values of the vector; may be 0 or negative */
} dvec_view;

/* These functions change a view alone. None is collective, and none needs an environment. They
 * return false, and leave the view as it is, if it cannot be changed so: an axis that it does not
 * have, an index that is outside, too many dimensions. An axis is a number 0 ... ndim - 1. */

/* The array with these extents in C order, from value 0 on. False if it would have 2^63 values or
 * more. extent may be NULL if ndim is 0. */
bool dvec_view_array(dvec_view *view, int ndim, const uint64_t extent[]);

/* Axis k becomes what axis axes[k] was: a permutation (NumPy: transpose). NULL: in reverse order. */
bool dvec_view_transpose(dvec_view *view, const int axes[]);

/* Along one axis the `count` indices first, first + step, ... (NumPy: x[first::step]). step is not
 * 0; all indices must lie in the axis. A view that has no values begins anywhere. */
bool dvec_view_slice(dvec_view *view, int axis, uint64_t first, uint64_t count, int64_t step);

/* One index of an axis; the view loses the axis (NumPy: x[i]). */
bool dvec_view_index(dvec_view *view, int axis, uint64_t index);

/* The axis in reverse order (NumPy: flip). */
bool dvec_view_flip(dvec_view *view, int axis);

/* A new axis of extent 1 before axis `axis`; behind the last one if that is ndim (NumPy:
 * expand_dims). */
bool dvec_view_insert(dvec_view *view, int axis);

/* Repeats axes of extent 1, and adds axes in front, so that the view gets these extents (NumPy:
 * broadcast_to). */
bool dvec_view_broadcast(dvec_view *view, int ndim, const uint64_t extent[]);

/* The number of values, the product of the extents; 1 if there are none. */
uint64_t dvec_view_count(const dvec_view *view);

/* ---- moving values: collective ---- */

/* A new vector of the values of a view of x, in C order. Where the view is of all values in their
 * order, this is dvec_copy. Otherwise each task finds from the numbers of the view which values
 * others need, and sends them in one exchange; where the view repeats the values of x as often as
 * there are tasks, or more, every task gets x. DOME_ERR_RANGE: the view has values that x does not
 * have. DOME_ERR_ARGUMENT: a wrong number of dimensions. */
dvec *dvec_take_view(const dvec *x, const dvec_view *view, const char *name);

/* The values of a view of z become those of a view of x (NumPy: z[...] = x[...]). The views have
 * the same extents, and the vectors the same type (DOME_ERR_SHAPE, DOME_ERR_TYPE). A view that is
 * NULL is here the vector in the order of its values, whatever its shape is: it has as many as the
 * other view. No two values of the view of z may be the same of z; DOME_ERR_ARGUMENT if that does
 * not follow from its strides: sorted by size, each must be larger than the distance that all
 * smaller ones span. z may be x: x's values are those from before. */
dome_status dvec_copy_view(dvec *z, const dvec_view *z_view, const dvec *x, const dvec_view *x_view);

/* The arrays x[0] ... x[n - 1] one behind the other along an axis (NumPy: concatenate; with
 * dvec_view_insert before: stack). They agree in type and in all other extents. views may be NULL,
 * for the vectors' own shapes. n is from 1 to 2^24. */
dvec *dvec_join_views(size_t n, const dvec *const x[], const dvec_view views[], int axis, const char *name);

/* Index i of the axis becomes index (i + k) modulo its extent (NumPy: roll). k may be negative. */
dvec *dvec_roll_view(const dvec *x, const dvec_view *view, int axis, int64_t k, const char *name);

/* ---- reductions along axes: collective ----
 *
 * axes has a bit for each axis that is reduced: DVEC_AXIS(0) | DVEC_AXIS(2), or DVEC_ALL_AXES. The
 * result has the other axes, in their order. Values are reduced where they are, and tasks exchange
 * results of parts; products of floating-point values, reduced axes that are not next to each
 * other, and views other than the whole array in C order are moved first. Not for struct types
 * (DOME_ERR_TYPE). */

#define DVEC_AXIS(k)  (UINT32_C(1) << (k))
#define DVEC_ALL_AXES UINT32_MAX

typedef enum dvec_axis_operation {
    /* Of integers, the result has type DOME_I64 or DOME_U64 and wraps around, else it has the type
     * of x. A sum is exact, then rounded to double, then to the type; of complex values so are both
     * parts. A product is taken in C order, in double precision, and then rounded to the type; one
     * over all axes is dvec_prod's. A mean is the sum as a double, divided by the number of values:
     * DOME_F64 of integers, NaN of no values. Of no values a sum is 0, and a product 1. */
    DVEC_SUM_ALONG,
    DVEC_PROD_ALONG,
    DVEC_MEAN_ALONG,
    /* Not for complex types. NaN if any of the values is NaN; of zeros the first. The result has
     * the type of x. DOME_ERR_ARGUMENT: the smallest or largest of no values. */
    DVEC_MIN_ALONG,
    DVEC_MAX_ALONG,
    /* The position of the smallest or largest value, the first one if there are several, the first
     * NaN if there is one, as DOME_I64: its number in C order among the values reduced to one
     * result. */
    DVEC_ARGMIN_ALONG,
    DVEC_ARGMAX_ALONG,
    /* Whether any value is not 0, or all are not 0, as DOME_U8: 1 or 0. NaN is not 0. Of no
     * values: 0 and 1. */
    DVEC_ANY_ALONG,
    DVEC_ALL_ALONG
} dvec_axis_operation;

dvec *dvec_reduce_view(const dvec *x, const dvec_view *view, dvec_axis_operation operation, uint32_t axes, const char *name);

/* Running results along one axis: value j of the axis becomes the result of values 0 ... j (NumPy:
 * cumsum, cumprod, minimum.accumulate). operation is sum, prod, min or max. Floating-point sums and
 * products are formed in order, in double precision, each step rounded to double; results are
 * rounded to the type. If all other axes have extent 1, those of values that are not complex have
 * the bits of dvec_scan and dvec_cumprod. Otherwise each row along the axis is brought to one task,
 * which needs memory for it. Types as above. */
dvec *dvec_scan_view(const dvec *x, const dvec_view *view, dvec_axis_operation operation, int axis, const char *name);

#ifdef __cplusplus
}
#endif
#endif
