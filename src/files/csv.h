/* Text files of columns, as pure functions on memory: lines of fields between separators, with quoted fields as RFC 4180 has
 * them.
 *
 * A quoted field may contain ends of lines, so a byte's meaning depends on all bytes before it. dome__csv_scan therefore goes
 * through a part of a text for every state in which it may begin; parts can be scanned in parallel, and their results follow one
 * after the other (T. Mytkowicz, M. Musuvathi, W. Schulte: Data-parallel finite-state machines; ASPLOS 2014). */
#ifndef DOME_SRC_CSV_H
#define DOME_SRC_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part of a text to which the last byte belonged. */
typedef enum dome_csv_state {
    DOME_CSV_LINE,   /* a line in which nothing stands yet */
    DOME_CSV_FIELD,  /* the blanks before a field */
    DOME_CSV_PLAIN,  /* a field */
    DOME_CSV_QUOTED, /* a quoted field, */
    DOME_CSV_CLOSED, /* or its end: a second quote goes on with it */
    DOME_CSV_REMARK, /* a comment on a line of its own, */
    DOME_CSV_COMMENT /* or behind a record */
} dome_csv_state;

enum { DOME_CSV_STATES = DOME_CSV_COMMENT + 1 };

typedef struct dome_csv_format {
    char separator;                      /* ' ': any number of blanks and tabs */
    uint8_t classes[256];                /* by byte */
    uint8_t steps[DOME_CSV_STATES][256]; /* by state and byte: the next state, and a bit where a record begins */
} dome_csv_format;

/* comment: 0 if there are none. False if the characters cannot be told apart from each other and from numbers. */
bool dome__csv_format(dome_csv_format *format, char separator, char comment);

/* The result of scanning a part of a text, by the state before it. */
typedef struct dome_csv_scan {
    uint64_t records[DOME_CSV_STATES];     /* that begin in it */
    uint64_t lines;                        /* ends of lines */
    dome_csv_state state[DOME_CSV_STATES]; /* behind it */
} dome_csv_scan;

/* For an empty part; and the same with `bytes` more. */
void dome__csv_scan_begin(dome_csv_scan *scan);
void dome__csv_scan(const dome_csv_format *format, dome_csv_scan *scan, const char *text, size_t bytes);

/* Where the first record begins in a part of a text that begins in *state; `bytes` if none does, and the state behind the part.
 */
size_t dome__csv_first(const dome_csv_format *format, dome_csv_state *state, const char *text, size_t bytes);

/* A record that begins at text[0]: the number of its bytes up to the end of its line, or to the end of the text if there is none;
 * *complete: whether there is one. */
size_t dome__csv_record(const dome_csv_format *format, const char *text, size_t bytes, bool *complete);

typedef struct dome_csv_field {
    const char *text; /* without blanks around it, and without the quotes */
    size_t length;
    bool doubled; /* quotes in it stand for one each: dome__csv_unquote */
    bool open;    /* the quoted field does not end */
    bool extra;   /* something follows its quote */
} dome_csv_field;

/* Splits a record. Returns the number of its fields; those beyond `room` are not stored. */
size_t dome__csv_split(const dome_csv_format *format, const char *text, size_t bytes, dome_csv_field *fields, size_t room);

/* Copies the text of a field, with one quote for each two. `to` has room for field->length bytes. Returns how many there are. */
size_t dome__csv_unquote(const dome_csv_field *field, char *to);

/* Whether the text says that there is no value: nothing, NA, N/A, null, none or NaN in any letter case. */
bool dome__csv_is_missing(const char *text, size_t length);

#endif
