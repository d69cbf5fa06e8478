/* Keeps the tables of a group's daemons equal. Whenever a daemon joins, each daemon tells the version of its table. The daemon
 * with the newest table (of several, the one with the lowest number) sends it, and the others take it over; orders wait until
 * then. What a daemon does depends on the sequence of events alone, which is the same for all. Pure: it reads no clock and has no
 * connection.
 *
 * The newest table is the one to which a majority has applied the most orders. What a side without a majority did is forgotten.
 */
#ifndef DOME_SRC_DAEMON_GROUP_H
#define DOME_SRC_DAEMON_GROUP_H

#include "daemon/table.h"

#include <stdint.h>

typedef struct dome_group dome_group;

/* What a group asks of its owner. */
typedef struct dome_group_acts {
    void (*send)(void *ctx, const dome_record *message); /* to all daemons, this one included */
    /* An order was carried out, or not: answer as of dome__table_apply. own: this daemon has sent it. */
    void (*applied)(void *ctx, const dome_record *order, bool own, const char *answer);
    void (*foreign)(void *ctx, uint32_t node, int64_t version,
                    bool leave); /* a daemon of another version; leave: this one must */
    void *ctx;
} dome_group_acts;

/* name: of this host. Takes the table over. */
dome_group *dome__group_new(const dome_group_acts *acts, const char *name, int64_t slots, dome_table *table);
void dome__group_free(dome_group *group);

const dome_table *dome__group_table(const dome_group *group);

/* Whether orders are carried out now: the tables are equal. */
bool dome__group_is_settled(const dome_group *group);

/* Compares the tables anew: for a daemon that has not been settled for some time. */
void dome__group_again(dome_group *group);

/* The engine has ended. */
void dome__group_lost(dome_group *group);

/* Events of the engine. here: the number of this host. */
void dome__group_members(dome_group *group, uint32_t here, const uint32_t *nodes, size_t count, const uint32_t *lost,
                         size_t lost_count);
void dome__group_deliver(dome_group *group, uint32_t node, const char *text, size_t length);

#endif
