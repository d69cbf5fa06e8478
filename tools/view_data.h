/* What the page of `dome view` is made of: view.html with the data of a trace in it. */
#ifndef DOME_TOOLS_VIEW_DATA_H
#define DOME_TOOLS_VIEW_DATA_H

#include "trace/file.h"

#include <stdio.h>

/* The data alone, as JSON. live: the program may still be running, and the page is to ask for more. */
void dome__view_write_data(const dome_trace_file *file, bool live, FILE *to);

/* The whole page, which needs nothing else. */
void dome__view_write_page(const dome_trace_file *file, FILE *to);
void dome__view_write_live_page(const dome_trace_file *file, FILE *to);

#endif
