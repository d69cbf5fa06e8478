/* Marks: where recent stretches of the program begin. All tasks make them at the same operations, so they can compare what they
 * did between two. Data has not moved since the first. balance_marks.c alone changes these members. */
#ifndef DOME_SRC_BALANCE_MARKS_H
#define DOME_SRC_BALANCE_MARKS_H

#include <dome/env.h>

#include <stdbool.h>
#include <stdint.h>

/* A point of the program, and this task's clocks there. */
typedef struct moment {
    uint64_t sequence, ns, wait_ns, waits, processor_ns, wanted_ns, helped_ns, apart_ns;
} moment;

enum { DOME_BALANCE_MARKS = 4 };

typedef struct marks {
    moment mark[DOME_BALANCE_MARKS]; /* the newest ones, each at its number modulo DOME_BALANCE_MARKS */
    uint64_t count;
    uint64_t stride; /* operations from one to the next; 0: not known yet */
} marks;

/* What a task's times are counted from. */
moment dome__balance_moment(const dome_env *env);

/* Whether it is time for a mark before this operation, the same on all tasks. Each operation asks. */
static inline bool dome__marks_due(const marks *m, uint64_t sequence)
{
    return m->stride > 0 && (m->count == 0 || sequence >= m->mark[(m->count - 1) % DOME_BALANCE_MARKS].sequence + m->stride);
}

void dome__marks_make(const dome_env *env, marks *m);

/* From now on a mark after so many operations. */
void dome__marks_every(marks *m, uint64_t operations);

void dome__marks_forget(marks *m);

/* The last stretch between two marks. False if there are not enough marks. */
bool dome__marks_last(const marks *m, const moment *between[2]);

/* The last two stretches between marks, up to `end`: where they begin. False if there are not enough marks. */
bool dome__marks_recent(const marks *m, const moment *end, const moment *from[2]);

#endif
