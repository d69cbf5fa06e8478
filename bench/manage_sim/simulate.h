/* A day under one way of placing programs. */
#ifndef DOME_BENCH_SIMULATE_H
#define DOME_BENCH_SIMULATE_H

#include "day.h"

typedef enum way {
    WAY_RUN, /* as `dome run` does: at once, in the order of the hosts, the user's own first, with as many tasks as are wanted */
    WAY_SHARING, /* src/manage: placement and priorities; programs compute beside owners, as under `dome run` */
    WAY_POLICIES /* the same, and programs leave a host to its owner */
} way;

typedef struct simulated {
    double mean;              /* seconds from submitting a program to its end */
    double high;              /* of those of priority; NAN: none */
    double beside_owners;     /* processor seconds of tasks on hosts whose owner was there */
    int changes, suspensions; /* orders */
    int unfinished;           /* after three days */
} simulated;

simulated simulate(const day *day, way how);

#endif
