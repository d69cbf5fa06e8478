/* Work that may never end, as PVM's may with a stuck daemon: a separate process does it within some seconds. */
#ifndef DOME_TOOLS_IN_TIME_H
#define DOME_TOOLS_IN_TIME_H

#include <glib.h>

#include <stdbool.h>

/* Writes to out, or fails with *message (g_free'd). */
typedef bool (*dome_work)(const void *request, GString *out, char **message);

/* Returns the output of the work (g_free'd), or NULL with *message. */
char *dome__in_time(dome_work work, const void *request, int seconds, char **message);

#endif
