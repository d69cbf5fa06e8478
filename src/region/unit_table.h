/* The units of a region at a member: as its home, and as one of its members. A unit with which nothing is under way takes a few
 * bytes: at home 8 for each 64 members, and 6; at a member a quarter of a byte, and as much for each of its tasks. The others are
 * spread out, as the state machines want them.
 *
 *     dome_unit_home *home = dome__unit_homes_take(homes, unit);
 *     dome__unit_home_take(home, &call, from, message);
 *     dome__unit_homes_put(homes, unit); */
#ifndef DOME_SRC_UNIT_TABLE_H
#define DOME_SRC_UNIT_TABLE_H

#include "region/unit_home.h"
#include "region/unit_member.h"

typedef struct dome_unit_homes dome_unit_homes;
typedef struct dome_unit_members dome_unit_members;

/* All units are with this member, which may write them. */
dome_unit_homes *dome__unit_homes_new(uint64_t units, unsigned members, unsigned member);
void dome__unit_homes_free(dome_unit_homes *homes);

/* One unit at a time: until it is put back. */
dome_unit_home *dome__unit_homes_take(dome_unit_homes *homes, uint64_t unit);
void dome__unit_homes_put(dome_unit_homes *homes, uint64_t unit);

/* This member has the unit alone, and may write it. A timer goes on. */
void dome__unit_homes_settle(dome_unit_homes *homes, uint64_t unit, unsigned member);

/* With how many something is under way. */
uint64_t dome__unit_homes_busy(const dome_unit_homes *homes);

/* Likewise; the member has this right for all of them, and its tasks none. */
dome_unit_members *dome__unit_members_new(uint64_t units, unsigned tasks, dome_unit_right have);
void dome__unit_members_free(dome_unit_members *members);
dome_unit_member *dome__unit_members_take(dome_unit_members *members, uint64_t unit);
void dome__unit_members_put(dome_unit_members *members, uint64_t unit);
uint64_t dome__unit_members_busy(const dome_unit_members *members);

#endif
