/* A line of text: a verb, and pairs NAME=VALUE behind it, separated by blanks. Bytes of a value that are no letters, digits or
 * usual signs are written %XX. The daemon's users, its group and its table all speak so. Pure. */
#ifndef DOME_SRC_DAEMON_RECORD_H
#define DOME_SRC_DAEMON_RECORD_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a line, and its pairs: an environment is the longest that there is. */
enum { DOME_RECORD_MOST = 240 << 10, DOME_RECORD_PAIRS = 20000 };

typedef struct dome_pair {
    char *name, *value;
} dome_pair;

typedef struct dome_record {
    char *verb;
    GArray *pairs; /* dome_pair, in order; a name may occur again */
} dome_record;

dome_record dome__record_new(const char *verb);
void dome__record_clear(dome_record *record);

/* Reads a line without its end; false if it is none, and then there is nothing to be cleared. */
bool dome__record_parse(const char *line, size_t length, dome_record *record);

/* The line, without its end; g_free'd. */
char *dome__record_line(const dome_record *record);

/* value NULL: adds nothing. */
void dome__record_add(dome_record *record, const char *name, const char *value);
void dome__record_add_number(dome_record *record, const char *name, int64_t value);
void dome__record_add_all(dome_record *record, const char *name, char *const *values);

/* The first value of that name; NULL: there is none. */
const char *dome__record_get(const dome_record *record, const char *name);

/* The number of that name, or `otherwise` if there is none; false if it is no number or out of range. */
bool dome__record_number(const dome_record *record, const char *name, int64_t least, int64_t most, int64_t otherwise,
                         int64_t *value);

/* All values of that name, g_strfreev'd. */
char **dome__record_all(const dome_record *record, const char *name);

#endif
