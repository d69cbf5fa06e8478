#include "space/token.h"

#include "core/clock.h"
#include "peer/peer.h"
#include "peer/peer_need.h"
#include "region/lock_wait.h"
#include "sections/section_queue.h"
#include "space/mail.h"
#include "system/bytes.h"
#include "system/thread.h"
#include "system/time.h"

#include <pthread.h>

/* Messages: a word, meetings of the sender, then
 *   ASK     the number of the request, the last section that the task has
 *   TOKEN   served and knows of the queue for each task (8 bytes), the last section, the sections that the receiver has not
 *           (region/release.h); nothing if they are too many: it asks for them
 *   TOLD    nothing
 *   LOOK    there is mail (mail.h), which is taken before any message
 *   WANT    nothing: the sender is about to sleep, and the receiver defers news; it publishes them, and tells the sender
 * Tasks of one host put short messages into the mail. The channel then calls a task that sleeps, or one that must do something
 * whatever it does now. The order of messages by the two roads does not matter: requests have numbers, there is one token, and
 * who is told only looks again.
 * All meetings bring the token back to task 0, without a message. What was sent before the last one counts no more; what is sent
 * behind one that this task has not left yet waits. */
enum { ASK = 1, TOKEN, TOLD, LOOK, WANT };
enum { WORD = 9, ASK_MESSAGE = WORD + 16, SECTION = 8, MOST_BYTES = 1 << 19 };

struct dome_token {
    dome_env *env;
    dome_peer *peer;
    dome_release *release;
    dome_mail *mail;
    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t news;   /* the token is here, or somebody has told */
    dome_section_queue queue;
    bool here, inside;
    bool asking;       /* the owner waits for it */
    bool requested;    /* all know that this task wants it */
    bool stopped;      /* no thread writes: the owner waits here, or for a meeting */
    bool owes;         /* the owner has left a section, and nothing has been published since */
    bool untold;       /* something has been published that those who watch have not been told of */
    bool settles;      /* another task waits until this one publishes */
    int wanted_by;     /* the task that is told then; -1: none */
    bool defers;       /* this task has news that it does not send yet */
    int uncalled;      /* the task that has got the token by mail and may not know yet; -1: none */
    uint64_t meetings; /* so far: what was written before the last one is known to all */
    uint64_t meets;    /* the release's then, which is ahead of this for a moment: a message of before may come meanwhile */
    uint64_t told;     /* so often by others */
    GPtrArray *early;  /* early_message */
};

/* One from behind a meeting that this task has not left yet. */
typedef struct early_message {
    GBytes *bytes;
    int from;
} early_message;

/* ---- telling others; the mutex is held ---- */

static void begin_message(const dome_token *t, uint8_t *message, uint8_t word)
{
    message[0] = word;
    dome__put_u64(message + 1, t->meetings);
}

static void send_message(const dome_token *t, int rank, const void *message, size_t bytes)
{
    dome__peer_needed(dome__peer_tell(t->peer, rank, DOME_PEER_SPACE, message, (uint32_t)bytes), rank);
}

static void call_task(const dome_token *t, int rank)
{
    uint8_t word[WORD];
    begin_message(t, word, LOOK);
    send_message(t, rank, word, WORD);
}

/* soon: the task is to get it even if it is busy. Whether it does not look for it. */
static bool tell_task(const dome_token *t, int rank, const void *message, size_t bytes, bool soon)
{
    const dome_mail_state state = dome__mail_put(t->mail, rank, message, bytes);
    if (state == DOME_MAIL_REFUSED)
        send_message(t, rank, message, bytes);
    else if (state == DOME_MAIL_SLEEPS || (state == DOME_MAIL_BUSY && soon))
        call_task(t, rank);
    return state == DOME_MAIL_BUSY && !soon;
}

/* ---- the token; the mutex is held ---- */

static void publish(dome_token *t, bool runs)
{
    uint8_t word[WORD];
    t->untold |= dome__release_publish_section(t->release, runs);
    t->owes = t->settles = false;
    if (t->wanted_by >= 0) {
        begin_message(t, word, TOLD);
        tell_task(t, t->wanted_by, word, WORD, true);
        t->wanted_by = -1;
    }
}

static void end_deferring(dome_token *t)
{
    if (t->defers)
        dome__mail_deferred(t->mail);
    t->defers = false;
}

/* runs: this task's threads may write meanwhile. A task that has not asked, and for which nobody else waits, need not know before
 * it looks. */
