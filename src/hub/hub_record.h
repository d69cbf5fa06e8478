/* Recordings of tasks, for --dome-trace or on demand. hub_record.c alone changes these members. */
#ifndef DOME_SRC_HUB_RECORD_H
#define DOME_SRC_HUB_RECORD_H

#include "trace/demand.h"
#include "trace/sink.h"
#include "wire/wire.h"

typedef struct hub_state hub_state;
typedef struct hub_client hub_client;

typedef struct hub_record {
    dome_trace_sink *trace; /* of --dome-trace */
    dome_demand *demand;    /* NULL until task 0 beats */
    uint32_t number;        /* of the recording on demand; 0: none */
    uint32_t view;          /* the newest view that it has */
} hub_record;

/* Task 0 beats: recordings can be demanded. */
void dome__hub_record_open(hub_state *s);
void dome__hub_record_close(hub_state *s, int status);

/* The file of --dome-trace, as task 0 of this view names it. */
void dome__hub_record_trace(hub_state *s, uint32_t view, const dome_wire_trace_open *open);

/* Takes what a task has recorded. */
void dome__hub_record_take(hub_state *s, const hub_client *c, const dome_wire_trace *trace);

/* The destination of records at present; NULL: none. */
dome_trace_sink *dome__hub_sink(const hub_state *s);

/* Tells a task what to record. */
void dome__hub_send_record(const hub_state *s, hub_client *c);

/* A task of this view begins to record on demand. */
void dome__hub_record_view(hub_state *s, uint32_t view);

/* Starts or stops recording on demand, as viewers connect or leave. */
void dome__hub_attend(hub_state *s);

#endif
