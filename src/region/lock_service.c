#include "region/lock_service.h"

#include "region/lock_wait.h"
#include "system/bytes.h"
#include "system/time.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

enum { ASK = 1, RELEASE, HOLDER };

/* A message: the word, the lock, with RELEASE what it carries. The reply to HOLDER: the rank + 1; to ASK: what the lock carries.
 */
enum { MESSAGE = 9, ANSWER = 4 };

struct dome_lock_service {
    dome_peer *peer;
    dome_transport *transport;
    sem_t granted;
    pthread_mutex_t mutex;
    GHashTable *queues;  /* queue by lock: those that a task has or that carry something, of which this task has the queue */
    GByteArray *carried; /* by the lock that this task has got last */
};

/* A task that waits; request 0: this one. */
typedef struct turn {
    int rank;
    uint64_t request;
} turn;

typedef struct queue {
    uint64_t lock;
    int holder; /* -1: none */
    GQueue turns;
    GByteArray *carried;
} queue;

static void queue_free(gpointer data)
{
    queue *q = data;
    g_queue_clear_full(&q->turns, g_free);
    g_byte_array_unref(q->carried);
    g_free(q);
}

static int queue_of(const dome_lock_service *s, uint64_t lock)
{
    return (int)(lock % (uint64_t)s->transport->group.size);
}

/* ---- at the queue; the mutex is held ---- */

static void grant(dome_lock_service *s, queue *q, const turn *to)
{
    q->holder = to->rank;
    if (to->request) {
        dome__peer_reply(s->peer, to->rank, to->request, q->carried->data, q->carried->len);
        return;
    }
    g_byte_array_set_size(s->carried, 0);
    g_byte_array_append(s->carried, q->carried->data, q->carried->len);
    sem_post(&s->granted);
}

static void take_ask(dome_lock_service *s, uint64_t lock, turn from)
{
    queue *q = g_hash_table_lookup(s->queues, &lock);
    if (!q) {
        q = g_new(queue, 1);
        *q = (queue){.lock = lock, .holder = -1, .turns = G_QUEUE_INIT, .carried = g_byte_array_new()};
        g_hash_table_insert(s->queues, &q->lock, q);
    }
    if (q->holder < 0)
        grant(s, q, &from);
    else
        g_queue_push_tail(&q->turns, g_memdup2(&from, sizeof from));
}

static void take_release(dome_lock_service *s, uint64_t lock, int from, const uint8_t *carried, guint bytes)
{
    queue *q = g_hash_table_lookup(s->queues, &lock);
    if (!q || q->holder != from)
        return;
    turn *next = g_queue_pop_head(&q->turns);
    g_byte_array_set_size(q->carried, 0);
    g_byte_array_append(q->carried, carried, bytes);
    q->holder = -1;
    if (next)
        grant(s, q, next);
    else if (bytes == 0)
        g_hash_table_remove(s->queues, &lock);
    g_free(next);
}

static int holder(const dome_lock_service *s, uint64_t lock)
{
    const queue *q = g_hash_table_lookup(s->queues, &lock);
    return q ? q->holder : -1;
}

static void take_message(void *ctx, const dome_peer_request *request)
{
    dome_lock_service *s = ctx;
    const uint8_t *bytes = request->data;
    uint8_t answer[ANSWER];
    if (request->bytes < MESSAGE)
        return;
    const uint64_t lock = dome__get_u64(bytes + 1);
    pthread_mutex_lock(&s->mutex);
    if (bytes[0] == ASK && request->id)
        take_ask(s, lock, (turn){request->from, request->id});
    if (bytes[0] == RELEASE)
        take_release(s, lock, request->from, bytes + MESSAGE, request->bytes - MESSAGE);
    dome__put_u32(answer, (uint32_t)(holder(s, lock) + 1));
    pthread_mutex_unlock(&s->mutex);
    if (bytes[0] == HOLDER && request->id)
        dome__peer_reply(s->peer, request->from, request->id, answer, ANSWER);
}

/* ---- at a task ---- */

static void put(uint8_t bytes[MESSAGE], uint8_t word, uint64_t lock)
{
    bytes[0] = word;
    dome__put_u64(bytes + 1, lock);
}

