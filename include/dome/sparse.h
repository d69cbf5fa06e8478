/* Distributed sparse matrices, in compressed rows (CSR).
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
 * - Values have type DOME_F64, or another one that dsparse_new_of was given: DOME_F32, DOME_C64,
 *   DOME_C128, DOME_I32 or DOME_I64. Vectors in one operation with a matrix have its type
 *   (DOME_ERR_TYPE). A double is rounded to float where the type has floats, and a real value in a
 *   complex matrix has the imaginary part 0. Functions with c128 in their names take or give
 *   value[0] + value[1] i; unless they only read, they are for complex matrices alone
 *   (DOME_ERR_TYPE). Integers are given, read and scaled by the functions with i64 in their names
 *   alone, which are for no other matrices (DOME_ERR_TYPE); DOME_ERR_RANGE: a value given is not one
 *   of DOME_I32.
 * - Entries of a row are kept in ascending order of their columns, one for each column, including
 *   entries whose value is 0. Values given for the same row and column are added, from the smallest
 *   to the largest (-0 before +0; complex ones by their real, then their imaginary parts), so the
 *   sum does not depend on who gave which, or in what order.
 * - Results have the same bits for any number of tasks and any layout. Sums and products are those
 *   of the matrix's type, each rounded once; a complex product is (ac - bd) + (ad + bc) i. Those of
 *   integers are modulo 2^32 or 2^64, as those of dvec are.
 * - A block of rows (dome_block_size) has less than 2^32 entries, a matrix at most 2^32 columns, and
 *   an entry 4 bytes beside its value. */
#ifndef DOME_SPARSE_H
#define DOME_SPARSE_H

#include <dome/dvec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dsparse dsparse;

/* ---- creating and freeing ---- */

/* A new matrix without entries, of values of type DOME_F64, or of `type`. `name` has the meaning
 * that it has in dvec_new: a matrix with a name of its own is restored from the checkpoint while the
 * program restarts (dome_is_restarting). Collective in order. env owns the matrix until dsparse_free
 * or dome_finalize. NULL on failure: DOME_ERR_ARGUMENT, DOME_ERR_NAME, DOME_ERR_MEMORY;
 * DOME_ERR_TYPE for another type; on a restart also the errors of dome_object_new
 * (structure.h). */
dsparse *dsparse_new(dome_env *env, const char *name, uint64_t rows, uint64_t columns);
dsparse *dsparse_new_of(dome_env *env, const char *name, dome_type type, uint64_t rows, uint64_t columns);

/* Frees a matrix. NULL is allowed. Collective in order. */
void dsparse_free(dsparse *a);

/* Not collective. The name belongs to the matrix; dsparse_object is its handle for structure.h. */
dome_env *dsparse_env(const dsparse *a);
const char *dsparse_name(const dsparse *a);
dome_type dsparse_type(const dsparse *a);
uint64_t dsparse_rows(const dsparse *a);
uint64_t dsparse_columns(const dsparse *a);
dome_object *dsparse_object(const dsparse *a);

/* ---- entries: each of these calls replaces all entries ---- */

typedef struct dsparse_triplet {
    uint64_t row, column;
    double value;
} dsparse_triplet;

typedef struct dsparse_triplet_c128 {
    uint64_t row, column;
    double value[2]; /* real and imaginary part */
} dsparse_triplet_c128;

typedef struct dsparse_triplet_i64 {
    uint64_t row, column;
    int64_t value;
} dsparse_triplet_i64;

/* Gives the matrix the entries triplets[0 ... n - 1] of all tasks (SciPy: coo_matrix; PETSc:
 * MatSetValuesCOO with ADD_VALUES). Each task gives any triplets, in any order, for any rows; n may
 * be 0. The array is not kept. A task needs memory for its triplets and those of its rows beside
 * the matrix. Collective. DOME_ERR_RANGE: a row or column that the matrix does not have, too many
 * entries in a block of rows; DOME_ERR_MEMORY. On failure the matrix is unchanged. */
dome_status dsparse_assemble(dsparse *a, size_t n, const dsparse_triplet triplets[]);
dome_status dsparse_assemble_c128(dsparse *a, size_t n, const dsparse_triplet_c128 triplets[]);
dome_status dsparse_assemble_i64(dsparse *a, size_t n, const dsparse_triplet_i64 triplets[]);

/* The same for triplets that are in three vectors of one length: rows and columns of type I64 or U64,
 * and values of type F64, or I64 for integer and C128 for complex matrices. Errors also DOME_ERR_SHAPE,
 * DOME_ERR_TYPE, DOME_ERR_LAYOUT, DOME_ERR_ARGUMENT. */
