/* Functions around main for both kinds of programs (run.h). */
#ifndef DOME_SRC_CAPTURE_EVENTS_H
#define DOME_SRC_CAPTURE_EVENTS_H

#include <dome/capture.h>
#include <glib.h>

/* The state of events.c. */
typedef struct dome_capture_events {
    GArray *callbacks;
    bool dangling_told;
} dome_capture_events;

/* Calls the program's functions for an event (dome_capture_on). The first result that is not 0. */
int dome__capture_call_back(dome_capture_event event);

/* argv as blocks of the heap, to which pointers are kept. The program's own name has no directory, which may be another one after
 * a restart. */
char **dome__capture_copy_arguments(int argc, char **argv);

/* Of a Dome program: says once where a pointer leads nowhere, if there was one in the image that was taken last. */
void dome__capture_tell_dangling(dome_env *env);

/* Says a line, which is freed; NULL: nothing. */
void dome__capture_tell(dome_env *env, char *line);

/* Before dome_init: a checkpoint is of this program if it is of the same source files, whatever the program's file is called. */
void dome__capture_name_program(void);

#endif
