/* Words most of which are 0, as those of exact sums. */
#ifndef DOME_SRC_WORDS_H
#define DOME_SRC_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* The first word that is not 0, and one more than the last; both 0 if there is none. Eight words are looked at together. */
static inline void dome__words_in_use(const int64_t *word, size_t count, size_t *first, size_t *end)
{
    while (count >= 8 && !(word[count - 1] | word[count - 2] | word[count - 3] | word[count - 4] | word[count - 5] |
                           word[count - 6] | word[count - 7] | word[count - 8]))
        count -= 8;
    while (count && !word[count - 1])
        count--;
    size_t k = 0;
    while (k + 8 <= count &&
           !(word[k] | word[k + 1] | word[k + 2] | word[k + 3] | word[k + 4] | word[k + 5] | word[k + 6] | word[k + 7]))
        k += 8;
    while (k < count && !word[k])
        k++;
    *first = k;
    *end = count;
}

#endif
