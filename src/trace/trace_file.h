/* A trace read from a file (docs/trace-format.md): times of all tasks on one clock, in ns since the program began. */
#ifndef DOME_SRC_TRACE_TRACE_FILE_H
#define DOME_SRC_TRACE_TRACE_FILE_H

#include "trace/element_run.h"

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

/* From a start of the program to its end; after a restart another run follows. */
typedef struct dome_trace_run {
    int64_t begin, end;
    int64_t before;  /* how long the program had run when a recording on demand began; totals include that time */
    int64_t real_us; /* wall clock at the beginning of the run, microseconds since 1970 */
    int tasks, pid, status;
    bool ended; /* false: still running, or its hub was killed */
    char *host, *command;
} dome_trace_run;

typedef struct dome_trace_task {
    int run, rank, pid, processors;
    char *host;
    GArray *clocks; /* used by the reader only */
    uint64_t clock_error;
} dome_trace_task;

/* kind: o operation, g merged operations, e deferred work, w waiting, h blocks of another task, m migration, b phase of
 * balancing, k checkpoint. */
typedef struct dome_trace_span {
    int64_t start, took;
    int task; /* place in tasks */
    char kind;
    uint64_t a, b, c;   /* o: wait, code, object. g: compute, wait. e: operations. w: rank. m: length, bytes, blocks.
                           b: moved, imbalance in millionths, ns since the phase before. k: number, bytes */
    guint first, count; /* g: pairs of code and calls, in `pairs` */
} dome_trace_span;

typedef struct dome_trace_sample {
    int64_t time;
    int task;
    uint64_t cpu_ns, wait_ns, host_busy_ms, resident_kb;
    uint64_t had_ns, wanted_ns; /* dome_processor_time; 0 in older files */
} dome_trace_sample;

typedef struct dome_trace_object {
    int run;
    uint64_t id, length, width, block_size;
    int distribution; /* dome_distribution */
    int64_t from, to; /* INT64_MAX in `to`: until the end */
    char *type, *name;
} dome_trace_object;

typedef struct dome_trace_layout {
    int run;
    int64_t time;
    uint64_t object; /* 0: all dynamic objects of this length and block size */
    uint64_t length, block_size, start;
    int tasks;
    uint64_t *counts;
} dome_trace_layout;

/* The cost of an operation to a task so far; code 0: the program's own code between operations. */
typedef struct dome_trace_total {
    int task;
    uint32_t code;
    uint64_t count, compute_ns, wait_ns, bytes;
} dome_trace_total;

/* The time for which a task has waited for another one so far. */
typedef struct dome_trace_waited {
    int task, rank;
    uint64_t ns;
} dome_trace_waited;

/* What a task had done to the regions of one name by a time, for its host. */
typedef struct dome_trace_regions {
    int task;
    int64_t time;
    bool last; /* the task has told nothing later about them */
    char *name;
    uint64_t reads, writes, units, bytes, waited_ns;
} dome_trace_regions;

/* The elements of a unit that a task has written so far, for the task `member`, and at which it read and had to wait. */
typedef struct dome_trace_unit_writes {
    int task, member;
    char *name;
    uint64_t region, unit, turns;
    GArray *written, *read; /* dome_element_run */
} dome_trace_unit_writes;

/* kind: B beginning of a recording on demand, F failure, r restart from checkpoint `number`, K checkpoint `number` could not be
 * written. */
typedef struct dome_trace_mark {
    int64_t time;
    char kind;
    uint64_t number;
    char *text;
} dome_trace_mark;

/* The tasks of a view have joined (docs/elastic.md). Times of the change in ns. */
typedef struct dome_trace_view {
    int run;
    int64_t time; /* before 0 if it was recorded later */
    uint64_t number, tasks, hosts;
    char *kind, *why;
    bool timed; /* `members` and what follows are known */
    uint64_t noticing, members, blocks, joining, preamble;
} dome_trace_view;

typedef struct dome_trace_file {
    GArray *runs, *tasks, *spans, *samples, *objects, *layouts, *totals, *waited, *marks,
        *views;                 /* of the types above; spans sorted by time */
    GArray *regions;            /* dome_trace_regions, in the order of the file */
    GArray *unit_writes;        /* dome_trace_unit_writes, the last of each unit and task */
    GArray *pairs;              /* uint32_t */
    GPtrArray *names;           /* char *, by code of operation; may be NULL */
    int size;                   /* largest number of tasks of a run */
    int64_t end;                /* of the last event */
    uint64_t left_out, strange; /* lines that tasks left out for lack of room; lines that the reader does not understand */
    bool cut;                   /* the last line is incomplete */
} dome_trace_file;

/* NULL with *message (g_free'd) if the file is not a trace. */
dome_trace_file *dome__trace_read(const char *path, char **message);
dome_trace_file *dome__trace_parse(const char *text, size_t length, char **message);
void dome__trace_file_free(dome_trace_file *file);

const char *dome__trace_name(const dome_trace_file *file, uint64_t code);

/* The use that a task made of the time between two of its samples, a before b, as parts of that time. */
typedef struct dome_trace_load {
    double processor; /* of one, by all its threads */
    double waiting;   /* for other tasks, asleep; in older files also while it had no processor */
    double without;   /* it could have run, and had no processor */
    double host;      /* processors of its host at work */
} dome_trace_load;
dome_trace_load dome__trace_load(const dome_trace_sample *a, const dome_trace_sample *b);

#endif
