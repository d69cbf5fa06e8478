/* Reads options from DOME_OPTIONS, then from argv, with GOption. */
#ifndef DOME_SRC_OPTIONS_H
#define DOME_SRC_OPTIONS_H

#include "core/options.h"

/* Reads `environment` (the text of DOME_OPTIONS, may be NULL), then argv, and removes Dome's options from argv. argc and argv may
 * be NULL. Returns true, or false with *message (g_free'd by the caller): what is wrong and what to do. */
bool dome__options_parse(dome_options *options, const char *environment, int *argc, char ***argv, char **message);
void dome__options_clear(dome_options *options);

/* The text of --dome-help; g_free'd by the caller. */
char *dome__options_help(void);

#endif
