/* What has changed in memory: found by comparing it with a copy, written down, applied elsewhere, merged.
 *
 *     dome_delta *delta = dome__delta_new(8);                       by words of 8 bytes
 *     dome__delta_find(delta, 0, now, then, bytes, 0);              what differs in now from then
 *     dome__delta_apply(delta, memory, bytes, NULL);                memory, equal to then, becomes equal to now
 *     dome__delta_free(delta);
 *
 * A delta speaks of a memory that begins at offset 0. Its unit, 1, 2, 4 or 8 bytes, is the smallest part that it tells apart: two
 * tasks may change neighbouring units at the same time, and the merged delta has both changes. Of memory whose type is not known
 * the unit must be 1: with larger units a task that changes one byte also sends the bytes beside it, which another task may have
 * changed.
 *
 * Form. 64 units are a group. A delta is a sequence of records in ascending order of their groups:
 *
 *     record := tag [more] body          tag: bits 0-1 the kind; bits 2-7 the number of unchanged groups before it, 63: 63 + more
 *     ONE    := position values          one unit of the group; position: 1 byte
 *     RANGE  := position count values    neighbouring units; 1 byte each; count is one less than their number
 *     MAP    := map values               map: 8 bytes, little-endian, bit k: unit k of the group
 *     FULL   := groups values            whole groups, one behind the other; groups: 4 bytes, little-endian
 *
 * more is an unsigned LEB128 number; values are the units as they lie in memory. On today's processors a map of words is made and
 * applied faster than runs of words at every density but the lowest, where the other kinds are shorter (bench/delta). The
 * representations of CAPE (Viet Hai Ha, thesis, 2012, section 3.5.2: SD, SSD, MD, EP) differ: there a page gets the shorter of
 * two.
 *
 * Nothing here knows other parts of the library but bytes and checksums of src/system. No function is thread-safe for one delta.
 */
#ifndef DOME_SRC_DELTA_H
#define DOME_SRC_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dome_delta dome_delta;

/* An empty delta with this unit. The caller frees it. */
dome_delta *dome__delta_new(unsigned unit);
void dome__delta_free(dome_delta *delta);

/* Removes all records; memory stays for the next. */
void dome__delta_clear(dome_delta *delta);

unsigned dome__delta_unit(const dome_delta *delta);
uint64_t dome__delta_units(const dome_delta *delta);                     /* number of units with a value */
const void *dome__delta_records(const dome_delta *delta, size_t *bytes); /* valid until the delta changes */

/* A delta of records that arrived in a message. false: they are damaged. `limit`: bytes of the memory they may speak of. */
bool dome__delta_set_records(dome_delta *delta, const void *records, size_t bytes, uint64_t limit);

/* ---- finding ---- */

enum { DOME_DELTA_TAKE = 1 }; /* `then` becomes equal to `now`, in what is written down */

/* Adds what differs between `bytes` bytes at `now` and at `then`. `offset` is the place of both in the memory of the delta: a
 * multiple of 64 units, behind all that the delta has. bytes is a multiple of the unit. Others may write to `now` meanwhile: each
 * unit that is written down has a value that it had, and with DOME_DELTA_TAKE `then` has the same. */
void dome__delta_find(dome_delta *delta, uint64_t offset, const void *now, void *then, size_t bytes, unsigned flags);

/* Adds all of this memory, without comparing. */
void dome__delta_add(dome_delta *delta, uint64_t offset, const void *now, size_t bytes);

/* How many bytes from the start on are equal, in steps of 512; `bytes` if all are. */
size_t dome__delta_equal(const void *a, const void *b, size_t bytes);

/* ---- using ---- */

/* Writes the values to `memory`, which has so many bytes, and to `twin`, if that is not NULL. false: the delta speaks of more
 * memory; nothing is written then. */
bool dome__delta_apply(const dome_delta *delta, void *memory, size_t bytes, void *twin);

/* The runs of neighbouring units, in ascending order; `values` has count units. A run of several records is told in parts. */
typedef void dome_delta_run(void *context, uint64_t first, uint64_t count, const void *values);
void dome__delta_runs(const dome_delta *delta, dome_delta_run *visit, void *context);

/* The groups of 64 units of which a unit has a value, by runs, where that is enough: values is NULL. */
void dome__delta_spans(const dome_delta *delta, dome_delta_run *visit, void *context);

/* A unit that both deltas have, with different values. */
typedef void dome_delta_conflict(void *context, uint64_t unit, const void *first, const void *second);

/* Adds to `into`, which is empty, what both deltas have; of a unit that both have, the value of `second`. The order is the
 * merge's order: programs agree on one (ascending ranks, or threads), and merge the deltas of one interval alone. Each unit that
 * both have with different values is a conflict, which is told if `tell` is not NULL. The three have one unit. */
void dome__delta_merge(dome_delta *into, const dome_delta *first, const dome_delta *second, dome_delta_conflict *tell,
                       void *context);

/* ---- with a head: for files, and for machines of either byte order ---- */

/* 32 bytes, integers little-endian: "DLTA", version (1), unit, byte order of the values (0: little-endian), 0, u64 bytes of the
 * records, u64 units, u64 checksum (XXH3 with 64 bits of all other bytes). */
enum { DOME_DELTA_HEAD = 32 };
void dome__delta_head(const dome_delta *delta, uint8_t head[DOME_DELTA_HEAD]);

/* A delta of what a head and records say, in this machine's byte order. NULL if they are damaged or of a later version; *why is
 * then a static text. `limit`: bytes of the memory they may speak of. */
dome_delta *dome__delta_read(const void *data, size_t bytes, uint64_t limit, const char **why);

/* ---- for tests and benchmarks ---- */

/* Uses the code for this kind of processor, "avx512", "avx2", "sse2", "portable", or the best one, "auto". Returns its name;
 * NULL: this processor cannot. */
const char *dome__delta_limit(const char *name);

#endif
