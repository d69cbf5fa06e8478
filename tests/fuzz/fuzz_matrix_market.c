/* The Matrix Market reader on arbitrary bytes: no crash, and what it accepts is a well-formed matrix. */
#include "../../examples/matrix_market.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mm_matrix m;
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
    mm_clear(&m);
    return 0;
}
