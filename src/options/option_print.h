/* Options as text: the help of all, and the configuration that has been read. */
#ifndef DOME_SRC_OPTIONS_OPTION_PRINT_H
#define DOME_SRC_OPTIONS_OPTION_PRINT_H

#include "options/option_rules.h"

/* The text of --dome-help; g_free'd by the caller. */
char *dome__options_help(void);

/* The option as one word for the shell, "--dome-tasks=4", g_free'd. NULL: it is not set. */
char *dome__option_word(const dome_option_row *row, const dome_options *options);

bool dome__option_is_default(const dome_option_row *row, const dome_options *options);

/* Each option with its value and where that comes from, a line for each, g_free'd. The text may be given to DOME_OPTIONS, and
 * means the same there: what is not set, and where values come from, stands in comments of the shell. options: as
 * dome__options_read has left them. */
char *dome__options_show(const dome_options *options, const dome_option_origin *origins);

#endif
