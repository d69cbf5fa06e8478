/* Which options do not go together: one table of rules for dome_init and `dome run`. */
#ifndef DOME_SRC_OPTIONS_OPTION_RULES_H
#define DOME_SRC_OPTIONS_OPTION_RULES_H

#include "options/option_table.h"

typedef enum dome_option_source {
    DOME_FROM_DEFAULT,
    DOME_FROM_ENVIRONMENT, /* DOME_OPTIONS */
    DOME_FROM_ARGUMENTS,   /* of the program */
    DOME_FROM_COMMAND      /* of dome run */
} dome_option_source;

/* The place from which an option's value comes. Of each row there is one, at the row's place in the table. */
typedef struct dome_option_origin {
    dome_option_source source;
    const char *written; /* as the user wrote the option for DOME_FROM_COMMAND: "-n"; never freed */
} dome_option_origin;

typedef enum dome_option_moment {
    DOME_RULES_OF_WORDS, /* among the options of DOME_OPTIONS alone, or of the command line alone */
    DOME_RULES_OF_ALL,   /* among all options */
    DOME_RULES_OF_START  /* the same, where a program is started: not in tasks that it starts, nor in later views */
} dome_option_moment;

/* The message of the first rule that is broken, g_free'd; NULL: none. It names the options as they were written.
 * origins: NULL if all have the names of program options. supervised: a supervisor starts the program again after losses. */
char *dome__option_rules_broken(dome_option_moment moment, const dome_options *options, const dome_option_origin *origins,
                                bool supervised);

/* How messages name an option, "dome-restarts": as the user wrote it; else "--restarts" where the user has written to dome run
 * (origins is not NULL), and "--dome-restarts" to a program. */
const char *dome__option_name(const char *name, const dome_option_origin *origins);

#endif
