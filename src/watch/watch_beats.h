/* The figures of a task's beats, and the board by which the first task of a host sends the beats of all. watch_beats.c alone
 * changes these members. */
#ifndef DOME_SRC_WATCH_BEATS_H
#define DOME_SRC_WATCH_BEATS_H

#include "transport/transport.h"
#include "watch/watch_line.h"
#include "wire/wire.h"

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>

typedef struct watch_beats {
    pthread_mutex_t mutex; /* protects the others but for the last */
    const dome_transport *transport;
    bool leaving;             /* the task is about to close its transport */
    uint32_t queries;         /* number received from the hub */
    double busy_at, busy_cpu; /* time of the last beat, and processor time used until then */
    GArray *taken;            /* of the first task of a host: how many beats of each place it has passed on; uint32_t */
    uint64_t heard_there;     /* when the first task of this host had last heard of the hub */
    uint64_t checkpoint;      /* number of the last one + 1; 0: none */
} watch_beats;

void dome__watch_beats_init(watch_beats *b);
void dome__watch_beats_clear(watch_beats *b);

/* Beats report this transport from now on; NULL: none, and the task is leaving. */
void dome__watch_beats_transport(watch_beats *b, const dome_transport *transport);
bool dome__watch_beats_leaving(watch_beats *b);
void dome__watch_beats_query(watch_beats *b);
void dome__watch_beats_checkpoint(watch_beats *b, uint64_t number);

/* Fills in what the transport and the system tell of the task. line: the bytes that other connections of the process have moved
 * are progress, too. */
void dome__watch_beats_measure(watch_beats *b, const watch_line *line, dome_wire_beat *beat);

/* On a host of many tasks: the first one appends the beats of the others to its frame, and another one leaves its own on the
 * board. True: the first one sends it, and has lately done so. period: seconds between two beats. */
bool dome__watch_beats_by_board(watch_beats *b, GByteArray *frame, double period);

/* Whether the hub has been heard, by this task (itself) or by the first of its host, which tells the others. */
bool dome__watch_beats_heard(watch_beats *b, bool itself);

/* ns that the task has waited for others. */
uint64_t dome__watch_beats_waited(watch_beats *b);

/* The answer to a question of the hub about messages; NULL: before the transport is open the task moves. */
GArray *dome__watch_beats_inquiry(watch_beats *b, const dome_wire_message *question);

#endif
