/* What a daemon sees of its host: how busy others than Dome's programs keep it, and whether its owner is there. And what it does
 * there at once: the tasks of programs are nice to an owner. */
#ifndef DOME_SRC_HOST_WATCH_H
#define DOME_SRC_HOST_WATCH_H

#include "daemon/daemon_record.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct dome_table dome_table;

typedef struct dome_host_watch dome_host_watch;

typedef struct dome_host_watch_setup {
    const char *name;            /* of the host */
    bool dedicated;              /* it computes for Dome alone: nothing is looked at */
    bool owner;                  /* somebody who types on a terminal is its owner, and is given way to */
    const char *const *consoles; /* files that an owner's activity touches, such as a keyboard's; ended by NULL */
} dome_host_watch_setup;

/* The setup lives as long as the watch. */
dome_host_watch *dome__host_watch_new(const dome_host_watch_setup *setup, double now);
void dome__host_watch_free(dome_host_watch *watch);

/* Takes a look, if one is due. Returns whether there is something to tell: the order `load`, to be cleared. */
bool dome__host_watch_look(dome_host_watch *watch, const dome_table *table, double now, dome_record *order);

/* When the next look is due. */
double dome__host_watch_next(const dome_host_watch *watch);

/* ---- the texts of the kernel; pure ---- */

typedef struct dome_host_ticks {
    uint64_t busy, idle; /* of all processors */
    int running;         /* threads that run or want to */
} dome_host_ticks;

/* Of /proc/stat; false: it is none. */
bool dome__host_ticks_parse(const char *text, dome_host_ticks *ticks);

/* Of /proc/pressure/cpu: the part of the time, 0 to 1, in which a thread waited for a processor; 0: not known. */
double dome__host_pressure_parse(const char *text);

/* Processors that others keep busy: of all those that are busy, and of the threads that want to run where they have to wait. */
double dome__host_load(double busy, double own_busy, double running, double own_running, double pressure);

#endif
