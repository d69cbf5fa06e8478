/* The value of one option: read from text, and written as text, by its row (options/option_table.h). */
#ifndef DOME_SRC_OPTIONS_OPTION_VALUE_H
#define DOME_SRC_OPTIONS_OPTION_VALUE_H

#include "options/option_table.h"

/* Sets the fields of the row's option. Returns false and changes nothing if value is invalid. */
bool dome__option_read(const dome_option_row *row, const char *value, dome_options *options);

/* The value as dome__option_read reads it: g_free'd. NULL: the option is not set. */
char *dome__option_text(const dome_option_row *row, const dome_options *options);

/* Whether a word "--NAME" has its value in the next word. */
bool dome__option_takes_next(const dome_option_row *row);

/* The message for an invalid value of an option that the user wrote so: "--tasks takes ..., not '...'"; g_free'd. */
char *dome__option_refusal(const dome_option_row *row, const char *written, const char *value);

/* A user's input in a form that fits into one line of a message; g_free'd. */
char *dome__option_readable(const char *text);

#endif
