/* Matrices of doubles in .npy files, for the examples without Dome: only what they need, version 1.0, "<f8", C order,
 * two dimensions. */
#ifndef NPY_F64_H
#define NPY_F64_H

#include <stdbool.h>
#include <stddef.h>

enum { NPY_ERROR = 256 };

typedef struct npy_matrix {
    size_t rows, columns;
    double *value; /* row by row */
} npy_matrix;

/* False with the reason, which names the file, in error. The caller frees value. */
bool npy_read(npy_matrix *matrix, const char *path, char error[NPY_ERROR]);
bool npy_write(const npy_matrix *matrix, const char *path, char error[NPY_ERROR]);

#endif
