/* The live pages, served over HTTP to browsers on this host: a trace that is being written, of which the program does not know,
 * because the data is read from the file; or what another source has, and takes orders for. */
#ifndef DOME_TOOLS_LIVE_H
#define DOME_TOOLS_LIVE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct dome_live dome_live;

/* What is served instead of a trace. The server's thread alone calls these, one after the other. */
typedef struct dome_live_source {
    char *(*page)(size_t *length); /* free'd */
    char *(*data)(size_t *length); /* JSON, free'd; NULL: not now */
    /* Carries an order out; the text says what has become of it, g_free'd. */
    char *(*order)(const char *text, bool *done);
} dome_live_source;

typedef struct dome_live_request {
    const char *path;               /* of the trace; the file may not exist yet */
    const dome_live_source *source; /* NULL: the trace */
    const char *address;            /* IPv4, to listen on; NULL: loopback */
    int port;                       /* 0: any free port */
    bool open;                      /* the address may be reachable from other hosts */
    int connection;                 /* of trace/demand.h: closed when the program ends; 0: none */
} dome_live_request;

/* Serves from a separate thread. NULL with *message (g_free'd) on failure. */
dome_live *dome__live_start(const dome_live_request *request, char **message);

/* The URL of the page, with the token that every request needs. Borrowed. */
const char *dome__live_address(const dome_live *live);

void dome__live_stop(dome_live *live);

/* The same in a separate process, which ends some seconds after this one and then removes the file if `remove`. Returns the
 * address (g_free'd), or NULL with *message. */
char *dome__live_beside(const dome_live_request *request, bool remove, char **message);

#endif
