#include "npy_f64.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail(const char *path, const char *reason, char error[NPY_ERROR])
{
    snprintf(error, NPY_ERROR, "%.150s: %s", path, reason);
    return false;
}

/* Converts between the little-endian doubles of the file and the machine's. */
static void swap(double *value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        bits = le64toh(bits);
        memcpy(&value[i], &bits, sizeof bits);
    }
}

/* Returns NULL, or an error message. */
static const char *read_from(FILE *file, npy_matrix *matrix)
{
    unsigned char head[10];
    char text[65536] = "", end[2];
    unsigned long long rows, columns;
    if (fread(head, 1, sizeof head, file) != sizeof head || memcmp(head, "\x93NUMPY", 6) != 0)
        return "not a .npy file";
    if (head[6] != 1 || head[7] != 0)
        return "not of version 1.0";
    size_t length = head[8] + 256u * head[9];
    if (fread(text, 1, length, file) != length)
        return "truncated";
    if (sscanf(text, "{'descr': '<f8', 'fortran_order': False, 'shape': (%llu, %llu)%1[,]", &rows, &columns, end) != 3)
        return "not a matrix of doubles (\"<f8\", two dimensions, C order)";
    if (rows > SIZE_MAX || columns > SIZE_MAX || (columns && rows > SIZE_MAX / sizeof(double) / columns))
        return "too large";
    matrix->rows = rows;
    matrix->columns = columns;
    size_t n = matrix->rows * matrix->columns;
    matrix->value = malloc((n + 1) * sizeof(double));
    if (!matrix->value)
        return "not enough memory";
    if (fread(matrix->value, sizeof(double), n, file) != n)
        return "truncated";
    if (fgetc(file) != EOF)
        return "longer than its header says";
    swap(matrix->value, n);
    return NULL;
}

bool npy_read(npy_matrix *matrix, const char *path, char error[NPY_ERROR])
{
    *matrix = (npy_matrix){0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(path, strerror(errno), error);
    const char *reason = read_from(file, matrix);
    fclose(file);
    if (!reason)
        return true;
    free(matrix->value);
    matrix->value = NULL;
    return fail(path, reason, error);
}

bool npy_write(const npy_matrix *matrix, const char *path, char error[NPY_ERROR])
{
    char header[128];
    unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    int length = snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, %zu), }", matrix->rows,
                          matrix->columns);
    /* Spaces and a newline, so that the data start at a multiple of 64. */
    int padded = (length + 1 + (int)sizeof head + 63) / 64 * 64 - (int)sizeof head;
    head[8] = (unsigned char)(padded % 256);
    head[9] = (unsigned char)(padded / 256);
    FILE *file = fopen(path, "wb");
    if (!file)
        return fail(path, strerror(errno), error);
    bool done = fwrite(head, 1, sizeof head, file) == sizeof head && fprintf(file, "%-*s\n", padded - 1, header) == padded;
    for (size_t row = 0; done && row < matrix->rows; row++)
        for (size_t k = 0; done && k < matrix->columns; k++) {
            double value = matrix->value[row * matrix->columns + k];
            swap(&value, 1);
            done = fwrite(&value, sizeof value, 1, file) == 1;
        }
    int reason = errno;
    if (fclose(file) != 0 && done) {
        done = false;
        reason = errno;
    }
    return done || fail(path, strerror(reason), error);
}
