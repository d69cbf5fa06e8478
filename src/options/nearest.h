/* Suggestions for mistyped names. */
#ifndef DOME_SRC_OPTIONS_NEAREST_H
#define DOME_SRC_OPTIONS_NEAREST_H

/* The name of a NULL-terminated list with the smallest edit distance to `word` (letters changed, left out, added or swapped with
 * the next one): at most a third of the name's length and at most 3. NULL if there is none. */
const char *dome__nearest(const char *word, const char *const names[]);

#endif
