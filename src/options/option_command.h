/* The options of `dome run` that are a program's, written without dome-: `dome run --restarts 3`, `-n 4`. */
#ifndef DOME_SRC_OPTIONS_OPTION_COMMAND_H
#define DOME_SRC_OPTIONS_OPTION_COMMAND_H

#include "options/option_parse.h"

#include <glib.h>

/* The options that were given, in the order of the words: dome_option_given, ended by one without a row. */
GArray *dome__option_command_new(void);

/* Adds an entry for each such option. `given` is the user data of the context's main group. A wrong value is an error of another
 * domain than GOption's. The number 0 stands for an option that is not given. */
void dome__option_command_entries(GArray *entries);

#endif
