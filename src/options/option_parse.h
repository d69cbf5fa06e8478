/* Reads options from DOME_OPTIONS, then from argv, with GOption. */
#ifndef DOME_SRC_OPTIONS_OPTION_PARSE_H
#define DOME_SRC_OPTIONS_OPTION_PARSE_H

#include "core/options.h"
#include "options/option_rules.h"

/* Reads `environment` (the text of DOME_OPTIONS, may be NULL), then argv, and removes Dome's options from argv. argc and argv may
 * be NULL. Returns true, or false with *message (g_free'd by the caller): what is wrong and what to do. */
bool dome__options_parse(dome_options *options, const char *environment, int *argc, char ***argv, char **message);
void dome__options_clear(dome_options *options);

/* ---- in two steps, for dome run ---- */

/* An option of dome run itself, which is valid; the last of an array has no row. */
typedef struct dome_option_given {
    const dome_option_row *row;
    const char *written; /* "-n" */
    char *value;
} dome_option_given;

/* The places where options stand. A later place of this list wins. */
typedef struct dome_option_words {
    const char *environment;        /* may be NULL */
    int *argc;                      /* as for dome__options_parse */
    char ***argv;                   /* the same */
    const dome_option_given *given; /* may be NULL */
} dome_option_words;

/* The same as dome__options_parse, without the second step. origins: of DOME_OPTIONS_MOST rows. */
bool dome__options_read(dome_options *options, dome_option_origin *origins, const dome_option_words *words, char **message);

/* The second step: what options mean for each other. */
void dome__options_settle(dome_options *options);

/* ---- for command lines ---- */

/* Reads what the arguments alone say, by no rules, and leaves them as they are. False: there is a mistake in them, which
 * dome__options_parse finds, too. */
bool dome__options_look(dome_options *options, int argc, char **argv);

/* The command line with these words ("--dome-tasks=4") instead of what it says about the same options; g_strfreev. */
char **dome__options_instead(char *const *argv, char *const *instead);

/* Adds words to DOME_OPTIONS in this process's environment. */
void dome__options_hand_on(const char *words);

#endif
