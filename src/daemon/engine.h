/* What carries orders from each daemon to all: in the same order everywhere, and with changes of the group at the same
 * places. engine_cpg.c gets this from Corosync; engine_alone.c serves a single host. */
#ifndef DOME_SRC_ENGINE_H
#define DOME_SRC_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a message. */
enum { DOME_ENGINE_MOST = 256 << 10 };

typedef struct dome_engine_events {
    void (*deliver)(void *ctx, uint32_t node, const char *text, size_t length);
    /* The daemons of the group now. lost: those that have left because their host is gone, not the daemon alone. */
    void (*members)(void *ctx, const uint32_t *nodes, size_t count, const uint32_t *lost, size_t lost_count);
    void *ctx;
} dome_engine_events;

typedef struct dome_engine dome_engine;

typedef struct dome_engine_kind {
    const char *name;
    /* NULL with *message (g_free'd). */
    dome_engine *(*open)(const dome_engine_events *events, char **message);
    void (*close)(dome_engine *engine);
    uint32_t (*node)(const dome_engine *engine); /* this host */
    int (*fd)(const dome_engine *engine);        /* readable: call dispatch; -1: none */
    /* Calls the events that are there; false: the engine has ended. */
    bool (*dispatch)(dome_engine *engine);
    /* To all, this host included. False: not now; try again after a moment. */
    bool (*send)(dome_engine *engine, const char *text, size_t length);
} dome_engine_kind;

extern const dome_engine_kind dome__engine_alone, dome__engine_cpg;

#endif
