/* What the regions cost: page faults, units that have travelled between members, waiting, and which elements tasks write in
 * turns; for --dome-profile and the trace. */
#ifndef DOME_SRC_REGION_REGION_PROFILE_H
#define DOME_SRC_REGION_REGION_PROFILE_H

#include "core/environment.h"
#include "region/unit_writes.h"
#include "trace/record.h"

/* Of the regions of one name, made one after the other. */
typedef struct dome_region_figures {
    char *name;        /* NULL: regions without a name */
    uint64_t reads;    /* page faults of this task, in any thread: loads, */
    uint64_t writes;   /* and stores */
    uint64_t waited;   /* ns in these, and in dome_region_want */
    uint64_t bytes;    /* of values that this task has taken in, for its member */
    uint64_t *units;   /* the same in units, by the member they came from */
    bool release;      /* release consistency */
    GPtrArray *shared; /* dome_unit_writes of these regions; the same number on all tasks */
    uint64_t told;     /* faults and units that the trace has */
    uint32_t told_to;  /* the number of that recording */
} dome_region_figures;

/* Figures for a region that is being made. env keeps them. Each task alone; tasks make regions in one order. */
dome_region_figures *dome__region_profile_add(dome_env *env, const char *name);

/* The record of which elements this task writes; NULL unless the profile or the trace asks for it. The figures own it. Likewise.
 */
dome_unit_writes *dome__region_profile_watch(const dome_env *env, dome_region_figures *figures,
                                             const dome_unit_writes_setup *setup);

/* A page fault, or a wish for units, from its begin to its end. Any thread. */
typedef struct dome_region_stop {
    dome_env *env;
    dome_region_figures *figures;
    uint64_t start, start_wait;
} dome_region_stop;
dome_region_stop dome__region_stop_begin(dome_env *env, dome_region_figures *figures);
void dome__region_stop_end(const dome_region_stop *stop);
void dome__region_fault_end(const dome_region_stop *stop, bool write);

/* On rank 0 a line or two for each name, g_free'd; NULL on the others, and if there are none. Collective. Returns a status of the
 * transport. */
int dome__region_profile_text(const dome_env *env, char **text);

/* Writes into the trace the figures that have grown since the last call: a dome_trace_totals. */
void dome__region_profile_record(dome_trace *trace, void *env);

void dome__region_profile_free(gpointer figures);

#endif
