/* The page of `dome view`: view.html with the data of a trace in it. */
#ifndef DOME_TOOLS_VIEW_DATA_H
#define DOME_TOOLS_VIEW_DATA_H

#include "trace/trace_file.h"

#include <stdio.h>

/* Writes the data alone, as JSON, for a live page, which requests more later. gone: no more data will follow, even if the trace
 * has no end. */
void dome__view_write_data(const dome_trace_file *file, bool gone, FILE *to);

/* Writes the whole page, which needs no other file. */
void dome__view_write_page(const dome_trace_file *file, FILE *to);
void dome__view_write_live_page(const dome_trace_file *file, FILE *to);

#endif
