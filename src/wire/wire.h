/* Messages between a task's watcher and the hub, over TCP, and between a hub and its supervisor. Each is sent as a frame,
 * big-endian: its length (of the rest), its kind, and its fields in the order of the structs below. Before the first message the
 * handshake proves to both ends that the other one knows the program's cookie, and tells the hub the channel
 * (transport/handshake.h). From then on each frame over TCP is followed by its code (transport/mac.h). Hub and supervisor are
 * connected by a socket that nobody else can reach: their frames have none. */
#ifndef DOME_SRC_WIRE_H
#define DOME_SRC_WIRE_H

#include "transport/mac.h"

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

/* Why a program ended early: by its own doing, by a failure while it started, or by the loss of a task or host. Ordered by
 * severity. */
typedef enum dome_end { DOME_END_OWN, DOME_END_START, DOME_END_LOSS } dome_end;

typedef enum dome_wire_kind {
    DOME_WIRE_HELLO = 1,  /* task: its rank, process and host */
    DOME_WIRE_WELCOME,    /* hub: nothing */
    DOME_WIRE_BEAT,       /* task: its state, or that of another task of its host */
    DOME_WIRE_ALIVE,      /* hub: nothing */
    DOME_WIRE_QUERY,      /* hub: send a beat now */
    DOME_WIRE_FAIL,       /* task: why the program must end */
    DOME_WIRE_EXITING,    /* task: it is exiting without dome_finalize */
    DOME_WIRE_BYE,        /* task: dome_finalize is done */
    DOME_WIRE_END,        /* hub: end at once */
    DOME_WIRE_PAUSE,      /* hub: stopped from the keyboard; expect silence */
    DOME_WIRE_RESUME,     /* hub: running again */
    DOME_WIRE_CLOCK,      /* task: its time; hub: the same, and its own */
    DOME_WIRE_TRACE_OPEN, /* rank 0: the file of the trace */
    DOME_WIRE_TRACE,      /* task: lines of a trace */
    DOME_WIRE_STARTED,    /* hub, to its supervisor; again with each loss that it begins to heal */
    DOME_WIRE_REPORT,     /* hub, to its supervisor: how the program ended */
    DOME_WIRE_RECORD,     /* hub: number of the recording on demand to make */
    DOME_WIRE_SIGNAL,     /* task: the signal that is ending it */
    DOME_WIRE_CALL_LOG,   /* hub: requests the last operations; task: sends them */
    DOME_WIRE_HOLD,       /* hub: hold at the next loop boundary (order); task: the same, and how many it has passed */
    DOME_WIRE_TARGET,     /* hub: change at this boundary, by this plan */
    DOME_WIRE_POSTPONE,   /* rank 0: the program cannot change here, and tries again at later boundaries */
    DOME_WIRE_REFUSE,     /* rank 0: the program cannot change */
    DOME_WIRE_CHANGE,     /* task: it goes over into the next view, or leaves */
    DOME_WIRE_MEMBERS,    /* hub, to rank 0: the ids of the tasks that have come back; 0: a newcomer */
    DOME_WIRE_STANDS,     /* rank 0: all tasks of the view have joined; hub: the same, and from now on a loss is one */
    DOME_WIRE_BACK,       /* hub: a task or a newcomer is lost; become the program anew at once, for this view */
    DOME_WIRE_TIMES,      /* rank 0: how long the parts of the change into its view took */
    DOME_WIRE_HOSTS,      /* hub, to its supervisor: where the tasks of a view are */
    DOME_WIRE_MEET,       /* task: all tasks are to meet at a boundary, without a change of their number */
    DOME_WIRE_DONE,       /* task: the program is complete for it: it has passed the last barrier, and its output is written */
    DOME_WIRE_WAITS,      /* hub: what does the task wait for? task: the answer (inquiry.h) */
    DOME_WIRE_GIVEN,      /* hub: how many messages has it given for these tasks? task: the answer */
    DOME_WIRE_STANDBY,    /* rank 0: start newcomers on these hosts (standby.h); hub: their ids, or why there are none */
    DOME_WIRE_STOP,       /* hub: stop, with all of the process, until the next message; task: it has */
    DOME_WIRE_SHOWN,      /* task: where its output is; hub: the same, with the answer (shown.h) */
    DOME_WIRE_KINDS
} dome_wire_kind;