static void give(dome_token *t, int rank, bool runs)
{
    const size_t size = (size_t)t->env->size, head = WORD + size * 16 + SECTION;
    const bool soon = dome__section_queue_next(&t->queue) >= 0;
    if (t->owes)
        publish(t, runs);
    dome__release_merge(t->release, dome__section_queue_all_know(&t->queue)); /* the receiver has not got it yet */
    GByteArray *message = g_byte_array_new();
    g_byte_array_set_size(message, (guint)head);
    begin_message(t, message->data, TOKEN);
    const uint64_t section = dome__release_section(t->release), knows = t->queue.knows[rank];
    t->queue.knows[rank] = t->queue.knows[t->env->rank] = section;
    for (size_t k = 0; k < size; k++) {
        dome__put_u64(message->data + WORD + k * 16, t->queue.served[k]);
        dome__put_u64(message->data + WORD + k * 16 + 8, t->queue.knows[k]);
    }
    dome__put_u64(message->data + head - SECTION, section);
    if (section > knows)
        dome__release_sections_since(t->release, knows, MOST_BYTES, message);
    t->here = false;
    t->uncalled = tell_task(t, rank, message->data, message->len, soon) ? rank : -1;
    g_byte_array_unref(message);
}

/* In the channel's thread. */
static void give_on(dome_token *t)
{
    const int next = t->here && !t->inside ? dome__section_queue_next(&t->queue) : -1;
    if (next >= 0)
        give(t, next, !t->stopped);
}

static void request(dome_token *t)
{
    uint8_t message[ASK_MESSAGE];
    if (t->requested)
        return;
    t->requested = true;
    begin_message(t, message, ASK);
    dome__put_u64(message + WORD, dome__section_queue_ask(&t->queue));
    dome__put_u64(message + WORD + 8, dome__release_section(t->release));
    for (int rank = 0; rank < t->env->size; rank++)
        if (rank != t->env->rank)
            tell_task(t, rank, message, sizeof message, true);
}

/* The token is here, and all that it carries. If nobody waits for it, it tells that there is something new. */
static void arrive(dome_token *t)
{
    dome__section_queue_got(&t->queue);
    t->here = true;
    t->requested = false;
    t->inside = t->asking; /* it waits: nobody gets the token before it has been inside */
    if (t->settles && !t->inside)
        publish(t, !t->stopped);
    give_on(t);
    pthread_cond_signal(&t->news);
}

typedef struct pulling {
    dome_token *token;
    uint64_t meetings;
} pulling;

/* In the channel's thread. */
static void pulled(void *ctx)
{
    pulling *p = ctx;
    pthread_mutex_lock(&p->token->mutex);
    if (p->meetings == p->token->meetings)
        arrive(p->token);
    pthread_mutex_unlock(&p->token->mutex);
    g_free(p);
}

static void take_token(dome_token *t, const uint8_t *message, size_t bytes, int from)
{
    const size_t size = (size_t)t->env->size, head = WORD + size * 16 + SECTION;
    if (bytes < head)
        return;
    for (size_t k = 0; k < size; k++) {
        t->queue.served[k] = dome__get_u64(message + WORD + k * 16);
        t->queue.knows[k] = dome__get_u64(message + WORD + k * 16 + 8);
    }
    const uint64_t before = dome__release_section(t->release), section = dome__get_u64(message + head - SECTION);
    if (bytes > head)
        dome__release_hear(t->release, message + head, bytes - head);
    t->told += !t->asking || section > before; /* even if it was asked for: threads may have looked before it came */
    if (dome__release_section(t->release) >= section) {
        arrive(t);
        return;
    }
    pulling *p = g_new(pulling, 1);
    *p = (pulling){t, t->meetings};
    dome__release_pull(t->release, from, t->meets, pulled, p);
}

/* Another task waits until this one publishes. The mutex is held. */
static void settle_now(dome_token *t)
{
    t->settles = true;
    if (t->here && !t->inside)
        publish(t, !t->stopped);
    else if (!t->here)
        request(t);
}

/* The mutex is held. */
static void take(dome_token *t, const uint8_t *bytes, size_t count, int from)
{
    if (dome__get_u64(bytes + 1) < t->meetings)
        return;
    if (bytes[0] == TOLD)
        t->told++;
    if (bytes[0] == TOKEN)
        take_token(t, bytes, count, from);
    if (bytes[0] == WANT) {
        end_deferring(t);
        t->wanted_by = from;
        settle_now(t);
    }
    if (bytes[0] != ASK || count != ASK_MESSAGE)
        return;
    dome__section_queue_asked(&t->queue, from, dome__get_u64(bytes + WORD));
    if (t->here)
        t->queue.knows[from] = MAX(t->queue.knows[from], dome__get_u64(bytes + WORD + 8));
    else if (t->uncalled >= 0)
        call_task(t, t->uncalled);
    t->uncalled = -1;
    give_on(t);
}

