#include "peer/peer_start.h"

#include "system/entropy.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

/* What each task tells all others: the places where it listens, and a cookie; task 0's counts. */
enum { NEAR, FAR, PLACES };
enum { COOKIE_AT = PLACES * DOME_PEER_PLACE_BYTES, CARD_BYTES = COOKIE_AT + DOME_PEER_COOKIE };

typedef struct start {
    int listening[PLACES];
    dome_peer_place place[PLACES], first; /* first: task 0's host, as this task reaches it */
    uint8_t card[CARD_BYTES], *cards;     /* cards: by rank */
    char *message;
} start;

static void fails(start *s, const char *what, const char *step)
{
    if (!s->message)
        s->message = g_strdup_printf("the connections for %s cannot be made: %s: %s", what, step, strerror(errno));
}

/* A program whose tasks are on one host listens to that host alone. Without local names all connections are TCP. */
static void listen_at(start *s, const dome_env *env, const char *what)
{
    s->place[FAR] = dome__peer_place_here(dome__on_one_host(env));
    s->listening[NEAR] = dome__peer_place_listen_near(&s->place[NEAR]);
    s->listening[FAR] = dome__peer_place_listen(&s->place[FAR]);
    if (s->listening[FAR] < 0 || !dome__random(s->card + COOKIE_AT, DOME_PEER_COOKIE))
        fails(s, what, "listening");
}

/* The address under which others reach this task is the one from which it reaches task 0. */
static void find_own_address(start *s, const dome_env *env)
{
    struct sockaddr_in first;
    if (env->rank == 0 || dome__on_one_host(env) || s->message)
        return;
    if (!env->hooks->first_address(env, &first)) {
        s->message = g_strdup("the address of task 0 is not known");
        return;
    }
    memcpy(&s->first.address, &first, s->first.length = sizeof first);
    if (!dome__peer_place_seen_from(&s->first, &s->place[FAR]))
        s->message = g_strdup("the address of this task is not known");
}

static int exchange(start *s, dome_env *env)
{
    for (int k = 0; k < PLACES; k++)
        dome__peer_place_put(s->card + k * DOME_PEER_PLACE_BYTES, &s->place[k]);
    s->cards = g_malloc((gsize)env->size * CARD_BYTES);
    const int status = dome__allgather(env->transport, DOME_U8, s->card, CARD_BYTES, s->cards);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

/* Tasks of task 0's host may not know its address: they reach task 0, or themselves, without it. The others know it. */
static void put_first_host(const start *s, dome_peer_place *far)
{
    const uint16_t port = dome__peer_place_port(far);
    if (!s->first.length || !dome__peer_place_is_here(far))
        return;
    *far = s->first;
    dome__peer_place_set_port(far, port);
}

/* A local name of another host means nothing here. */
static dome_peer_place *places_of_all(const start *s, const dome_env *env)
{
    dome_peer_place *all = g_new0(dome_peer_place, PLACES * (gsize)env->size);
    for (int r = 0; r < env->size; r++) {
        const uint8_t *card = s->cards + (size_t)r * CARD_BYTES;
        dome_peer_place *place = all + (size_t)r * PLACES;
        if (strcmp(env->hosts[r], env->hosts[env->rank]) == 0)
            dome__peer_place_get(card, &place[NEAR]);
        dome__peer_place_get(card + DOME_PEER_PLACE_BYTES, &place[FAR]);
        put_first_host(s, &place[FAR]);
    }
    return all;
}

static void begin(start *s, dome_env *env, const char *what)
{
    dome_peer_place *places = places_of_all(s, env);
    dome_peer_setup setup = {.rank = env->rank,
                             .size = env->size,
                             .purpose = "dome peer",
                             .listening = {s->listening[NEAR], s->listening[FAR]},
                             .places = places,
                             .patience = env->options.timeout,
                             .transport = env->transport};
    memcpy(setup.cookie, s->cards + COOKIE_AT, sizeof setup.cookie);
    s->listening[NEAR] = s->listening[FAR] = -1;
    env->peer = dome__peer_new(&setup);
    if (!env->peer)
        fails(s, what, "a thread");
    g_free(places);
}

int dome__peer_start(dome_env *env, const char *what)
{
    start s = {.listening = {-1, -1}};
    if (env->peer || env->size == 1)
        return DOME_OK;
    listen_at(&s, env, what);
    find_own_address(&s, env);
    int status = dome__agree(env, s.message ? DOME_ERR_START : DOME_OK, s.message);
    if (status == DOME_OK)
        status = exchange(&s, env);
    if (status == DOME_OK) {
        begin(&s, env, what);
        status = dome__agree(env, s.message ? DOME_ERR_START : DOME_OK, s.message);
    }
    for (int k = 0; k < PLACES; k++)
        if (s.listening[k] >= 0)
            close(s.listening[k]);
    g_free(s.cards);
    g_free(s.message);
    return status;
}

void dome__peer_stop(dome_env *env)
{
    dome__peer_free(g_steal_pointer(&env->peer));
}
