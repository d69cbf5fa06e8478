/* What a user meant who typed something else. */
#ifndef DOME_SRC_NEAREST_H
#define DOME_SRC_NEAREST_H

/* The one of the names (NULL behind the last) from which `word` differs least, by letters changed, left out, added or exchanged
 * with the next one: a third of the name at most, and no more than three. NULL: none does. */
const char *dome__nearest(const char *word, const char *const names[]);

#endif
