#include "space/token.h"

#include "peer/peer.h"
#include "region/home_ask.h"
#include "region/lock_wait.h"
#include "system/bytes.h"
#include "system/thread.h"
#include "system/time.h"

#include <pthread.h>

/* Messages: a word, meetings of the sender, then
 *   ASK     the number up to which the task knows what was written
 *   GIVE    the same, the rank of the task that asks (4 bytes)
 *   PART    the number of the last section; pairs of a unit's key and the number of the section in which it was written last.
 *           Between two tasks: what has changed (region/release.h)
 *   TOKEN   the same
 *   TOLD    nothing
 * All meetings bring the token back to task 0, without a message. What was sent before the last one counts no more; what is sent
 * behind one that this task has not left yet waits. */
enum { ASK = 1, GIVE, PART, TOKEN, TOLD };
enum { WORD = 9, HEAD = WORD + 8, PAIR = 16, MOST_PAIRS = 1 << 15, MOST_BYTES = 1 << 19, GIVE_MESSAGE = HEAD + 4 };

/* Of two tasks: more changes than this do not go with the token. */
enum { MOST_TOLD = 8 << 20 };

struct dome_token {
    dome_env *env;
    dome_peer *peer;
    dome_release *release;
    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t news;   /* the token is here, or somebody has told */
    int last;              /* task 0: who has asked last */
    bool here, inside, asking;
    int next;             /* who gets it from this task; -1: nobody has asked */
    uint64_t next_knows;  /* and up to which section it knows what was written */
    uint64_t section;     /* the last section in which something was written, as far as this task knows */
    uint64_t meetings;    /* so far: what was written before the last one is known to all */
    uint64_t told;        /* so often by others */
    GHashTable *sections; /* gint64 * to gint64 *: by key of a unit that was written since, the last section */
    GArray *arrived;      /* uint64_t: keys that came with the token */
    GByteArray *heard;    /* of two: what has come so far of what the other one tells */
    GPtrArray *early;     /* early_message */
};

/* One from behind a meeting that this task has not left yet. */
typedef struct early_message {
    GBytes *bytes;
    int from;
} early_message;

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

static bool two(const dome_token *t)
{
    return t->env->size == 2;
}

/* To the other one of two: what this task has changed. */
static void send_changes(dome_token *t, int rank)
{
    GByteArray *message = g_byte_array_new(), *told = g_byte_array_new();
    dome__release_tell_other(t->release, told);
    for (guint at = 0, some; at < told->len; at += some) {
        some = MIN(told->len - at, MOST_BYTES);
        begin_message(t, message, at + some < told->len ? PART : TOKEN);
        g_byte_array_append(message, told->data + at, some);
        tell_task(t, rank, message->data, message->len);
    }
    g_byte_array_unref(message);
    g_byte_array_unref(told);
}

/* To one of several: the units that it does not know to be written. */
static void send_pairs(dome_token *t, int rank, uint64_t knows)
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
    tell_task(t, rank, message->data, message->len);
    g_byte_array_unref(message);
}

static void send_token(dome_token *t, int rank, uint64_t knows)
{
    t->here = false;
    if (two(t))
        send_changes(t, rank);
    else
        send_pairs(t, rank, knows);
}