/* The mutex is held. */
static void take_or_keep(void *ctx, int from, const void *message, size_t count)
{
    dome_token *t = ctx;
    const uint8_t *bytes = message;
    if (count < WORD)
        return;
    if (dome__get_u64(bytes + 1) <= t->meetings) {
        take(t, bytes, count, from);
        return;
    }
    early_message *e = g_new(early_message, 1);
    *e = (early_message){g_bytes_new(bytes, count), from};
    g_ptr_array_add(t->early, e);
}

/* The mutex is held. */
static void take_mail(dome_token *t)
{
    dome__mail_take(t->mail, take_or_keep, t);
}

static void take_message(void *ctx, const dome_peer_request *q)
{
    dome_token *t = ctx;
    pthread_mutex_lock(&t->mutex);
    take_mail(t);
    take_or_keep(t, q->from, q->data, q->bytes);
    pthread_cond_signal(&t->news);
    pthread_mutex_unlock(&t->mutex);
}

/* ---- entering and leaving ---- */

/* A task looks so often before it sleeps: the token mostly goes on within microseconds, in which a sleeping processor wakes. Not
 * if others use the processor for so long meanwhile. */
enum { LOOKS = 64, CROWDED_NS = 100000, TURNS = 50 };

/* For about a microsecond. */
static bool mail_comes(const dome_token *t)
{
    for (int k = 0; k < TURNS; k++) {
        if (dome__mail_waits(t->mail))
            return true;
        dome__thread_relax();
    }
    return false;
}

/* The mutex is held. */
static void yield_once(dome_token *t, unsigned *looks)
{
    const uint64_t told = t->told;
    pthread_mutex_unlock(&t->mutex);
    const uint64_t ns = mail_comes(t) ? 0 : dome__yield();
    pthread_mutex_lock(&t->mutex);
    take_mail(t);
    dome__yielded(ns, t->here || t->told != told);
    *looks = ns < CROWDED_NS ? *looks + 1 : LOOKS;
}

static void want_news(const dome_token *t, int deferrer)
{
    uint8_t word[WORD];
    begin_message(t, word, WANT);
    send_message(t, deferrer, word, WORD);
}

/* Waits for news; the mutex is held. Now and then it serves others, and returns. looks: so far. */
static void wait_for_news(dome_token *t, dome_lock_wait *wait, unsigned *looks)
{
    dome__mail_watch(t->mail, *looks < LOOKS ? DOME_MAIL_LOOKS : DOME_MAIL_SLEEPS);
    if (*looks < LOOKS) {
        yield_once(t, looks);
        return;
    }
    if (dome__mail_waits(t->mail)) {
        take_mail(t);
        return;
    }
    const int deferrer = dome__mail_deferrer(t->mail);
    if (deferrer >= 0)
        want_news(t, deferrer);
    const struct timespec until = dome__in_ns(wait->ns);
    if (pthread_cond_clockwait(&t->news, &t->mutex, CLOCK_MONOTONIC, &until) == 0)
        return;
    pthread_mutex_unlock(&t->mutex);
    dome__lock_wait_look(wait, -1, -1);
    pthread_mutex_lock(&t->mutex);
}

/* The mutex is held. Others may have thought until now that this task looks. */
static void end_looking(dome_token *t)
{
    dome__mail_watch(t->mail, DOME_MAIL_BUSY);
    take_mail(t);
    t->asking = t->stopped = false;
}

/* The mutex is held; by the owner. */
static void look_once(dome_token *t)
{
    t->stopped = true;
    take_mail(t);
    t->stopped = false;
}

static int another(const dome_token *t)
{
    return t->env->rank == 0 ? 1 : 0;
}

static int fetch_token(dome_token *t)
{
    unsigned looks = 0;
    t->asking = t->stopped = true;
    request(t);
    dome_lock_wait wait = dome__lock_wait_begin(t->env->transport, another(t));
    while (!t->here)
        wait_for_news(t, &wait, &looks);
    end_looking(t);
    return dome__lock_wait_end(&wait);
}

int dome__token_enter(dome_token *token)
{
    dome_token *t = token;
    int status = DOME_OK;
    pthread_mutex_lock(&t->mutex);
    if (!t->here)
        look_once(t);
    if (t->here)
        t->inside = true;
    else
        status = fetch_token(t);
    pthread_mutex_unlock(&t->mutex);
    dome__release_enter(t->release);
    return status;
}

/* The mutex is held. Who is to be told; the first one behind this task gets the token, if nobody has asked for it. */
static int choose_told(const dome_token *t, const dome_space_telling *telling, uint8_t *whom)
{
    const int size = t->env->size, self = t->env->rank;
    const bool news = !telling->whom || !telling->if_written || t->untold || dome__release_has_changed(t->release);
    int first = -1;
    for (int k = size - 1; k > 0; k--) {
        const int rank = (self + k) % size;
        whom[rank] = (whom[rank] && news) || rank == telling->next;
        first = whom[rank] ? rank : first;
    }
    whom[self] = 0;
    return telling->next >= 0 && telling->next != self ? telling->next : first;
}

