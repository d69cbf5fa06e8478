/* Frames between a task's watcher and the hub, over TCP. Big-endian; a frame is its length (of what follows), a kind and fields.
 * Before the first one both ends have proven to each other that they know the program's cookie (transport/handshake.h), and the
 * task has told its channel. */
#ifndef DOME_SRC_WIRE_H
#define DOME_SRC_WIRE_H

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

typedef enum dome_wire_kind {
    DOME_WIRE_HELLO = 1, /* task: rank, pid, tid, host */
    DOME_WIRE_WELCOME,   /* hub: nothing */
    DOME_WIRE_BEAT, /* both; from a task: sequence, history, operation's name, waiting, progress, object's name, queries answered,
                        processors used, load of the host, last checkpoint, loop boundaries passed */
    DOME_WIRE_QUERY,      /* hub: send a beat now */
    DOME_WIRE_FAIL,       /* task: status, line, dome_end, 1 if a message has shown that tasks disagree */
    DOME_WIRE_EXITING,    /* task: exit status; left without dome_finalize */
    DOME_WIRE_BYE,        /* task: dome_finalize is done */
    DOME_WIRE_END,        /* hub: exit status, text for standard error; end at once */
    DOME_WIRE_PAUSE,      /* hub: stopped from the keyboard; expect silence */
    DOME_WIRE_RESUME,     /* hub: going on */
    DOME_WIRE_CLOCK,      /* task: its time, ns; hub: the same, and its own time */
    DOME_WIRE_TRACE_OPEN, /* rank 0: path of the trace, command line, 1 if the program goes on after a restart */
    DOME_WIRE_TRACE,      /* task: number of the recording (0: of --dome-trace), lines for it */
    DOME_WIRE_STARTED,    /* hub, to its supervisor: pid of rank 0, of the daemon, directory of the private machine */
    DOME_WIRE_REPORT,     /* hub, to its supervisor: dome_end, line, host that fell silent, operations, loop boundaries */
    DOME_WIRE_RECORD,     /* hub: number of the recording on demand that the task is to make; 0: none any more */
    DOME_WIRE_SIGNAL,     /* task: number of the signal that ends it now */
    DOME_WIRE_TRAIL /* hub: send the last operations; task: for each, newest first, sequence, history, the call as text, number
                        of texts about its arguments, and these (trail.h) */
} dome_wire_kind;

typedef enum dome_wire_channel {
    DOME_WIRE_WATCH,
    DOME_WIRE_STDOUT,
    DOME_WIRE_STDERR,
    DOME_WIRE_ASK /* no task: gets the text of supervision/report.h at once, and is closed */
} dome_wire_channel;

enum { DOME_WIRE_MAX = 1 << 16, DOME_COOKIE_LENGTH = 32 };

/* Of the handshake, whose word is the channel. */
#define DOME_WIRE_PURPOSE "dome hub"

/* Building a frame. */
GByteArray *dome__wire_new(dome_wire_kind kind);
void dome__wire_put_u32(GByteArray *frame, uint32_t value);
void dome__wire_put_u64(GByteArray *frame, uint64_t value);
void dome__wire_put_string(GByteArray *frame, const char *text);

/* Sends the frame and frees it. False when the other side is gone or does not take it within the socket's timeout. */
bool dome__wire_send(int fd, GByteArray *frame);

/* Reading: the next whole frame of `in` is moved to `frame` (kind and fields). 1: there is one; 0: not yet; -1: not a frame. */
int dome__wire_next(GByteArray *in, GByteArray *frame);

typedef struct dome_wire_reader {
    const uint8_t *at, *end;
    bool bad; /* a field was missing */
} dome_wire_reader;

dome_wire_kind dome__wire_open(dome_wire_reader *reader, const GByteArray *frame);
uint32_t dome__wire_get_u32(dome_wire_reader *reader);
uint64_t dome__wire_get_u64(dome_wire_reader *reader);
char *dome__wire_get_string(dome_wire_reader *reader); /* g_free'd by the caller; never NULL */

#endif
