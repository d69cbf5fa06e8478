/* What tasks have changed between two meetings, in the order of their sections, as far as one task knows it. A section is a time
 * in which one task alone has the token (space/token.h); what that task has changed is published when it gives the token away,
 * and gets the section's number. So whoever has all sections up to a number has a state of memory that the program can have seen:
 * no change is there without those that came before it.
 *
 *     task 1 has sections 1 to 7       fetches a unit       its home has 1 to 9: the unit as of 9, and sections 8 and 9
 *     task 1 has sections 1 to 9       fetches a unit       its home has 1 to 4: the unit as of 4; task 1 itself knows 5 to 9
 *
 * Changes are records of src/delta, by unit, whose smallest part is a byte. What all tasks know is merged when it becomes much.
 * No function is thread-safe. */
#ifndef DOME_SRC_SECTION_LOG_H
#define DOME_SRC_SECTION_LOG_H

#include <glib.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dome_section_log dome_section_log;

dome_section_log *dome__section_log_new(void);
void dome__section_log_free(dome_section_log *log);

/* All tasks have met, and have all of it: the next section is number 1 again. */
void dome__section_log_clear(dome_section_log *log);

/* The log has all sections up to number `end`, and this task's memory those up to `taken`, and its own. */
uint64_t dome__section_log_end(const dome_section_log *log);
uint64_t dome__section_log_taken(const dome_section_log *log);

/* ---- this task publishes ---- */

/* Appends what has changed in a unit to the changes of a section. */
void dome__section_put(GByteArray *changes, uint64_t key, const void *records, size_t bytes);

/* The next section is this task's, whose changes are copied. late: it has said before what it brings to the next meeting, and
 * that is in these changes. */
void dome__section_log_add(dome_section_log *log, int author, bool late, const GByteArray *changes);

/* ---- what others have published ---- */

/* A part of the sections behind number `have` as one sequence of bytes. */
typedef struct dome_section_range {
    uint64_t have, upto;
    uint64_t skip, most; /* so many of the bytes are left out; at most so many come */
} dome_section_range;

/* Appends them; returns how many there are without skip and most. */
uint64_t dome__section_log_since(const dome_section_log *log, const dome_section_range *range, GByteArray *to);

/* Changes when sections have been merged: the bytes of a range are others then. */
uint64_t dome__section_log_version(const dome_section_log *log);

/* Adds the sections of such bytes that the log has not yet. False: they are damaged, or some before them are missing. */
bool dome__section_log_hear(dome_section_log *log, const void *bytes, size_t count);

typedef void dome_section_visit(void *ctx, uint64_t key, const void *records, size_t bytes);

/* Visits what others have changed in the sections behind `taken`, in order; from then on they are taken. */
void dome__section_log_take(dome_section_log *log, int self, dome_section_visit *visit, void *ctx);

/* Visits the changes of a unit in sections behind number `has`, in order. */
void dome__section_log_behind(const dome_section_log *log, uint64_t key, uint64_t has, dome_section_visit *visit, void *ctx);

/* Whether this task's memory has a late section of another task: what that brings to the meeting is there already. One that has
 * been heard and not taken does not count: it is cleared with the others, untaken, when all have met. */
bool dome__section_log_has_late(const dome_section_log *log, int author);

/* ---- its size ---- */

uint64_t dome__section_log_bytes(const dome_section_log *log);

/* All tasks have the sections up to this number: merges them, if the log has more than `much` bytes, and more than twice what was
 * left the last time. */
void dome__section_log_merge(dome_section_log *log, uint64_t all_have, uint64_t much);

#endif
