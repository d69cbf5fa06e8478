/* What the page of `dome view` is made of: view.html with the data of a trace in it. */
#ifndef DOME_TOOLS_VIEW_DATA_H
#define DOME_TOOLS_VIEW_DATA_H

#include "trace/file.h"

#include <stdio.h>

/* The data alone, as JSON, for a live page, which is to ask for more. gone: nothing more comes, even if the trace has no end. */
void dome__view_write_data(const dome_trace_file *file, bool gone, FILE *to);

/* The whole page, which needs nothing else. */
void dome__view_write_page(const dome_trace_file *file, FILE *to);
void dome__view_write_live_page(const dome_trace_file *file, FILE *to);

#endif
