/* Declarations shared by the files of src/delta. */
#ifndef DOME_SRC_DELTA_PRIVATE_H
#define DOME_SRC_DELTA_PRIVATE_H

#include "delta/delta.h"

enum {
    DOME_DELTA_GROUP = 64, /* units */
    DOME_DELTA_STEP = 512  /* bytes that are compared at once: groups of any unit fill it */
};

struct dome_delta {
    uint8_t *bytes;
    size_t used, room;
    unsigned unit;
    uint64_t units;
    uint64_t next;  /* the group behind the last record */
    uint64_t end;   /* the unit behind the last one that has a value */
    size_t full_at; /* place of the count of the last record, if that is a FULL one; 0: it is another */
};

/* ---- writing ---- */

/* Makes room for the record of a group with these units, writes its head, and returns the place of its values, which the caller
 * fills in the order of the bits. index is not before delta->next; mask is not 0. */
uint8_t *dome__delta_put(dome_delta *delta, uint64_t index, uint64_t mask);

/* The same for whole groups one behind the other. */
uint8_t *dome__delta_put_full(dome_delta *delta, uint64_t index, uint64_t groups);

/* ---- reading ---- */

/* A record, or what is left of it. groups is 1, but for FULL records. */
typedef struct dome_delta_part {
    uint64_t index, groups, mask;
    const uint8_t *values;
} dome_delta_part;

typedef struct dome_delta_reader {
    const uint8_t *at, *end;
    unsigned unit;
    uint64_t next;
    bool bad;
} dome_delta_reader;

dome_delta_reader dome__delta_reader(const dome_delta *delta);

/* The next record; false at the end, and if the records are damaged (`bad`). */
bool dome__delta_next(dome_delta_reader *reader, dome_delta_part *part);

/* Removes the first group of a part; returns whether something is left. */
bool dome__delta_drop_group(dome_delta_part *part, unsigned unit);

/* ---- code for each kind of processor ---- */

/* Of groups of 64 units, by the logarithm of the unit. Addresses need no alignment. */
typedef struct dome_delta_code {
    const char *name;
    bool (*usable)(void);
    uint64_t (*differ[4])(const uint8_t *a, const uint8_t *b);             /* bit k: unit k differs */
    uint8_t *(*pack[4])(uint8_t *to, const uint8_t *group, uint64_t mask); /* may write behind its end, for a group's size */
    const uint8_t *(*unpack[4])(uint8_t *group, const uint8_t *from, uint64_t mask); /* writes units of the mask alone */
    size_t (*equal)(const uint8_t *a, const uint8_t *b,
                    size_t bytes); /* how many are, from the start; both multiples of DOME_DELTA_STEP */
} dome_delta_code;

const dome_delta_code *dome__delta_code(void);

static inline unsigned dome__delta_log(unsigned unit)
{
    return (unsigned)__builtin_ctz(unit);
}

/* Units of a mask. Processors of which nothing is known have no instruction for it, and then gcc calls a function. */
static inline unsigned dome__delta_bits(uint64_t mask)
{
    mask -= mask >> 1 & UINT64_C(0x5555555555555555);
    mask = (mask & UINT64_C(0x3333333333333333)) + (mask >> 2 & UINT64_C(0x3333333333333333));
    mask = (mask + (mask >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(mask * UINT64_C(0x0101010101010101) >> 56);
}

#endif
