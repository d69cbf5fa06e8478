/* Days of a simulated cluster: its hosts, what their owners and others do there, and the programs that users submit. A day does
 * not depend on how programs are placed, so that all ways are compared by the same one. */
#ifndef DOME_BENCH_DAY_H
#define DOME_BENCH_DAY_H

#include <stdbool.h>
#include <stdint.h>

enum { DAY_SECONDS = 86400 };

typedef struct day_host {
    char name[8];
    int processors;
    double speed;
    bool owned; /* its owner works at it from time to time */
} day_host;

/* From this second on, the load of others on a host, and whether its owner is there. */
typedef struct day_change {
    int second, host;
    double load; /* processors that are kept busy */
    bool owner;  /* is there */
} day_change;

typedef struct day_program {
    int submitted, host; /* second; where its user sits */
    int priority;
    int tasks, least; /* least < tasks: their number can change */
    double work;      /* seconds of one processor of speed 1 */
    double moving;    /* seconds that it stands still when its tasks change */
} day_program;

typedef struct day {
    int host_count, change_count, program_count;
    day_host *hosts;
    day_change *changes; /* in order of time */
    day_program *programs;
} day;

/* Equal for equal seeds. */
day *day_new(uint32_t seed);
void day_free(day *day);

/* How a program computes with so many tasks that each have a processor: work done per second over that of the sum of processors.
 */
double day_efficiency(int tasks);

#endif
