/* Messages of the program: requests to receive, in the order in which they began, and messages that no request fits yet. */
#ifndef DOME_SRC_COMM_COMM_MESSAGES_H
#define DOME_SRC_COMM_COMM_MESSAGES_H

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
};

/* The environment's; made when it is first needed. */
dome_comm *dome__comm(dome_env *env);

/* Takes the next message from another task, waiting for it if need be: into the first request that it fits, or a stored one. now:
 * as for dome__message_head. */
int dome__comm_take(dome_env *env, int rank, uint64_t now);

/* Stores a message, with room for so many bytes of data. */
stored *dome__comm_store(dome_env *env, int rank, const dome_message *message, uint64_t bytes);

/* "f64"; for a struct, whose type this task need not know, "a struct". */
const char *dome__message_type_name(dome_type_kind kind);

#endif