typedef enum dome_wire_channel {
    DOME_WIRE_WATCH,
    DOME_WIRE_STDOUT,
    DOME_WIRE_STDERR,
    DOME_WIRE_ASK /* not a task: gets the text of wire/report.h at once, and is closed */
} dome_wire_channel;

enum { DOME_WIRE_MAX = 1 << 16, DOME_COOKIE_LENGTH = 32 };

/* Purpose of the handshake, whose word is the channel. */
#define DOME_WIRE_PURPOSE "dome hub"

/* ---- messages ---- */

typedef struct dome_wire_hello {
    uint32_t rank, pid, tid;
    const char *host;
    uint32_t view;   /* wire/view.h */
    uint32_t parent; /* the process that has started it: on other hosts than the hub's the launcher's daemon */
} dome_wire_hello;

typedef struct dome_wire_beat {
    uint32_t rank;
    uint64_t sequence, history;
    const char *operation; /* the operation's name, or "" */
    uint32_t waiting;      /* 1: waiting for another task */
    uint64_t progress;
    const char *object;  /* name of the operation's object, or "" */
    uint32_t queries;    /* number of queries answered */
    uint32_t busy;       /* processors used recently, thousandths */
    uint32_t load;       /* of the host, hundredths; UINT32_MAX: unknown */
    uint64_t checkpoint; /* number of the last one + 1 */
    uint64_t loop;       /* loop boundaries passed */
    uint64_t awaited;    /* the message or lock that the task waits for: DOME_AWAITS */
    uint32_t bare;       /* 1: it has objects, but none with a name */
    uint64_t waited;     /* ns that it has waited for others in this view */
} dome_wire_beat;

typedef struct dome_wire_fail {
    uint32_t status;
    const char *line;
    uint32_t end;      /* dome_end */
    uint32_t disagree; /* 1: a message has shown that tasks disagree */
} dome_wire_fail;

typedef struct dome_wire_end {
    uint32_t status;
    const char *text; /* for standard error */
} dome_wire_end;

typedef struct dome_wire_clock {
    uint64_t asked; /* the task's time, ns */
    uint64_t hub;   /* in the answer: the hub's */
} dome_wire_clock;

typedef struct dome_wire_trace_open {
    const char *path, *command;
    uint32_t append; /* 1: the program resumes after a restart */
} dome_wire_trace_open;

typedef struct dome_wire_trace {
    uint32_t number; /* of the recording; 0: --dome-trace */
    const char *lines;
} dome_wire_trace;

typedef struct dome_wire_started {
    uint32_t rank0, daemon; /* pids */
    const char *directory;  /* of the private machine */
} dome_wire_started;

typedef struct dome_wire_report {
    uint32_t end; /* dome_end */
    const char *line;
    const char *silent; /* hosts that fell silent */
    uint64_t sequence, loop;
    uint32_t place_known; /* sequence and loop are those at the end, not of a beat before */
    uint64_t cause;       /* by which losses are compared (manage/losses.h) */
    uint32_t status;      /* with which the hub ends */
} dome_wire_report;

typedef struct dome_wire_hold {
    uint64_t order, loop;
    const char *plan; /* TARGET: view_plan.h */
} dome_wire_hold;

typedef struct dome_wire_refuse {
    uint64_t order;
    const char *why;
} dome_wire_refuse;

typedef struct dome_wire_change {
    uint32_t number;  /* of the next view */
    const char *plan; /* view_plan.h */
} dome_wire_change;

typedef struct dome_wire_view {
    uint32_t number, size; /* of this view */
    uint32_t least, most;  /* --dome-min, --dome-max */
    uint64_t checkpoint;   /* number of the one that it goes on from; 0: none */
    uint64_t loop;         /* its loop boundary */
    uint32_t saves;        /* 1: it writes checkpoints, or keeps its state */
    const char *facts;     /* what a process needs that is started in place of rank 0: DOME_VARIABLE_VIEW */
} dome_wire_view;

typedef struct dome_wire_back {
    uint32_t number, rank; /* of the next view, and of the task in it */
    const char *plan;      /* view_plan.h */
    const char *avoid;     /* hosts that are down, separated by blanks */
    uint32_t keeps;        /* 1: with the state that the task carries from the view before */
} dome_wire_back;