/* If the queue's task is lost, this one waits until it goes back or ends. */
static void granted(void *ctx, const dome_peer_answer *answer)
{
    dome_lock_service *s = ctx;
    if (answer->status != DOME_PEER_OK)
        return;
    g_byte_array_set_size(s->carried, 0);
    g_byte_array_append(s->carried, answer->data, answer->bytes);
    sem_post(&s->granted);
}

static void ask(dome_lock_service *s, uint64_t lock)
{
    uint8_t message[MESSAGE];
    if (queue_of(s, lock) == s->transport->group.rank) {
        pthread_mutex_lock(&s->mutex);
        take_ask(s, lock, (turn){.rank = s->transport->group.rank});
        pthread_mutex_unlock(&s->mutex);
        return;
    }
    put(message, ASK, lock);
    dome__peer_ask_then(s->peer, &(dome_peer_question){queue_of(s, lock), DOME_PEER_LOCK, message, MESSAGE, granted, s});
}

static bool sleep_for(dome_lock_service *s, uint64_t ns)
{
    const struct timespec until = dome__in_ns(ns);
    int status;
    while ((status = sem_clockwait(&s->granted, CLOCK_MONOTONIC, &until)) < 0 && errno == EINTR)
        continue;
    return status == 0;
}

int dome__lock_service_take(dome_lock_service *service, uint64_t lock, const GByteArray **carried)
{
    ask(service, lock);
    *carried = service->carried;
    if (sem_trywait(&service->granted) == 0)
        return DOME_OK;
    dome_lock_wait wait = dome__lock_wait_begin(service->transport, queue_of(service, lock));
    while (!sleep_for(service, wait.ns)) {
        const int has = dome__lock_service_holder(service, lock);
        dome__lock_wait_look(&wait, has, has + 1);
    }
    return dome__lock_wait_end(&wait);
}

void dome__lock_service_give(dome_lock_service *service, uint64_t lock, const GByteArray *carried)
{
    const int at = queue_of(service, lock);
    if (at == service->transport->group.rank) {
        pthread_mutex_lock(&service->mutex);
        take_release(service, lock, at, carried ? carried->data : NULL, carried ? carried->len : 0);
        pthread_mutex_unlock(&service->mutex);
        return;
    }
    uint8_t head[MESSAGE];
    GByteArray *message = g_byte_array_new();
    put(head, RELEASE, lock);
    g_byte_array_append(message, head, MESSAGE);
    if (carried)
        g_byte_array_append(message, carried->data, carried->len);
    dome__peer_tell(service->peer, at, DOME_PEER_LOCK, message->data, message->len);
    g_byte_array_unref(message);
}

int dome__lock_service_holder(dome_lock_service *service, uint64_t lock)
{
    uint8_t message[MESSAGE];
    int has;
    if (queue_of(service, lock) == service->transport->group.rank) {
        pthread_mutex_lock(&service->mutex);
        has = holder(service, lock);
        pthread_mutex_unlock(&service->mutex);
        return has;
    }
    GByteArray *reply = NULL;
    put(message, HOLDER, lock);
    const dome_peer_status status =
        dome__peer_ask(service->peer, queue_of(service, lock), DOME_PEER_LOCK, message, MESSAGE, &reply);
    has = status == DOME_PEER_OK && reply->len == ANSWER ? (int)dome__get_u32(reply->data) - 1 : -1;
    if (reply)
        g_byte_array_unref(reply);
    return has;
}

/* ---- beginning and end ---- */

dome_lock_service *dome__lock_service_new(dome_peer *peer, dome_transport *transport)
{
    dome_lock_service *s = g_new0(dome_lock_service, 1);
    s->peer = peer;
    s->transport = transport;
    s->queues = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, queue_free);
    s->carried = g_byte_array_new();
    sem_init(&s->granted, 0, 0);
    pthread_mutex_init(&s->mutex, NULL);
    dome__peer_on(peer, DOME_PEER_LOCK, take_message, s);
    return s;
}

void dome__lock_service_free(dome_lock_service *service)
{
    if (!service)
        return;
    g_hash_table_unref(service->queues);
    g_byte_array_unref(service->carried);
    pthread_mutex_destroy(&service->mutex);
    sem_destroy(&service->granted);
    g_free(service);
}
