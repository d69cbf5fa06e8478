/* Who gets the token (space/token.h) next: the algorithm of I. Suzuki and T. Kasami, "A distributed mutual exclusion algorithm",
 * ACM TOCS 3(4), 1985. A task that wants the token tells all others the number of its request; the token carries the number of
 * the last request of each task that it has served. So whoever has the token may give it to any task, unasked too, and no request
 * is lost. The next in turn is the next one by rank.
 *
 * The token also carries up to which section each task knows what was changed (section_log.h). */
#ifndef DOME_SRC_SECTION_QUEUE_H
#define DOME_SRC_SECTION_QUEUE_H

#include <stdint.h>

typedef struct dome_section_queue {
    int rank, size;
    uint64_t *asked;          /* by rank: its last request, as far as this task knows */
    uint64_t *served, *knows; /* by rank, as of when this task had the token */
} dome_section_queue;

void dome__section_queue_begin(dome_section_queue *queue, int rank, int size);
void dome__section_queue_end(dome_section_queue *queue);

/* All tasks have met: nobody waits for the token. */
void dome__section_queue_clear(dome_section_queue *queue);

/* This task wants the token; returns the number that it tells all others. */
uint64_t dome__section_queue_ask(dome_section_queue *queue);

/* Another task has told its number. */
void dome__section_queue_asked(dome_section_queue *queue, int rank, uint64_t number);

/* This task has got the token, and what the token carries; no request of its own waits any more. */
void dome__section_queue_got(dome_section_queue *queue);

/* Who is to get the token from this task, which has it; -1: nobody has asked. */
int dome__section_queue_next(const dome_section_queue *queue);

/* The section up to which all tasks know what was changed. */
uint64_t dome__section_queue_all_know(const dome_section_queue *queue);

#endif