dome_status dsparse_assemble_vectors(dsparse *a, const dvec *rows, const dvec *columns, const dvec *values);

/* A row that a function of the program is filling. */
typedef struct dsparse_row dsparse_row;

/* Adds an entry to the row. To be called in a dsparse_row_function only, which need not look at
 * failures: dsparse_fill_rows reports them. */
void dsparse_row_add(dsparse_row *row, uint64_t column, double value);
void dsparse_row_add_c128(dsparse_row *row, uint64_t column, const double value[2]);
void dsparse_row_add_i64(dsparse_row *row, uint64_t column, int64_t value);

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
 * (dvec_local_spans of a vector of as many elements says which those are). Not collective.
 * DOME_ERR_RANGE: there is no such row, or another task owns it. DOME_ERR_TYPE: the matrix is
 * complex; dsparse_get_row_c128 reads any matrix that is not of integers. */
dome_status dsparse_get_row(const dsparse *a, uint64_t row, size_t room, uint64_t column[], double value[], size_t *count);
dome_status dsparse_get_row_c128(const dsparse *a, uint64_t row, size_t room, uint64_t column[], double value[][2],
                                 size_t *count);
dome_status dsparse_get_row_i64(const dsparse *a, uint64_t row, size_t room, uint64_t column[], int64_t value[], size_t *count);

/* ---- products ---- */

/* y = A x (PETSc: MatMult; SciPy: A @ x). x has an element for each column and y one for each row,
 * both of the matrix's type and of one width: a width of k multiplies k vectors at once, value j of
 * each element belonging to vector j. y is DOME_DYNAMIC with the block size of its length; x has
 * any distribution and block size, and is not y. Each value of y is the sum of its row's products,
 * added in ascending order of columns, beginning with 0.
 *
 * The first call finds out which elements of x each task needs from which others, and keeps that
 * until the matrix is filled anew, the layout of the rows or of x changes, or x has another width.
 * The elements travel while the task computes the blocks of rows that need none of them.
 * Collective. DOME_ERR_ARGUMENT, DOME_ERR_TYPE, DOME_ERR_SHAPE, DOME_ERR_LAYOUT, DOME_ERR_MEMORY. */
dome_status dsparse_multiply(dvec *y, dsparse *a, const dvec *x);

/* y = A^T x (PETSc: MatMultTranspose; SciPy: A.T @ x). x has an element for each row and is as y is in
 * dsparse_multiply; y has one for each column, any distribution and block size. Each value of y is
 * the sum of its column's products, added in ascending order of rows, beginning with 0: the bits are
 * those of dsparse_transpose and dsparse_multiply. (A^H x of a complex matrix is the conjugate, by
 * dvec_conj, of A^T times the conjugate of x.)
 *
 * The first call chooses one of three ways, by what they send and compute in as many products as it
 * expects: entry by entry, each product to the owner of its element of y (the few entries of a grid
 * that other tasks need); by sums, which pass from task to task while each adds its rows' products
 * (a tall matrix); or by a transpose, which the matrix then keeps (random columns, a wide matrix).
 * The last two keep a copy of the entries. The data that a call keeps is dropped when the matrix is
 * filled anew, scaled or freed, when the layout of its rows or of y changes, and, entry by entry,
 * when x has another width. A matrix that changes after every product soon keeps no copy: as many
 * products are expected as the last choice has served. Without memory for a copy the products go
 * entry by entry. --dome-profile shows the way that was chosen and the bytes that it sent.
 * Collective. DOME_ERR_ARGUMENT, DOME_ERR_TYPE, DOME_ERR_SHAPE, DOME_ERR_LAYOUT, DOME_ERR_MEMORY;
 * DOME_ERR_RANGE: a task has more than 2^32 entries, so that no way is possible. */
dome_status dsparse_multiply_transposed(dvec *y, dsparse *a, const dvec *x);

/* t = A^T (PETSc: MatTranspose; SciPy: A.T). t is made with A's columns as rows and A's rows as
 * columns, and with A's type; its entries are replaced. t may be a. Memory as in dsparse_assemble.
 * Collective. DOME_ERR_ARGUMENT, DOME_ERR_TYPE, DOME_ERR_SHAPE, DOME_ERR_MEMORY; DOME_ERR_RANGE: too
 * many entries in a block of rows. */
dome_status dsparse_transpose(dsparse *t, const dsparse *a);

/* Whether A = A^T, where a missing entry is 0 (PETSc: MatIsSymmetric with tolerance 0). False if a
 * value is NaN, or A is not square. Memory as for dsparse_transpose. Collective. False also on
 * failure: DOME_ERR_MEMORY. */
