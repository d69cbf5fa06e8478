/* Distributed sparse matrices of doubles, in compressed rows (CSR).
 *
 * The rows of a dsparse are distributed like the elements of a DOME_DYNAMIC vector with one element
 * per row, so the matrix and its vectors move together. A row has any number of entries. Load
 * balancing takes the entries of a block of rows as its cost. A matrix with a name is part of every
 * checkpoint.
 *
 *     dsparse *a = dsparse_new(env, "A", n, n);
 *     if (!dome_is_restarting(env))
 *         dsparse_fill_rows(a, row_of_laplace, &grid);
 *     dsparse_multiply(y, a, x);                                y = A x
 *
 * Conventions
 * - "Collective in order", "collective" and the values returned on failure are those of dvec.h and
 *   error.h. Rows and columns are numbered from 0.
 * - Entries of a row are kept in ascending order of their columns, one for each column, including
 *   entries whose value is 0. Values given for the same row and column are added, from the smallest
 *   to the largest (-0 before +0), so the sum does not depend on who gave which, or in what order.
 * - Results have the same bits for any number of tasks and any layout.
 * - A block of rows (dome_block_size) has less than 2^32 entries, a matrix at most 2^32 columns. */
#ifndef DOME_SPARSE_H
#define DOME_SPARSE_H

#include <dome/dvec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dsparse dsparse;

/* ---- creating and freeing ---- */

/* A new matrix without entries. `name` has the meaning that it has in dvec_new: a matrix with a
 * name of its own is restored from the checkpoint while the program restarts (dome_is_restarting).
 * Collective in order. env owns the matrix until dsparse_free or dome_finalize. NULL on failure:
 * DOME_ERR_ARGUMENT, DOME_ERR_NAME, DOME_ERR_MEMORY; on a restart also the errors of
 * dome_object_new (structure.h). */
dsparse *dsparse_new(dome_env *env, const char *name, uint64_t rows, uint64_t columns);

/* Frees a matrix. NULL is allowed. Collective in order. */
void dsparse_free(dsparse *a);

/* Not collective. The name belongs to the matrix; dsparse_object is its handle for structure.h. */
dome_env *dsparse_env(const dsparse *a);
const char *dsparse_name(const dsparse *a);
uint64_t dsparse_rows(const dsparse *a);
uint64_t dsparse_columns(const dsparse *a);
dome_object *dsparse_object(const dsparse *a);

/* ---- entries: each of these calls replaces all entries ---- */

typedef struct dsparse_triplet {
    uint64_t row, column;
    double value;
} dsparse_triplet;

/* Gives the matrix the entries triplets[0 ... n - 1] of all tasks (SciPy: coo_matrix; PETSc:
 * MatSetValuesCOO with ADD_VALUES). Each task gives any triplets, in any order, for any rows; n may
 * be 0. The array is not kept. A task needs memory for its triplets and those of its rows beside
 * the matrix. Collective. DOME_ERR_RANGE: a row or column that the matrix does not have, too many
 * entries in a block of rows; DOME_ERR_MEMORY. On failure the matrix is unchanged. */
dome_status dsparse_assemble(dsparse *a, size_t n, const dsparse_triplet triplets[]);

/* A row that a function of the program is filling. */
typedef struct dsparse_row dsparse_row;

/* Adds an entry to the row. To be called in a dsparse_row_function only, which need not look at
 * failures: dsparse_fill_rows reports them. */
void dsparse_row_add(dsparse_row *row, uint64_t column, double value);

/* Fills row number `index` by calls of dsparse_row_add, in any order of columns. It must depend on
 * index and ctx alone, and must not call other Dome functions. */
typedef void (*dsparse_row_function)(void *ctx, uint64_t index, dsparse_row *row);

/* Gives the matrix the entries that `function` adds. The library calls it once for each row, on the
 * task that owns the row. Collective. Errors as dsparse_assemble, and DOME_ERR_ARGUMENT. */
dome_status dsparse_fill_rows(dsparse *a, dsparse_row_function function, void *ctx);

/* ---- looking at entries ---- */

/* The number of entries of the whole matrix (SciPy: nnz). Collective. */
uint64_t dsparse_entries(const dsparse *a);

/* Copies up to `room` entries of a row to column[] and value[], and sets *count to the number of
 * entries that the row has (PETSc: MatGetRow). Only the task that owns the row can do that
 * (dvec_local of a vector of as many elements says which those are). Not collective.
 * DOME_ERR_RANGE: there is no such row, or another task owns it. */