typedef struct dome_wire_times {
    uint32_t number;                             /* of the view */
    uint64_t members, blocks, joining, preamble; /* ns: history.h */
} dome_wire_times;

typedef struct dome_wire_standby {
    uint32_t descriptor; /* rank 0: of a file with what they are started with */
    const char *text;    /* the hosts; the line of the process that starts them */
} dome_wire_standby;

typedef struct dome_wire_numbers {
    uint32_t inquiry; /* its number */
    GArray *numbers;  /* of uint32_t */
} dome_wire_numbers;

typedef enum dome_wire_shown_what {
    DOME_WIRE_SHOWN_BACK, /* it goes on from this boundary; the answer's loop is 1: it prints again what is in front of its loop
                           */
    DOME_WIRE_SHOWN_MADE, /* it has all objects with which it goes on */
    DOME_WIRE_SHOWN_PASS, /* it has passed its first loop boundary in this view */
    DOME_WIRE_SHOWN_MARK  /* it is saved at this boundary */
} dome_wire_shown_what;

typedef struct dome_wire_shown {
    uint32_t what; /* dome_wire_shown_what */
    uint64_t loop; /* the boundary */
} dome_wire_shown;

/* One operation of a call log (core/call_log.h). */
typedef struct dome_wire_call {
    uint64_t sequence, history;
    char *text, **arguments; /* arguments: names and values, alternating */
} dome_wire_call;

typedef struct dome_wire_message {
    dome_wire_kind kind;
    union {
        dome_wire_hello hello;
        dome_wire_beat beat;
        dome_wire_fail fail;
        uint32_t status; /* EXITING */
        dome_wire_end end;
        dome_wire_clock clock;
        dome_wire_trace_open trace_open;
        dome_wire_trace trace;
        dome_wire_started started;
        dome_wire_report report;
        uint32_t recording;        /* RECORD: its number; 0: stop */
        uint32_t signal;           /* SIGNAL: its number */
        const char *hosts;         /* HOSTS: names, separated by blanks */
        GArray *calls;             /* CALL_LOG: of dome_wire_call, newest first; NULL: none */
        dome_wire_hold hold;       /* HOLD, TARGET */
        uint64_t postponed;        /* POSTPONE: the order */
        dome_wire_refuse refuse;   /* REFUSE */
        dome_wire_change change;   /* CHANGE */
        dome_wire_view view;       /* STANDS */
        dome_wire_back back;       /* BACK */
        dome_wire_times times;     /* TIMES */
        const char *members;       /* MEMBERS: in order of ranks, separated by blanks */
        dome_wire_numbers numbers; /* WAITS, GIVEN */
        dome_wire_standby standby; /* STANDBY */
        dome_wire_shown shown;     /* SHOWN */
    };
} dome_wire_message;

/* A new array of dome_wire_call, which it owns. */
GArray *dome__wire_calls_new(void);

/* ---- frames ---- */

/* A message as a frame, g_byte_array_unref'd by the caller. Texts and call logs that are too long are truncated; a NULL text
 * becomes the empty one. */
GByteArray *dome__wire_frame(const dome_wire_message *message);

/* Sends a message. mac: of this direction; NULL: the connection has none. Returns false if the other side is gone or does not
 * receive it within the socket's timeout. */
bool dome__wire_send(int fd, dome_mac *mac, const dome_wire_message *message);

/* The same of frames, one behind the other. */
bool dome__wire_send_frames(int fd, dome_mac *mac, const GByteArray *frames);

/* Makes the frame of DOME_WIRE_SIGNAL and its code; async-signal-safe. */
enum { DOME_WIRE_SIGNAL_BYTES = 12 + DOME_MAC_BYTES };

void dome__wire_signal_frame(uint8_t frame[DOME_WIRE_SIGNAL_BYTES], dome_mac *mac, int number);

/* Removes the next frame from `in` and decodes it. Returns 1 with the message, to be cleared by the caller; 0 if the frame is
 * incomplete; -1 if it is not a message, and DOME_WIRE_ALTERED if its code is wrong: nothing more can be read then. */
enum { DOME_WIRE_ALTERED = -2 };

int dome__wire_next(GByteArray *in, dome_mac *mac, dome_wire_message *message);
void dome__wire_clear(dome_wire_message *message);

#endif