bool dsparse_is_symmetric(const dsparse *a);

/* ---- some of the rows, as a new matrix ---- */

/* A new matrix called `name`, as dsparse_new makes one, of a's type and with its columns. Its rows
 * are copies of rows of a: in dsparse_slice of the `count` rows first, first + step, ... (SciPy:
 * A[first::step]; step may be negative), in dsparse_submatrix row i of row rows[i] (SciPy: A[rows];
 * PETSc: MatCreateSubMatrix with all columns). `rows` has an integer type, width 1, and is
 * DOME_DYNAMIC with the block size of its length, or DOME_WHOLE; it may name a row several times, in
 * any order. Columns are chosen as rows of the transpose. Memory as in dsparse_assemble. Collective.
 * env owns the matrix. NULL on failure: DOME_ERR_RANGE for a row that does not exist,
 * DOME_ERR_ARGUMENT for a step of 0, DOME_ERR_TYPE, DOME_ERR_SHAPE, DOME_ERR_LAYOUT, and the errors
 * of dsparse_new and dsparse_assemble. */
dsparse *dsparse_slice(const dsparse *a, uint64_t first, uint64_t count, int64_t step, const char *name);
dsparse *dsparse_submatrix(const dsparse *a, const dvec *rows, const char *name);

/* ---- diagonal, scaling, norms ---- */

/* d[i] = the entry in row i and column i, or 0 if there is none (PETSc: MatGetDiagonal; SciPy:
 * A.diagonal()). d is a vector as y in dsparse_multiply, of width 1. Collective in order.
 * DOME_ERR_ARGUMENT, DOME_ERR_TYPE, DOME_ERR_SHAPE, DOME_ERR_LAYOUT. */
dome_status dsparse_diagonal(dvec *d, const dsparse *a);

/* Multiplies all entries by `factor`, or those of row i by d[i] (PETSc: MatScale, MatDiagonalScale;
 * SciPy: diags(d) @ A). A real factor multiplies both parts of complex values. d as in
 * dsparse_diagonal. Collective in order, errors likewise. */
dome_status dsparse_scale(dsparse *a, double factor);
dome_status dsparse_scale_c128(dsparse *a, const double factor[2]);
dome_status dsparse_scale_i64(dsparse *a, int64_t factor);
dome_status dsparse_scale_rows(dsparse *a, const dvec *d);

/* The Frobenius norm: the root of the sum of the squares of all entries; the squares of each row
 * are added in ascending order of columns, and the sums of the rows as dvec_sum adds. The infinity
 * norm: the largest sum of magnitudes in a row; 0 without rows. Both compute in double, whatever the
 * type, and with the C library's hypot for the magnitudes of complex values. They do not scale:
 * squares and sums may overflow. Collective. NaN on failure: DOME_ERR_MEMORY. */
double dsparse_norm_frobenius(const dsparse *a);
double dsparse_norm_inf(const dsparse *a);

/* ---- files ---- */

/* Reads a Matrix Market file (https://math.nist.gov/MatrixMarket/formats.html) into a new matrix
 * called `name`: coordinate format; real, integer, complex or pattern (whose entries become 1);
 * general, symmetric, skew-symmetric (not of a pattern) or hermitian, with the mirrored entries
 * added. A complex file gives a matrix of type DOME_C128, any other one of type DOME_F64. Entries may
 * have any order, and those for one place are added (SciPy: mmread(path).tocsr()). NaN and infinities
 * may be given as nan and inf. The tasks that see rank 0's file share its text evenly; the other
 * tasks read nothing. Collective. env owns the matrix. NULL on failure: DOME_ERR_IO, DOME_ERR_FORMAT
 * (the message has the number of the line), and those of dsparse_new and dsparse_assemble. */
dsparse *dsparse_read(dome_env *env, const char *name, const char *path);

/* Writes the matrix to a Matrix Market file: real, integer or complex, general, with entries in
 * ascending order of rows and columns, and values that are read back exactly (a NaN loses its sign
 * and payload). A file of integers becomes a matrix of doubles in dsparse_read, which refuses
 * numbers from 2^53 on. The bytes do not depend on the number of tasks. Each task writes its own
 * part; how the file appears under its name, and what happens to tasks that do not see rank 0's
 * directory, is as in dvec_write. Collective. DOME_ERR_IO, DOME_ERR_MEMORY. */
dome_status dsparse_write(const dsparse *a, const char *path);

#ifdef __cplusplus
}
#endif
#endif
