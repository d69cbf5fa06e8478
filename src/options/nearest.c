#include "options/nearest.h"

#include <glib.h>
#include <string.h>

enum { LONGEST = 63, MOST_CHANGES = 3 };

/* The edit distance from a to b, counting a transposition as one edit; both have at most LONGEST characters. */
static size_t changes_between(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    size_t n = strlen(a), m = strlen(b);
    for (size_t j = 0; j <= n; j++)
        last[j] = j;
    for (size_t i = 1; i <= m; i++) {
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = MIN(last[j - 1] + (a[j - 1] != b[i - 1]), MIN(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[j - 1] == b[i - 2] && a[j - 2] == b[i - 1])
                row[j] = MIN(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[n];
}

const char *dome__nearest(const char *word, const char *const names[])
{
    const char *nearest = NULL;
    size_t best = MOST_CHANGES + 1;
    for (; strlen(word) <= LONGEST && *names; names++) {
        size_t length = strlen(*names);
        size_t changes = length <= LONGEST ? changes_between(word, *names) : best;
        if (changes < best && changes <= MAX(length / 3, 1)) {
            best = changes;
            nearest = *names;
        }
    }
    return nearest;
}
