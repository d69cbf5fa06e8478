/* A note that a process leaves for one that comes after it, as text: a first line with its kind and version, then KEY=VALUE lines
 * in any order. A backslash and an end of line in a value are written \\ and \n. So text of lines may be appended to a note.
 * Pure. */
#ifndef DOME_SRC_NOTE_H
#define DOME_SRC_NOTE_H

#include <glib.h>

typedef struct dome_note dome_note; /* one that has been read */

/* Appends the first line. */
void dome__note_begin(GString *to, const char *kind, unsigned version);

/* Appends a line. key: of a-z, 0-9 and _. */
void dome__note_put(GString *to, const char *key, const char *value);

/* NULL with *why (g_free'd; "it is of version 2, ...") if the text is no note of this kind and version, or a key is there twice.
 */
dome_note *dome__note_read(const char *text, const char *kind, unsigned version, char **why);

/* The value; NULL: there is none. It lives as long as the note. */
const char *dome__note_get(const dome_note *note, const char *key);
void dome__note_free(dome_note *note);

#endif
