/* The state of a captured program's process: an object of parts. Each part belongs to the file of its name, which alone reads and
 * writes its members; others call that file's functions. The heap is an object of its own (heap/heap.h). The status word stands
 * apart: compiled programs read it. */
#ifndef DOME_SRC_CAPTURE_CAPTURE_H
#define DOME_SRC_CAPTURE_CAPTURE_H

#include "capture/events.h"
#include "capture/foreign.h"
#include "capture/frames.h"
#include "capture/handles.h"
#include "capture/hidden.h"
#include "capture/library.h"
#include "capture/modules.h"
#include "capture/pointers.h"
#include "capture/run.h"
#include "capture/status.h"
#include "capture/streams.h"

typedef struct dome_capture {
    dome_capture_polling polling; /* status.c */
    dome_capture_timer timer;     /* status.c */
    dome_capture_frames frames;
    dome_capture_modules modules;
    dome_capture_pointers pointers;
    dome_capture_handles handles;
    dome_capture_hidden hidden;
    dome_capture_streams streams;
    dome_capture_library library;
    dome_capture_foreign foreign;
    dome_capture_events events;
    dome_capture_run run; /* run.c, alone.c, parallel.c */
    dome_capture_alone alone;
    dome_capture_parallel parallel;
} dome_capture;

/* There is one, at a fixed address: through this pointer its members take no longer to reach than variables of a file. */
extern dome_capture dome__capture_object __attribute__((visibility("hidden")));
static dome_capture *const dome__capture = &dome__capture_object;

#endif
