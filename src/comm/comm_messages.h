/* Messages of the program: requests to receive, in the order in which they began, and messages that no request fits yet. */
#ifndef DOME_SRC_COMM_COMM_MESSAGES_H
#define DOME_SRC_COMM_COMM_MESSAGES_H

#include "comm/message_log.h"
#include "core/environment.h"
#include "transport/message.h"

#include <dome/comm.h>

typedef enum request_state { REQUEST_RECEIVES, REQUEST_SENDS, REQUEST_DONE, REQUEST_ENDED } request_state;

struct dome_request {
    dome_env *env;
    request_state state;
    bool to_send;
    int rank, tag; /* to receive: may be DOME_ANY_RANK, DOME_ANY_TAG */
    dome_type type;
    uint64_t hash; /* of the type */
    void *data;
    uint64_t count;
    dome_received got;
    dome_status status; /* when done */
    char *text;         /* of a failure */
    GList link;         /* in a list of the comm */
};

/* A message that has arrived and that no request has taken. */
typedef struct stored {
    int rank;
    dome_message message;
    void *data; /* in the form in which it travelled */
    GList link;
} stored;

/* A message that has been sent, for the report on messages that nobody receives. */
typedef struct sent {
    int tag;
    dome_type_kind kind;
    uint64_t count;
} sent;

struct dome_comm {
    GQueue receives; /* requests that wait for a message, oldest first */
    GQueue done;     /* the other requests that have not been waited for */
    GQueue ended;    /* the last requests that have been: their memory is used again late, so that a second wait is found */
    GQueue stored;   /* messages, in the order of arrival */
    uint64_t *sent_to, *taken_from; /* by rank */
    sent *last_to;                  /* by rank: the last of them; of no other task does anybody know before it is taken */
    int *others;                    /* all other ranks */
    dome_type type;                 /* of the last message, */
    uint64_t hash;                  /* and its hash */
    dome_message_log *log;          /* with --dome-checkpoint-protocol log; sent_to and taken_from are its */
    stored *half;                   /* whose data is being received */
    int (*leave)(dome_env *env);    /* with a log: goes over into another view, in which the program goes on here */
    uint64_t looked;                /* bytes in the log when this task last looked for what others say of it */
    uint64_t taken_bytes;           /* of other tasks' messages, since this task's checkpoint: they keep so many for it */
};

/* The environment's; made when it is first needed. */
dome_comm *dome__comm(dome_env *env);

/* Takes the next message from another task, waiting for it if need be: into the first request that it fits, or a stored one. now:
 * as for dome__message_head. */
int dome__comm_take(dome_env *env, int rank, uint64_t now);

/* Waits until a request to receive is done; it is in no list before and afterwards. now: the time; 0: not known. */
int dome__comm_receive(dome_env *env, dome_request *request, uint64_t now);

/* The wait has been left (dome__transport_leave_to): the request is as it was before. */
void dome__comm_left(dome_env *env, dome_request *request);

/* Sends to this task itself: into the oldest request that wants the message, or the store. */
void dome__comm_send_to_self(dome_env *env, const dome_request *request);

/* Takes in all messages that have arrived. */
int dome__comm_take_arrived(dome_env *env);

/* ---- with --dome-checkpoint-protocol log: logged.c. They return a status of the transport ---- */

int dome__logged_send(dome_env *env, const dome_message_out *message);
int dome__logged_receive(dome_env *env, dome_request *request);

/* Waits for the next message of another task in such a way that this task can leave the view. */
void dome__logged_await(dome_env *env, int rank);

/* What another task says by a message with a tag below 0, whose head has come. */
int dome__logged_hear(dome_env *env, int rank, const dome_message *message);

/* Stores a message, with room for so many bytes of data. */
stored *dome__comm_store(dome_env *env, int rank, const dome_message *message, uint64_t bytes);

/* "f64"; for a struct, whose type this task need not know, "a struct". */
const char *dome__message_type_name(dome_type_kind kind);

#endif
