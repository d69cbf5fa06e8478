/* section.c: the text in an object, from which it is translated when a program is linked. */
#ifndef DOME_CC_SECTION_H
#define DOME_CC_SECTION_H

#include <glib.h>
#include <stdbool.h>

#define SECTION_NAME ".dome"

typedef struct object {
    char *path;         /* of the source, as it was given */
    GPtrArray *flags;   /* char *: with which it was compiled */
    GPtrArray *sources; /* char *: source.c */
    char *text;         /* preprocessed */
    gsize length;
} object;

/* The contents of the section. */
GString *section_text(const object *object);

/* Adds to `list` what is in an object, or in the objects of an archive; nothing if dome-cc has not made them. False: one line has
 * been printed. */
bool section_read(const char *file, GPtrArray *list, bool *archive);

#endif