void dome__token_leave(dome_token *token, const dome_space_telling *telling)
{
    dome_token *t = token;
    uint8_t word[WORD];
    uint8_t *whom = telling->whom ? g_memdup2(telling->whom, (gsize)t->env->size) : g_malloc0((gsize)t->env->size);
    dome__release_leave(t->release);
    pthread_mutex_lock(&t->mutex);
    take_mail(t);
    const int told = choose_told(t, telling, whom);
    const int asked = dome__section_queue_next(&t->queue), next = asked >= 0 ? asked : told;
    t->inside = false;
    t->owes = true;
    if (t->settles)
        publish(t, false);
    if (next >= 0) {
        whom[next] = 0;
        give(t, next, false);
    }
    if (telling->whom) {
        t->untold = false;
        end_deferring(t);
    }
    begin_message(t, word, TOLD);
    for (int rank = 0; rank < t->env->size; rank++)
        if (whom[rank])
            tell_task(t, rank, word, WORD, false);
    pthread_mutex_unlock(&t->mutex);
    g_free(whom);
}

bool dome__token_defer(dome_token *token)
{
    dome_token *t = token;
    pthread_mutex_lock(&t->mutex);
    const bool defers = t->defers = dome__mail_defer(t->mail);
    if (defers) {
        t->owes = true;
        dome__release_owe(t->release);
    }
    pthread_mutex_unlock(&t->mutex);
    return defers;
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

void dome__token_meeting(dome_token *token)
{
    pthread_mutex_lock(&token->mutex);
    token->stopped = true;
    pthread_mutex_unlock(&token->mutex);
}

void dome__token_met(dome_token *token)
{
    dome_token *t = token;
    pthread_mutex_lock(&t->mutex);
    t->meetings++;
    t->meets = dome__release_meets(t->release);
    dome__section_queue_clear(&t->queue);
    t->here = t->env->rank == 0;
    t->inside = t->requested = t->stopped = t->owes = t->untold = t->settles = false;
    t->wanted_by = -1;
    end_deferring(t);
    take_early(t);
    pthread_mutex_unlock(&t->mutex);
}

/* ---- waiting ---- */

/* Sections may have come with a unit that another thread has fetched, or this library: the thread that waits must look again. */
static uint64_t told(const dome_token *t)
{
    return t->told + dome__release_reached(t->release);
}

uint64_t dome__token_told(dome_token *token)
{
    pthread_mutex_lock(&token->mutex);
    look_once(token);
    const uint64_t now = told(token);
    pthread_mutex_unlock(&token->mutex);
    return now;
}

int dome__token_await(dome_token *token, uint64_t seen)
{
    enum { LONGEST = 1000000000 };
    dome_token *t = token;
    const uint64_t start = dome__now_ns();
    unsigned looks = 0;
    pthread_mutex_lock(&t->mutex);
    dome_lock_wait wait = dome__lock_wait_begin(t->env->transport, another(t));
    t->stopped = true;
    while (told(t) == seen && dome__since_ns(start) < LONGEST)
        wait_for_news(t, &wait, &looks);
    end_looking(t);
    pthread_mutex_unlock(&t->mutex);
    return dome__lock_wait_end(&wait);
}

/* ---- beginning and end ---- */

/* In the channel's thread. */
static void settle(void *ctx)
{
    dome_token *t = ctx;
    pthread_mutex_lock(&t->mutex);
    take_mail(t);
    settle_now(t);
    pthread_mutex_unlock(&t->mutex);
}

dome_token *dome__token_new(dome_env *env, dome_release *release, dome_mail *mail)
{
    dome_token *t = g_new0(dome_token, 1);
    t->mail = mail;
    t->uncalled = t->wanted_by = -1;
    t->env = env;
    t->peer = env->peer;
    t->release = release;
    t->here = env->rank == 0;
    t->meets = dome__release_meets(release);
    dome__section_queue_begin(&t->queue, env->rank, env->size);
    t->early = g_ptr_array_new();
    pthread_mutex_init(&t->mutex, NULL);
    dome__condition_init(&t->news);
    dome__release_sections_begin(release, settle, t);
    dome__peer_on(t->peer, DOME_PEER_SPACE, take_message, t);
    return t;
}

void dome__token_free(dome_token *token)
{
    if (!token)
        return;
    dome__release_sections_end(token->release);
    dome__section_queue_end(&token->queue);
    dome__mail_free(token->mail);
    g_ptr_array_unref(token->early);
    pthread_cond_destroy(&token->news);
    pthread_mutex_destroy(&token->mutex);
    g_free(token);
}