/* In the channel's thread, which cannot wait until homes have what is too much for the token: the program's thread gives it. */
static void give(dome_token *t, int rank, uint64_t knows)
{
    if (two(t) && (!t->here || rank == t->env->rank))
        return; /* it was sent unasked, meanwhile */
    if (t->here && !t->inside && !(two(t) && dome__release_unsent(t->release) > MOST_TOLD)) {
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
    dome__put_u64(message + 1, t->meetings);
    dome__put_u64(message + WORD, knows);
    dome__put_u32(message + HEAD, (uint32_t)rank);
    tell_task(t, before, message, GIVE_MESSAGE);
}

static void take_changes(dome_token *t, const uint8_t *message, size_t bytes)
{
    g_byte_array_append(t->heard, message + HEAD, (guint)(bytes - HEAD));
    if (message[0] != TOKEN)
        return;
    t->told += t->heard->len > 1; /* even if it was asked for: threads may have looked before it came */
    dome__release_hear(t->release, t->heard->data, t->heard->len);
    g_byte_array_set_size(t->heard, 0);
}

static void take_pairs(dome_token *t, const uint8_t *message, size_t bytes)
{
    t->told += bytes > HEAD; /* as above */
    for (const uint8_t *at = message + HEAD; at + PAIR <= message + bytes; at += PAIR) {
        const uint64_t key = dome__get_u64(at);
        note(t, key, dome__get_u64(at + 8));
        g_array_append_val(t->arrived, key);
    }
    t->section = MAX(t->section, dome__get_u64(message + WORD));
}

/* If nobody waits for the token, it tells that there is something new. */
static void take_token(dome_token *t)
{
    t->here = true;
    t->inside = t->asking; /* it waits: nobody gets the token before it has been inside */
    t->told += !t->asking;
    if (t->env->rank == 0 && two(t))
        t->last = 0;
}

/* The mutex is held. */
static void take(dome_token *t, const uint8_t *bytes, size_t count, int from)
{
    const uint8_t word = bytes[0];
    const uint32_t asks = word == GIVE && count == GIVE_MESSAGE ? dome__get_u32(bytes + HEAD) : UINT32_MAX;
    const bool late = dome__get_u64(bytes + 1) < t->meetings;
    if (word == TOLD)
        t->told++;
    if ((word == PART || word == TOKEN) && count >= HEAD && two(t))
        take_changes(t, bytes, count);
    if (late)
        return;
    if (word == ASK && count == HEAD && t->env->rank == 0)
        ask(t, from, dome__get_u64(bytes + WORD));
    else if (asks < (uint32_t)t->env->size)
        give(t, (int)asks, dome__get_u64(bytes + WORD));
    else if ((word == PART || word == TOKEN) && count >= HEAD && !two(t))
        take_pairs(t, bytes, count);
    if (word == TOKEN && count >= HEAD)
        take_token(t);
}

static void take_message(void *ctx, const dome_peer_request *q)
{
    dome_token *t = ctx;
    const uint8_t *bytes = q->data;
    if (q->bytes < WORD)
        return;
    pthread_mutex_lock(&t->mutex);
    if (dome__get_u64(bytes + 1) > t->meetings) {
        early_message *e = g_new(early_message, 1);
        *e = (early_message){g_bytes_new(bytes, q->bytes), q->from};
        g_ptr_array_add(t->early, e);
    } else {
        take(t, bytes, q->bytes, q->from);
        pthread_cond_signal(&t->news);
    }
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
    uint8_t message[HEAD] = {ASK};
    dome__put_u64(message + 1, t->meetings);
    dome__put_u64(message + WORD, t->section);
    t->asking = true;
    if (t->env->rank == 0)
        ask(t, 0, t->section);
    else
        tell_task(t, 0, message, sizeof message);
    dome_lock_wait wait = dome__lock_wait_begin(t->env->transport, another(t));
    while (!t->here)
        wait_for_news(t, &wait);
    t->asking = false;
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
    if (two(t)) {
        dome__release_listen(t->release);
        return status;
    }
    dome__release_forget(t->release, (const uint64_t *)(const void *)t->arrived->data,
                         t->arrived->len); /* nobody sends any while this task has the token */
    g_array_set_size(t->arrived, 0);
    return status;
}

typedef struct leaving {
    dome_token *token;
    bool any; /* something was written */
} leaving;

static void note_written(void *ctx, uint64_t key)
{
    leaving *l = ctx;
    pthread_mutex_lock(&l->token->mutex);
    note(l->token, key, l->token->section + 1);
    pthread_mutex_unlock(&l->token->mutex);
    l->any = true;
}

static void leave(dome_token *t)
{
    pthread_mutex_lock(&t->mutex);
    t->section++;
    t->inside = false;
    if (t->next >= 0)
        send_token(t, t->next, t->next_knows);
    t->next = -1;
    pthread_mutex_unlock(&t->mutex);
}

/* Of two tasks. Who is told gets the token, and so what there is to tell. */
static void leave_to_other(dome_token *t, const dome_space_telling *telling)
{
    const int other = another(t);
    const bool watches = telling->whom && telling->whom[other];
    const bool tells = telling->next == other || (watches && (!telling->if_written || dome__release_has_changed(t->release)));
    pthread_mutex_lock(&t->mutex);
    if (tells && t->next < 0) {
        t->next = other;
        t->last = other;
    }
    const bool much = t->next >= 0 && dome__release_unsent(t->release) > MOST_TOLD;
    pthread_mutex_unlock(&t->mutex);
    if (much)
        dome__release_send(t->release);
    leave(t);
}

void dome__token_leave(dome_token *token, const dome_space_telling *telling)
{
    dome_token *t = token;
    uint8_t word[WORD] = {TOLD};
    leaving l = {t, false};
    if (two(t)) {
        leave_to_other(t, telling);
        return;
    }
    uint8_t *whom = telling->whom ? g_memdup2(telling->whom, (gsize)t->env->size) : g_malloc0((gsize)t->env->size);
    dome__release_tell(t->release, note_written, &l);
    for (int rank = 0; rank < t->env->size; rank++)
        whom[rank] = rank != t->env->rank && (rank == telling->next || (whom[rank] && (l.any || !telling->if_written)));
    leave(t);
    dome__put_u64(word + 1, t->meetings);
    for (int rank = 0; rank < t->env->size; rank++)
        if (whom[rank])
            tell_task(t, rank, word, WORD);
    g_free(whom);
}

static void take_early(dome_token *t)
{
    GPtrArray *early = t->early;
    t->early = g_ptr_array_new();
    for (guint k = 0; k < early->len; k++) {
        early_message *e = early->pdata[k];
        gsize count;
        const uint8_t *bytes = g_bytes_get_data(e->bytes, &count);
        take(t, bytes, count, e->from);
        g_bytes_unref(e->bytes);
        g_free(e);
    }
    g_ptr_array_unref(early);
}

/* Whether the other one of two waits for the token, which has too much with it for the channel's thread. */
static bool other_waits(const dome_token *t)
{
    return two(t) && t->here && !t->inside && t->next >= 0;
}

/* The mutex is held, but for the time of sending. */
static void give_late(dome_token *t)
{
    pthread_mutex_unlock(&t->mutex);
    dome__release_send(t->release);
    leave(t);
    pthread_mutex_lock(&t->mutex);
}

void dome__token_meeting(dome_token *token)
{
    dome_token *t = token;
    pthread_mutex_lock(&t->mutex);
    if (other_waits(t))
        give_late(t);
    pthread_mutex_unlock(&t->mutex);
}

void dome__token_met(dome_token *token)
{
    dome_token *t = token;
    pthread_mutex_lock(&t->mutex);
    t->meetings++;
    g_hash_table_remove_all(t->sections);
    g_array_set_size(t->arrived, 0);
    t->section = 0;
    t->here = t->env->rank == 0;
    t->inside = false;
    t->next = -1;
    t->last = 0;
    take_early(t);
    pthread_mutex_unlock(&t->mutex);
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
        if (other_waits(t))
            give_late(t);
        else
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
    t->sections = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    t->arrived = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    t->heard = g_byte_array_new();
    t->early = g_ptr_array_new();
    pthread_mutex_init(&t->mutex, NULL);
    dome__condition_init(&t->news);
    dome__peer_on(t->peer, DOME_PEER_SPACE, take_message, t);
    return t;
}

void dome__token_free(dome_token *token)
{
    if (!token)
        return;
    g_hash_table_unref(token->sections);
    g_array_unref(token->arrived);
    g_byte_array_unref(token->heard);
    g_ptr_array_unref(token->early);
    pthread_cond_destroy(&token->news);
    pthread_mutex_destroy(&token->mutex);
    g_free(token);
}
