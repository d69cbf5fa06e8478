#include "space/token.h"

#include "peer/peer.h"
#include "region/home_ask.h"
#include "region/lock_wait.h"
#include "system/bytes.h"
#include "system/thread.h"
#include "system/time.h"

#include <pthread.h>
#include <string.h>

/* Messages: a word, then
 *   ASK     the number up to which the task knows what was written
 *   GIVE    the same, the rank of the task that asks (4 bytes)
 *   PART    meetings of the sender; pairs of a unit's key and the number of the section in which it was written last
 *   TOKEN   the same, with the number of the last section before the pairs
 *   TOLD    nothing */
enum { ASK = 1, GIVE, PART, TOKEN, TOLD };
enum { HEAD = 17, PAIR = 16, MOST_PAIRS = 1 << 15, GIVE_MESSAGE = 13 };

struct dome_token {
    dome_env *env;
    dome_peer *peer;
    dome_release *release;
    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t news;   /* the token is here, or somebody has told */
    int last;              /* task 0: who has asked last */
    bool here, inside;
    int next;             /* who gets it from this task; -1: nobody has asked */
    uint64_t next_knows;  /* and up to which section it knows what was written */
    uint64_t section;     /* the last section in which something was written, as far as this task knows */
    uint64_t meetings;    /* so far: what was written before the last one is known to all */
    uint64_t told;        /* so often by others */
    bool *knows;          /* by rank: this task has told it since it has the token, so it comes for the token before it awaits */
    GHashTable *sections; /* gint64 * to gint64 *: by key of a unit that was written since, the last section */
    GArray *arrived;      /* uint64_t: keys that came with the token */
};

static void tell_task(const dome_token *t, int rank, const void *message, size_t bytes)
{
    dome__home_asked(dome__peer_tell(t->peer, rank, DOME_PEER_SPACE, message, (uint32_t)bytes), rank);
}

/* ---- the token; the mutex is held ---- */

static void note(dome_token *t, uint64_t key, uint64_t section)
{
    const gint64 name = (gint64)key, number = (gint64)section;
    gint64 *known = g_hash_table_lookup(t->sections, &name);
    if (known)
        *known = MAX(*known, number);
    else
        g_hash_table_insert(t->sections, g_memdup2(&name, sizeof name), g_memdup2(&number, sizeof number));
}

static void begin_message(const dome_token *t, GByteArray *message, uint8_t word)
{
    uint8_t head[HEAD] = {word};
    dome__put_u64(head + 1, t->meetings);
    dome__put_u64(head + 9, t->section);
    g_byte_array_set_size(message, 0);
    g_byte_array_append(message, head, HEAD);
}

static void send_token(dome_token *t, int rank, uint64_t knows)
{
    GByteArray *message = g_byte_array_new();
    GHashTableIter at;
    gpointer key, section;
    begin_message(t, message, TOKEN);
    g_hash_table_iter_init(&at, t->sections);
    while (g_hash_table_iter_next(&at, &key, &section)) {
        const uint64_t number = (uint64_t) * (const gint64 *)section;
        uint8_t pair[PAIR];
        if (number <= knows)
            continue;
        if (message->len >= HEAD + MOST_PAIRS * PAIR) {
            message->data[0] = PART;
            tell_task(t, rank, message->data, message->len);
            begin_message(t, message, TOKEN);
        }
        dome__put_u64(pair, (uint64_t) * (const gint64 *)key);
        dome__put_u64(pair + 8, number);
        g_byte_array_append(message, pair, PAIR);
    }
    t->here = false;
    memset(t->knows, 0, (size_t)t->env->size * sizeof *t->knows);
    tell_task(t, rank, message->data, message->len);
    g_byte_array_unref(message);
}

static void give(dome_token *t, int rank, uint64_t knows)
{
    if (t->here && !t->inside) {
        send_token(t, rank, knows);
        return;
    }
    t->next = rank;
    t->next_knows = knows;
}

/* At task 0. */
static void ask(dome_token *t, int rank, uint64_t knows)
{
    const int before = t->last;
    uint8_t message[GIVE_MESSAGE] = {GIVE};
    t->last = rank;
    if (before == t->env->rank) {
        give(t, rank, knows);
        return;
    }
    dome__put_u64(message + 1, knows);
    dome__put_u32(message + 9, (uint32_t)rank);
    tell_task(t, before, message, GIVE_MESSAGE);
}

/* What the sender has not yet dropped at a meeting that this task has behind it is known. */
static void take_pairs(dome_token *t, const uint8_t *message, size_t bytes)
{
    if (dome__get_u64(message + 1) == t->meetings)
        for (const uint8_t *at = message + HEAD; at + PAIR <= message + bytes; at += PAIR) {
            const uint64_t key = dome__get_u64(at);
            note(t, key, dome__get_u64(at + 8));
            g_array_append_val(t->arrived, key);
        }
    t->section = MAX(t->section, dome__get_u64(message + 9));
}