dome_status dsparse_get_row(const dsparse *a, uint64_t row, size_t room, uint64_t column[], double value[], size_t *count);

/* ---- products ---- */

/* y = A x (PETSc: MatMult; SciPy: A @ x). x has an element for each column and y one for each row,
 * both of type DOME_F64 and of one width: a width of k multiplies k vectors at once, value j of
 * each element belonging to vector j. y is DOME_DYNAMIC with the block size of its length; x has
 * any distribution and block size, and is not y. Each value of y is the sum of its row's products,
 * added in ascending order of columns, beginning with 0.
 *
 * The first call finds out which elements of x each task needs from which others, and keeps that
 * until the matrix is filled anew, the layout of the rows or of x changes, or x has another width.
 * The elements travel while the task computes the blocks of rows that need none of them.
 * Collective. DOME_ERR_ARGUMENT, DOME_ERR_TYPE, DOME_ERR_SHAPE, DOME_ERR_LAYOUT, DOME_ERR_MEMORY. */
dome_status dsparse_multiply(dvec *y, dsparse *a, const dvec *x);

/* t = A^T (PETSc: MatTranspose; SciPy: A.T). t is made with A's columns as rows and A's rows as
 * columns; its entries are replaced. t may be a. dsparse_multiply(y, t, x) is then the transposed
 * product (PETSc: MatMultTranspose). Memory as in dsparse_assemble. Collective. DOME_ERR_ARGUMENT,
 * DOME_ERR_SHAPE, DOME_ERR_MEMORY; DOME_ERR_RANGE: too many entries in a block of rows. */
dome_status dsparse_transpose(dsparse *t, const dsparse *a);

/* Whether A = A^T, where a missing entry is 0 (PETSc: MatIsSymmetric with tolerance 0). False if a
 * value is NaN, or A is not square. Memory as for dsparse_transpose. Collective. False also on
 * failure: DOME_ERR_MEMORY. */
bool dsparse_is_symmetric(const dsparse *a);

/* ---- diagonal, scaling, norms ---- */

/* d[i] = the entry in row i and column i, or 0 if there is none (PETSc: MatGetDiagonal; SciPy:
 * A.diagonal()). d is a vector as y in dsparse_multiply, of width 1. Collective in order.
 * DOME_ERR_ARGUMENT, DOME_ERR_TYPE, DOME_ERR_SHAPE, DOME_ERR_LAYOUT. */
dome_status dsparse_diagonal(dvec *d, const dsparse *a);

/* Multiplies all entries by `factor`, or those of row i by d[i] (PETSc: MatScale, MatDiagonalScale;
 * SciPy: diags(d) @ A). d as in dsparse_diagonal. Collective in order, errors likewise. */
dome_status dsparse_scale(dsparse *a, double factor);
dome_status dsparse_scale_rows(dsparse *a, const dvec *d);

/* The Frobenius norm: the root of the sum of the squares of all entries; the squares of each row
 * are added in ascending order of columns, and the sums of the rows as dvec_sum adds. The infinity
 * norm: the largest sum of magnitudes in a row; 0 without rows. They do not scale: squares and sums
 * may overflow. Collective. NaN on failure: DOME_ERR_MEMORY. */
double dsparse_norm_frobenius(const dsparse *a);
double dsparse_norm_inf(const dsparse *a);

/* ---- files ---- */

/* Reads a Matrix Market file (https://math.nist.gov/MatrixMarket/formats.html) into a new matrix
 * called `name`: coordinate format; real, integer or pattern (whose entries become 1); general,
 * symmetric or skew-symmetric, with the mirrored entries added. Entries may have any order, and
 * those for one place are added (SciPy: mmread(path).tocsr()). NaN and infinities may be given as
 * nan and inf. The tasks that see rank 0's file share its text evenly; the other tasks read
 * nothing. Collective. env owns the matrix. NULL on failure: DOME_ERR_IO, DOME_ERR_FORMAT (the
 * message has the number of the line), and those of dsparse_new and dsparse_assemble. */
dsparse *dsparse_read(dome_env *env, const char *name, const char *path);

/* Writes the matrix to a Matrix Market file: real, general, with entries in ascending order of rows
 * and columns, and values that are read back exactly (a NaN loses its sign and payload). The bytes
 * do not depend on the number of tasks. Each task writes its own part; how the file appears under
 * its name, and what happens to tasks that do not see rank 0's directory, is as in dvec_write.
 * Collective. DOME_ERR_IO, DOME_ERR_MEMORY. */
dome_status dsparse_write(const dsparse *a, const char *path);

#ifdef __cplusplus
}
#endif
#endif
