/* The options of every program, one row for each: the parser and --dome-help read this table, and scripts/option-tables writes it
 * into the documents and the man page. */
#ifndef DOME_SRC_OPTIONS_OPTION_TABLE_H
#define DOME_SRC_OPTIONS_OPTION_TABLE_H

#include "core/options.h"

#include <stddef.h>

typedef enum dome_option_kind {
    DOME_OPTION_FLAG,    /* bool; takes no value */
    DOME_OPTION_WORD,    /* an enum, whose values are the indices of the words of `argument` */
    DOME_OPTION_NAME,    /* const char *: one of the words of `argument` */
    DOME_OPTION_COUNT,   /* int, unsigned or uint64_t: a whole number from 1 to `most` */
    DOME_OPTION_SECONDS, /* double, from `least` to `most` */
    DOME_OPTION_TEXT,    /* char *, not empty */
    DOME_OPTION_EVERY,   /* the last three set several fields, or accept several forms */
    DOME_OPTION_MTBF,
    DOME_OPTION_RESTART
} dome_option_kind;

typedef enum dome_option_part {
    DOME_PART_TASKS,
    DOME_PART_BALANCING,
    DOME_PART_CHECKPOINTS,
    DOME_PART_COMPUTING,
    DOME_PART_OUTPUT,
    DOME_OPTION_PARTS
} dome_option_part;

extern const char *const dome__option_parts[DOME_OPTION_PARTS]; /* their names, as headings */

typedef struct dome_option_row {
    const char *name; /* without the first two dashes: "dome-tasks" */
    dome_option_part part;
    dome_option_kind kind;
    size_t offset, size;   /* of the field in dome_options */
    const char *argument;  /* as help shows it: "N", or the words that are allowed, "ring|linear" */
    const char *initial;   /* the default, read as if it had been given; NULL: zero */
    const char *otherwise; /* describes the default, if `initial` does not; may be NULL */
    const char *help;      /* with words and names in backquotes */
    const char *page;      /* the document that says more, with its title: "[title](file.md)"; may be NULL */
    const char *wanted;    /* describes valid values in error messages; NULL: described by the kind */
    double least, most;
    const char *command; /* what the same option of `dome run`, written without dome-, is for; NULL: dome run has none */
    char letter;         /* its short form there: -n; 0: none */
} dome_option_row;

enum { DOME_OPTIONS_MOST = 64 }; /* rows of the table */

extern const dome_option_row dome__option_rows[]; /* by part; the last has no name */

/* The row of the option "dome-tasks", or of that which a word is: "--dome-tasks", "--dome-tasks=4". NULL: there is none. */
const dome_option_row *dome__option_row(const char *name);
const dome_option_row *dome__option_row_of(const char *word);

#endif
