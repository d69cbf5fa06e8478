/* A trace as JSON in the Chrome trace event format, which https://ui.perfetto.dev opens ("Trace Event Format", Google, 2016). */
#ifndef DOME_SRC_TRACE_CHROME_H
#define DOME_SRC_TRACE_CHROME_H

#include "trace/trace_file.h"

#include <stdio.h>

void dome__trace_write_chrome(const dome_trace_file *file, FILE *to);

/* Converts a trace to JSON. False with *message (g_free'd) on failure; then `to` is unchanged. */
bool dome__trace_convert(const char *from, const char *to, char **message);

/* Writes text as a JSON string that is also safe inside HTML. */
void dome__json_text(FILE *to, const char *text);

/* Lets `write` write a new file, which then replaces `path`. */
bool dome__write_file(const char *path, void (*write)(const dome_trace_file *file, FILE *to), const dome_trace_file *file,
                      char **message);

#endif
