/* Work that may wait for ever, as PVM's may for a daemon that is stuck: done by a process that is given some seconds. */
#ifndef DOME_TOOLS_IN_TIME_H
#define DOME_TOOLS_IN_TIME_H

#include <glib.h>

#include <stdbool.h>

/* Writes to out, or fails with *message (g_free'd). */
typedef bool (*dome_work)(const void *request, GString *out, char **message);

/* What the work wrote (g_free'd), or NULL with *message. */
char *dome__in_time(dome_work work, const void *request, int seconds, char **message);

#endif
