/* The life of a task as the hub sees it, by one of its connections: a state, and a table of state, event and next state. It knows
 * neither connections nor time.
 *
 *     NEW         connected, and has not said which task it is
 *     RUNS        it has greeted. The end of its process would be a loss
 *     DONE        it has done all of dome_finalize but wait for the others: its end is no loss, if they come as far
 *     LEFT        dome_finalize has ended; the process may continue
 *     FAILED      it has told of a failure
 *     AWAY        between two views (view.h): its process becomes the program anew, and comes back by another connection. A word
 *                 that it said before stays known: AWAY_DONE, AWAY_LEFT, AWAY_FAILED. A task may announce a change before the hub
 *                 can know whether it takes part in what follows, so even one that has left may be away for a while
 *     REPLACED    another connection, or another process, has taken its place: nothing is expected of it any more
 *
 *     NEW --HELLO--> RUNS --DONE--> DONE --BYE--> LEFT        RUNS --GOES or BACK--> AWAY --REPLACE--> REPLACED
 *                    RUNS --FAIL--> FAILED
 */
#ifndef DOME_SRC_CLIENT_STATE_H
#define DOME_SRC_CLIENT_STATE_H

#include <stdbool.h>

typedef enum dome_client_state {
    DOME_CLIENT_NEW,
    DOME_CLIENT_RUNS,
    DOME_CLIENT_DONE,
    DOME_CLIENT_LEFT,
    DOME_CLIENT_FAILED,
    DOME_CLIENT_AWAY,
    DOME_CLIENT_AWAY_DONE,
    DOME_CLIENT_AWAY_LEFT,
    DOME_CLIENT_AWAY_FAILED,
    DOME_CLIENT_REPLACED,
    DOME_CLIENT_STATES
} dome_client_state;

typedef enum dome_client_event {
    DOME_CLIENT_HELLO,   /* it says which task it is */
    DOME_CLIENT_ASTRAY,  /* the same, from a view that was interrupted: it has to go back */
    DOME_CLIENT_IS_DONE, /* DOME_WIRE_DONE */
    DOME_CLIENT_BYE,     /* DOME_WIRE_BYE, or all others are done as well */
    DOME_CLIENT_FAIL,    /* DOME_WIRE_FAIL */
    DOME_CLIENT_GOES,    /* it announces a change, and comes back */
    DOME_CLIENT_STAYS,   /* it announces a change, and does not come back */
    DOME_CLIENT_BACK,    /* the hub tells it to go back, after a loss: its earlier messages no longer count */
    DOME_CLIENT_REPLACE, /* another one takes its place, or the program goes on without it */
    DOME_CLIENT_END,     /* its process has ended while others are not done, so it has not finished */
    DOME_CLIENT_EVENTS
} dome_client_event;

/* The next state. An event that cannot be in a state leaves it. */
dome_client_state dome__client_next(dome_client_state state, dome_client_event event);

static inline bool dome__client_has_greeted(dome_client_state state)
{
    return state != DOME_CLIENT_NEW;
}

static inline bool dome__client_is_away(dome_client_state state)
{
    return state >= DOME_CLIENT_AWAY && state <= DOME_CLIENT_AWAY_FAILED;
}

static inline bool dome__client_is_done(dome_client_state state)
{
    return state == DOME_CLIENT_DONE || state == DOME_CLIENT_AWAY_DONE;
}

/* It takes no part in the program any more. */
static inline bool dome__client_has_left(dome_client_state state)
{
    return state == DOME_CLIENT_LEFT || state == DOME_CLIENT_AWAY_LEFT || state == DOME_CLIENT_REPLACED;
}

static inline bool dome__client_has_failed(dome_client_state state)
{
    return state == DOME_CLIENT_FAILED || state == DOME_CLIENT_AWAY_FAILED;
}

/* Its end would be no loss, whatever the others do. */
static inline bool dome__client_may_end(dome_client_state state)
{
    return dome__client_has_left(state) || dome__client_has_failed(state);
}

#endif
