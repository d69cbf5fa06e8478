/* Sparse matrices in Matrix Market coordinate format (Boisvert, Pozo and Remington, "The Matrix Market Exchange Formats", NISTIR
 * 5935, 1996; https://math.nist.gov/MatrixMarket/formats.html), as pure functions on memory. No function here opens a file.
 *
 * Values are real, integer, complex or pattern (every entry is 1); storage is general, symmetric, skew-symmetric or, of complex
 * values, hermitian. Functions that fail
 * return false and set *message, a text to follow "'FILE' " or "line N: ", g_free'd by the caller. */
#ifndef DOME_SRC_MATRIX_MARKET_H
#define DOME_SRC_MATRIX_MARKET_H

#include <dome/sparse.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum dome_mm_field { DOME_MM_REAL, DOME_MM_INTEGER, DOME_MM_PATTERN, DOME_MM_COMPLEX } dome_mm_field;
typedef enum dome_mm_symmetry { DOME_MM_GENERAL, DOME_MM_SYMMETRIC, DOME_MM_SKEW, DOME_MM_HERMITIAN } dome_mm_symmetry;

typedef struct dome_mm_header {
    dome_mm_field field;
    dome_mm_symmetry symmetry;
    uint64_t rows, columns, entries; /* entries: in the file */
    uint64_t bytes, lines;           /* of the header: the entries begin after them */
} dome_mm_header;

/* A line has fewer bytes than this. A longer one shows, before all of it is read, that the file is something else. */
enum { DOME_MM_LONGEST = 1 << 18 };

/* Parses the banner, comments and sizes with which a file of file_bytes bytes begins. text: its first `bytes` bytes. False
 * without a message: more of the file is needed. */
bool dome__mm_header(dome_mm_header *header, const char *text, size_t bytes, uint64_t file_bytes, char **message);

/* Parses one line of entries, without its newline: *count is 0 (empty or a comment), 1, or 2 with the mirrored entry of symmetric
 * storage. */
bool dome__mm_line(const dome_mm_header *header, const char *line, size_t bytes, dsparse_triplet_c128 out[2], int *count,
                   char **message);

enum { DOME_MM_LINE = 96 }; /* bytes that dome__mm_print writes at most */

/* Writes the header of a general matrix of real, integer or complex values, g_free'd by the caller; and one entry with so many
 * parts, or an integer, as a line, returning its bytes. Values are read back exactly. */
char *dome__mm_banner(dome_mm_field field, uint64_t rows, uint64_t columns, uint64_t entries);
size_t dome__mm_print_integer(char line[DOME_MM_LINE], uint64_t row, uint64_t column, int64_t value);
size_t dome__mm_print(char line[DOME_MM_LINE], uint64_t row, uint64_t column, const double value[], unsigned parts);

#endif
