/* The daemon of a host (README.md). */
#ifndef DOME_SRC_DAEMON_H
#define DOME_SRC_DAEMON_H

#include "daemon/engine.h"
#include "daemon/host_watch.h"

#include <stdint.h>

typedef struct dome_daemon_setup {
    const char *folder; /* for its table and its keepers' files; it exists */
    const char *socket; /* for all users; NULL: for its own user alone */
    const char *dome;   /* path of the command */
    const char *name;   /* of this host */
    int64_t slots;      /* tasks that may compute here at a time */
    const dome_engine_kind *engine;
    dome_host_watch_setup watch;
    const char *listen;   /* for other hosts' daemons: ADDRESS or ADDRESS:PORT; NULL: not */
    const char *key_file; /* of the daemons that know each other */
    bool makes_key;       /* if there is none, and other hosts may ask */
} dome_daemon_setup;

/* Runs until SIGTERM or SIGINT; returns the exit status. Its programs go on. */
int dome__daemon_run(const dome_daemon_setup *setup);

#endif
