/* Operations on vectors as whole arrays: sorting, searching, selecting, slices, running sums and
 * products, reductions by label, products of matrices.
 *
 * dvec.h has the conventions. All functions here are collective, and need the values of the vectors
 * that they read. Results have the same bits for any number of tasks and any layout.
 *
 * Order: all types but structs have one (structs: DOME_ERR_TYPE). Zeros of both signs are equal,
 * and so are all NaN, which come last as in NumPy. Complex values are in order of their real parts,
 * and where these are equal, of their imaginary parts. Complex values of which a part is NaN come
 * last: first those with a real part that is a number, in its order, then those with such an
 * imaginary part, then those of which both parts are NaN (NumPy: sort). Vectors that are sorted or
 * searched have width 1 (DOME_ERR_SHAPE).
 *
 * Functions that return a vector make a new one called `name`, as dvec_new does: with the
 * distribution of their first vector and a block size that depends on the length. A length that
 * follows from values is the same on all tasks. env owns the vector. NULL on failure, with the
 * errors of dvec_new and those named below. */
#ifndef DOME_ARRAYS_H
#define DOME_ARRAYS_H

#include <dome/dvec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sorting and searching ---- */

/* z = x's values in ascending order (NumPy: sort). Of real zeros, -0 comes before +0; of real NaN,
 * those with the sign set come last. Complex values that are equal keep their order. z has the type
 * and the layout of x, and may be x. Each task sorts its part, and one exchange brings every value
 * to its task; a task needs memory for 16 bytes for each of its values, for complex ones 48. */
dome_status dvec_sort(dvec *z, const dvec *x);

/* index = the positions of x's values in ascending order: dvec_gather(z, x, index) sorts (NumPy:
 * argsort). Positions of equal values ascend: the order is stable. index has the length and layout
 * of x and type DOME_I64 or DOME_U64. A task needs memory for 32 bytes for each of its values, for
 * values of type DOME_C128 48. */
dome_status dvec_argsort(dvec *index, const dvec *x);

/* index[i] = the number of elements of `sorted` that are less than x[i]; with `right` set, less
 * than or equal to it (NumPy: searchsorted). sorted has any length, and x's type; index is as in
 * dvec_argsort. DOME_ERR_ARGUMENT if an element of `sorted` is less than the one before it. */
dome_status dvec_searchsorted(dvec *index, const dvec *sorted, const dvec *x, bool right);

/* The k smallest values of x in ascending order, or its k largest in descending order, and the
 * positions where they stand; of equal values the lower position comes first (PyTorch: topk; NumPy:
 * argsort and a slice). NaN counts as larger than all numbers. values has room for k values of x's
 * type, positions for k numbers; each may be NULL, on all tasks or none. Every task gets the results.
 * Cheaper than sorting while k is much smaller than the vector: a task looks at each of its values
 * once, and needs memory for some items of 16 bytes (DOME_C128: 24) for each of the k. k may be 0.
 * DOME_ERR_ARGUMENT: x has fewer values. On failure the results are unchanged. */
dome_status dvec_topk(const dvec *x, uint64_t k, bool largest, void *values, uint64_t positions[]);

/* ---- selecting: new vectors ---- */

/* The different values of x in ascending order (NumPy: unique). A zero is +0, and there is at most
 * one NaN; of complex values with a part that is NaN the first in order is left. */
dvec *dvec_unique(const dvec *x, const char *name);

/* The elements of x where mask is not 0, in order (NumPy: compress, x[mask]). mask has type
 * DOME_U8, width 1 and the layout of x; it may be DOME_WHOLE. x has any type and width. */
dvec *dvec_compress(const dvec *x, const dvec *mask, const char *name);

/* The positions of all values of x that are not 0, in ascending order, as DOME_I64 (NumPy:
 * nonzero). NaN is not 0. Width 1, not for struct types. */
dvec *dvec_nonzero(const dvec *x, const char *name);

/* The `count` elements x[first], x[first + step], ... (NumPy: x[first::step]). step may be
 * negative. DOME_ERR_RANGE unless all of them lie in x; DOME_ERR_ARGUMENT for a step of 0. Any type
 * and width. */
dvec *dvec_slice(const dvec *x, uint64_t first, uint64_t count, int64_t step, const char *name);

/* The elements of x[0], then those of x[1], ..., x[n - 1] (NumPy: concatenate). They agree in type
 * and width; n is at least 1 and at most 2^24. */
dvec *dvec_concatenate(size_t n, const dvec *const x[], const char *name);

/* ---- running sums and products ---- */

/* Exclusive prefix sums: z[0] = 0, and z[i] has the bits of dvec_scan's element i - 1 (MPI:
 * MPI_Exscan; Thrust: exclusive_scan). The result for a vector of counts tells where each element's
 * part begins. Types as for dvec_scan; of a struct type all bytes of z[0] are 0. z may be x. */
dome_status dvec_exscan(dvec *z, const dvec *x);

/* z[i] = x[0] * ... * x[i], separately for each of the width values (NumPy: cumprod). Real and
 * integer types; integers wrap around. Floating point: z[i] = P * s, where s is the product from
 * the start of i's block up to i, formed in order in double precision (for F32 too), and P the
 * product of the last s of all blocks before, from left to right. So a product may overflow or
 * underflow where a loop's would not, if those of single blocks do. The result is rounded to the
 * type. z may be x. */
dome_status dvec_cumprod(dvec *z, const dvec *x);

