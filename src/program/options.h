/* Options: from DOME_OPTIONS, then from argv, by GOption. */
#ifndef DOME_SRC_OPTIONS_H
#define DOME_SRC_OPTIONS_H

#include "core/options.h"

/* Reads `environment` (the text of DOME_OPTIONS, may be NULL) and then argv, and takes the options found out of argv. argc and
 * argv may be NULL. Returns true, or false with *message (g_free'd by the caller) saying what is wrong and what to do. */
bool dome__options_parse(dome_options *options, const char *environment, int *argc, char ***argv, char **message);
void dome__options_clear(dome_options *options);

/* The text of --dome-help; g_free'd by the caller. */
char *dome__options_help(void);

#endif
