/* How long the change into the present view took, and which part of it (wire/history.h). The process that makes the change notes
 * its times for the one that it becomes. */
#ifndef DOME_SRC_PROGRAM_VIEW_TIMES_H
#define DOME_SRC_PROGRAM_VIEW_TIMES_H

#include "core/environment.h"
#include "wire/view_note.h"

/* Only view_times.c knows its members. */
typedef struct dome_view_times {
    uint64_t begun_ns;              /* when the change began */
    uint64_t members_ns, blocks_ns; /* what its parts took */
    uint64_t stood_ns;              /* when dome_init was over */
    bool told;                      /* the hub knows them */
} dome_view_times;

/* A change begins; and how long ago it began. */
void dome__view_times_begin(dome_view_times *times);
uint64_t dome__view_times_passed(const dome_view_times *times);

/* Starting tasks, or carrying blocks, has taken the time since `begin` (dome__now_ns). */
void dome__view_times_members(dome_view_times *times, uint64_t begin);
void dome__view_times_blocks(dome_view_times *times, uint64_t begin);

/* All until now has been for the blocks. */
void dome__view_times_prepared(dome_view_times *times);

/* The view stands. */
void dome__view_times_stand(dome_view_times *times);

/* Into the note for the next view, and from it. */
void dome__view_times_note(const dome_view_times *times, dome_view_entry *entry);
void dome__view_times_take(dome_view_times *times, const dome_view_entry *entry);

/* At the first loop boundary of a view, or its end: task 0 tells the hub. Comes before dome__checkpoint_decide, after which
 * nobody knows when objects got their values. */
void dome__view_times_tell(dome_env *env);

#endif
