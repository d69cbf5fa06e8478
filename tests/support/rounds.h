/* For test programs that run rounds of random cases, the same on all tasks: a failed case ends the program on all of them. */
#ifndef DOME_TESTS_ROUNDS_H
#define DOME_TESTS_ROUNDS_H

#include "draw.h"

#include <dome/dome.h>
#include <glib.h>

static dome_env *env;
static int round_number;

#define EXPECT(condition, ...)                                                                                                   \
    do {                                                                                                                         \
        if (!(condition)) {                                                                                                      \
            char *text_ = g_strdup_printf(__VA_ARGS__);                                                                          \
            dome_abort(env, "line %d, round %d: %s (%s)", __LINE__, round_number, text_, dome_error_message(env));               \
        }                                                                                                                        \
    } while (0)

#endif
