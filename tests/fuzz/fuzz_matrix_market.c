/* The Matrix Market readers on arbitrary bytes, that of the library and that of the examples: no crash, and what they accept is a
 * well-formed matrix. What the examples accept the library accepts, with the same entries. */
#include "../../examples/matrix_market.h"
#include "files/matrix_market.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Parses all lines; returns the number of entries with mirrored ones, or -1 if the text is refused. m: of the same text, or NULL.
 */
static int64_t read_lines(const char *text, size_t bytes, const mm_matrix *m)
{
    dome_mm_header h;
    char *message = NULL;
    int64_t entries = 0;
    uint64_t lines = 0;
    bool good = dome__mm_header(&h, text, bytes, bytes, &message);
    require(good == (message == NULL));
    for (size_t at = good ? (size_t)h.bytes : bytes, end; good && at < bytes; at = end + 1) {
        const char *newline = memchr(text + at, '\n', bytes - at);
        dsparse_triplet_c128 t[2];
        int count;
        end = newline ? (size_t)(newline - text) : bytes;
        good = dome__mm_line(&h, text + at, end - at, t, &count, &message);
        require(good == (message == NULL));
        for (int k = 0; k < count && good; k++) {
            require(t[k].row < h.rows && t[k].column < h.columns);
            require(!m || mm_at(m, t[k].row, t[k].column) == t[k].value[0]);
        }
        entries += good ? count : 0;
        lines += good && count > 0;
    }
    free(message);
    return good && lines == h.entries ? entries : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mm_matrix m;
    int64_t entries = read_lines((const char *)data, size, NULL);
    char error[MM_ERROR] = "";
    if (!mm_parse(&m, (const char *)data, size, error)) {
        require(memcmp(error, "line ", 5) == 0 && memchr(error, 0, sizeof error));
        require(!m.row && !m.column && !m.value);
        return 0;
    }
    require(m.n > 0 && m.row[0] == 0 && m.row[m.n] == m.entries);
    for (uint64_t i = 0; i < m.n; i++) {
        require(m.row[i] <= m.row[i + 1]);
        for (uint64_t k = m.row[i]; k < m.row[i + 1]; k++)
            require(m.column[k] < m.n && isfinite(m.value[k]) && (k == m.row[i] || m.column[k - 1] < m.column[k]));
    }
    require(entries == (int64_t)m.entries && read_lines((const char *)data, size, &m) == entries);
    mm_clear(&m);
    return 0;
}