static void take_message(void *ctx, const dome_peer_request *q)
{
    dome_token *t = ctx;
    const uint8_t *bytes = q->data;
    const uint8_t word = q->bytes > 0 ? bytes[0] : 0;
    const uint32_t asks = word == GIVE && q->bytes == GIVE_MESSAGE ? dome__get_u32(bytes + 9) : UINT32_MAX;
    pthread_mutex_lock(&t->mutex);
    if (word == ASK && q->bytes == 9 && t->env->rank == 0)
        ask(t, q->from, dome__get_u64(bytes + 1));
    else if (asks < (uint32_t)t->env->size)
        give(t, (int)asks, dome__get_u64(bytes + 1));
    else if ((word == PART || word == TOKEN) && q->bytes >= HEAD)
        take_pairs(t, bytes, q->bytes);
    if (word == TOKEN && q->bytes >= HEAD)
        t->here = t->inside = true; /* it waits: nobody gets the token before it has been inside */
    if (word == TOLD)
        t->told++;
    if (word == TOKEN || word == TOLD)
        pthread_cond_signal(&t->news);
    pthread_mutex_unlock(&t->mutex);
}

/* ---- entering and leaving ---- */

/* Waits for news; the mutex is held. Now and then it serves others, and returns. */
static void wait_for_news(dome_token *t, dome_lock_wait *wait)
{
    const struct timespec until = dome__in_ns(wait->ns);
    if (pthread_cond_clockwait(&t->news, &t->mutex, CLOCK_MONOTONIC, &until) == 0)
        return;
    pthread_mutex_unlock(&t->mutex);
    dome__lock_wait_look(wait, -1, -1);
    pthread_mutex_lock(&t->mutex);
}

static int another(const dome_token *t)
{
    return t->env->rank == 0 ? 1 : 0;
}

static int fetch_token(dome_token *t)
{
    uint8_t message[9] = {ASK};
    dome__put_u64(message + 1, t->section);
    if (t->env->rank == 0)
        ask(t, 0, t->section);
    else
        tell_task(t, 0, message, sizeof message);
    dome_lock_wait wait = dome__lock_wait_begin(t->env->transport, another(t));
    while (!t->here)
        wait_for_news(t, &wait);
    return dome__lock_wait_end(&wait);
}

int dome__token_enter(dome_token *token)
{
    dome_token *t = token;
    int status = DOME_OK;
    pthread_mutex_lock(&t->mutex);
    if (t->here)
        t->inside = true;
    else
        status = fetch_token(t);
    pthread_mutex_unlock(&t->mutex);
    dome__release_forget(t->release, (const uint64_t *)(const void *)t->arrived->data,
                         t->arrived->len); /* nobody sends any while this task has the token */
    g_array_set_size(t->arrived, 0);
    return status;
}

static void note_written(void *ctx, uint64_t key)
{
    dome_token *t = ctx;
    pthread_mutex_lock(&t->mutex);
    note(t, key, t->section + 1);
    pthread_mutex_unlock(&t->mutex);
}

/* The mutex is held. */
static void tell_others(dome_token *t)
{
    const uint8_t word = TOLD;
    for (int rank = 0; rank < t->env->size; rank++) {
        if (rank != t->env->rank && !t->knows[rank])
            tell_task(t, rank, &word, 1);
        t->knows[rank] = true;
    }
}

void dome__token_leave(dome_token *token, bool tell)
{
    dome_token *t = token;
    dome__release_tell(t->release, note_written, t);
    pthread_mutex_lock(&t->mutex);
    t->section++;
    t->inside = false;
    if (tell)
        tell_others(t);
    if (t->next >= 0)
        send_token(t, t->next, t->next_knows);
    t->next = -1;
    pthread_mutex_unlock(&t->mutex);
}

void dome__token_met(dome_token *token)
{
    pthread_mutex_lock(&token->mutex);
    token->meetings++;
    g_hash_table_remove_all(token->sections);
    pthread_mutex_unlock(&token->mutex);
}

/* ---- waiting ---- */

uint64_t dome__token_told(dome_token *token)
{
    pthread_mutex_lock(&token->mutex);
    const uint64_t told = token->told;
    pthread_mutex_unlock(&token->mutex);
    return told;
}

int dome__token_await(dome_token *token, uint64_t seen)
{
    enum { LONGEST = 1000000000 };
    dome_token *t = token;
    const uint64_t start = dome__now_ns();
    pthread_mutex_lock(&t->mutex);
    dome_lock_wait wait = dome__lock_wait_begin(t->env->transport, another(t));
    while (t->told == seen && dome__since_ns(start) < LONGEST)
        wait_for_news(t, &wait);
    pthread_mutex_unlock(&t->mutex);
    return dome__lock_wait_end(&wait);
}

/* ---- beginning and end ---- */

dome_token *dome__token_new(dome_env *env, dome_release *release)
{
    dome_token *t = g_new0(dome_token, 1);
    t->env = env;
    t->peer = env->peer;
    t->release = release;
    t->here = env->rank == 0;
    t->next = -1;
    t->knows = g_new0(bool, env->size);
    t->sections = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    t->arrived = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    pthread_mutex_init(&t->mutex, NULL);
    dome__condition_init(&t->news);
    dome__peer_on(t->peer, DOME_PEER_SPACE, take_message, t);
    return t;
}

void dome__token_free(dome_token *token)
{
    if (!token)
        return;
    g_free(token->knows);
    g_hash_table_unref(token->sections);
    g_array_unref(token->arrived);
    pthread_cond_destroy(&token->news);
    pthread_mutex_destroy(&token->mutex);
    g_free(token);
}