/* ---- reductions by label ----
 *
 * labels[i] says to which of k groups element i of x belongs: an integer in 0 ... k - 1 (else
 * DOME_ERR_RANGE; the line names the first). labels has width 1, and the length and layout of x, or
 * is DOME_WHOLE. x is real or integer. Results stand by label, then by column: result[j * width +
 * c] is that of column c of the elements with label j. Every task gets all results, and needs
 * memory for them: for a sum 600 bytes. For millions of labels use dvec_scatter_add. */

/* Makes such labels of keys of any kind, strings among them (pandas: factorize; NumPy: unique with
 * return_inverse): labels[i] is the number of element i's key among the different keys, which are
 * returned as a new vector of keys' type and width; k is its length. They stand in the order in which
 * they appear first or, with `sort`, in ascending order. A key is an element with all its values,
 * compared from the first value to the last: a string of up to 16 bytes is an element of 16 values of
 * type DOME_U8, filled up with 0 (dvec_read_columns makes such vectors). labels has type DOME_I64 or
 * DOME_U64, width 1, and the length and layout of keys. A task needs memory for some words and for the
 * key of each of its elements. */
dvec *dvec_factorize(dvec *labels, const dvec *keys, bool sort, const char *name);

/* Sums by label (NumPy: bincount with weights, add.at; pandas: groupby.sum). Within a block the
 * values with one label are added in order in double precision; the sums of blocks are added
 * exactly and rounded once. Integer sums are exact, then rounded. 0 for a label without elements. */
dome_status dvec_sum_by(const dvec *x, const dvec *labels, uint64_t k, double sums[]);

/* The smallest and the largest value by label. NaN if any of the values is NaN, and for a label
 * without elements. -0 is less than +0. */
dome_status dvec_min_by(const dvec *x, const dvec *labels, uint64_t k, double smallest[]);
dome_status dvec_max_by(const dvec *x, const dvec *labels, uint64_t k, double largest[]);

/* The number of elements with each label (NumPy: bincount). counts has room for k numbers. */
dome_status dvec_count_by(const dvec *labels, uint64_t k, uint64_t counts[]);

/* For each element of x the number of the row that is nearest to it: the first one with the least
 * sum of squared differences (SciPy: cluster.vq.vq, a step of k-means). rows has one or more elements
 * of x's type and width, and any distribution: every task needs memory for all of them. z has an
 * integer type that holds their numbers (else DOME_ERR_RANGE), width 1, and the length and layout of
 * x, unless x is DOME_WHOLE. x has type DOME_F32 or DOME_F64; distances are computed in double
 * precision, and added in the order of the columns. A distance that is NaN is never the least; z is
 * 0 where none is finite. DOME_ERR_ARGUMENT, DOME_ERR_TYPE, DOME_ERR_SHAPE, DOME_ERR_LAYOUT,
 * DOME_ERR_MEMORY. */
dome_status dvec_nearest(dvec *z, const dvec *x, const dvec *rows);

/* Counts all values of x by bin (NumPy: histogram). Bin j holds the values from edge j, included,
 * to edge j + 1, excluded but for the last bin. The edges are low + j * ((high - low) / bins), the
 * last one is high. Values outside and NaN are not counted. Values of all types are compared as
 * doubles. dvec_histogram_edges: bins + 1 edges that do not descend. DOME_ERR_ARGUMENT: no bins,
 * edges that descend or are NaN; low and high that do not ascend, are not finite, or whose
 * difference is not. */
dome_status dvec_histogram(const dvec *x, uint64_t bins, double low, double high, uint64_t counts[]);
dome_status dvec_histogram_edges(const dvec *x, uint64_t bins, const double edges[], uint64_t counts[]);

/* ---- products of matrices ----
 *
 * A vector of n elements of width k is a matrix of n rows and k columns. Types: DOME_F32 and
 * DOME_F64, the same for all matrices of a product (DOME_ERR_TYPE). DOME_ERR_SHAPE: the numbers of
 * rows and columns do not fit together.
 *
 * If the library was built with a BLAS, and finds it when the first product is computed, that
 * computes the product of each block of rows by one call, and on one thread: the tasks are the
 * parallelism. So the bits depend on the BLAS and on the kind of processor, as a program's own calls
 * would, and on the block size, but not on the number of tasks or on the layout. If the tasks'
 * libraries or kinds of processors differ, or there is no BLAS, plain loops compute the products on
 * all tasks: each value is then the sum of its products in order, from 0 on.
 *
 * A BLAS reads all of the second factor for each block. Blocks of some hundred rows (.block = 256 in
 * DVEC_OPTIONS of the first factor and of the result) use it better than the few that short vectors
 * have. */

/* C = A B (NumPy: A @ B, matmul; PETSc: MatMatMult, MatMult; BLAS: gemm, gemv). A has n elements of
 * width k, B k elements of width m, and C n elements of width m: with m = 1, B and C are vectors of
 * numbers. C agrees with A in layout, unless A is DOME_WHOLE, and is neither A nor B
 * (DOME_ERR_ARGUMENT). B has any distribution: every task needs memory for all of it, and the call
 * brings it there unless it is DOME_WHOLE. */
dome_status dvec_matmul(dvec *c, const dvec *a, const dvec *b);

/* result = A^T B, on every task (NumPy: A.T @ B; PETSc: MatTransposeMatMult). A has n elements of
 * width k, B n elements of width m; they agree in layout, or one is DOME_WHOLE. result[i * m + j] is
 * the product of A's column i and B's column j; of A and A it is symmetric to the bit. Products of
 * blocks are computed in double precision, for DOME_F32 too, and added exactly; their sum is rounded
 * once. NaN on failure. A task needs memory for 600 bytes for each value, for 10 MB at most or for
 * one row. */
dome_status dvec_transpose_matmul(const dvec *a, const dvec *b, double result[]);

#ifdef __cplusplus
}
#endif
#endif
