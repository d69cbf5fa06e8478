/* A strict reader of sparse square matrices in Matrix Market coordinate format
 * (https://math.nist.gov/MatrixMarket/formats.html): real and integer values, general and symmetric storage. */
#ifndef MATRIX_MARKET_H
#define MATRIX_MARKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The entries of row i are row[i] ... row[i + 1] - 1, in ascending order of columns. Symmetric storage is expanded. */
typedef struct mm_matrix {
    uint64_t n; /* rows and columns, at least 1 */
    uint64_t entries;
    uint64_t *row; /* n + 1 numbers */
    uint64_t *column;
    double *value;
} mm_matrix;

enum { MM_ERROR = 256 };

/* Builds the matrix from the text of a file. Returns false with the reason, which names the line, in error. What it allocates
 * is bounded by a small multiple of bytes, whatever the text promises. */
bool mm_parse(mm_matrix *matrix, const char *text, size_t bytes, char error[MM_ERROR]);

/* Reads a file into memory (the caller frees *text); and the same followed by mm_parse. Errors name the file. */
bool mm_load(const char *path, char **text, size_t *bytes, char error[MM_ERROR]);
bool mm_read(mm_matrix *matrix, const char *path, char error[MM_ERROR]);

/* Allocates room for n rows and `entries` entries, both set by the caller: for a matrix from another source. False
 * without memory. */
bool mm_alloc(mm_matrix *matrix);
void mm_clear(mm_matrix *matrix);

/* The value at row i, column j; 0 if there is no entry. */
double mm_at(const mm_matrix *matrix, uint64_t i, uint64_t j);

/* Whether conjugate gradients with diagonal preconditioning may be tried: the matrix is symmetric, and its diagonal is
 * positive and can be inverted. Otherwise error states an entry for which this fails. */
bool mm_check_cg(const mm_matrix *matrix, char error[MM_ERROR]);

#endif
