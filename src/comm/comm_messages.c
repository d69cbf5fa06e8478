/* Messages and requests of the program.
 *
 * The transport delivers one task's messages in order; tags are matched here. A message goes to the oldest request for its sender
 * and tag, straight into its buffer; if there is none, it is stored until one is made. Only calls of this file take messages, and
 * the transport keeps the rest: a task that computes notices nothing. */
#include "comm/comm_messages.h"

#include "comm/comm.h"
#include "comm/comm_operations.h"
#include "core/type_private.h"
#include "system/unconst.h"
#include "transport/agree.h"
#include "transport/ahead.h"

#include <inttypes.h>
#include <string.h>

/* How many requests that have ended are remembered. */
enum { ENDED_KEPT = 256 };

dome_comm *dome__comm(dome_env *env)
{
    if (env->comm)
        return env->comm;
    dome_comm *c = env->comm = g_new0(dome_comm, 1);
    c->sent_to = g_new0(uint64_t, env->size);
    c->taken_from = g_new0(uint64_t, env->size);
    c->last_to = g_new0(sent, env->size);
    c->others = g_new0(int, env->size);
    for (int r = 0, n = 0; r < env->size; r++)
        if (r != env->rank)
            c->others[n++] = r;
    return c;
}

static void request_free(void *request)
{
    g_free(((dome_request *)request)->text);
    g_free(request);
}

static void stored_free(stored *s)
{
    g_free(s->data);
    g_free(s);
}

static void free_all(GQueue *queue, void (*release)(void *))
{
    for (GList *link; (link = g_queue_pop_head_link(queue));)
        release(link->data);
}

static void release_stored(void *s)
{
    stored_free(s);
}

void dome__comm_free(dome_comm *c)
{
    if (!c)
        return;
    free_all(&c->receives, request_free);
    free_all(&c->done, request_free);
    free_all(&c->ended, request_free);
    free_all(&c->stored, release_stored);
    if (!c->log) {
        g_free(c->sent_to);
        g_free(c->taken_from);
    }
    dome__log_free(c->log);
    g_free(c->last_to);
    g_free(c->others);
    g_free(c);
}

/* ---- matching ---- */

const char *dome__message_type_name(dome_type_kind kind)
{
    return kind < DOME_KIND_STRUCT ? dome_type_name(dome_type_basic(kind)) : "a struct";
}

static bool wants(const dome_request *request, int rank, int tag)
{
    return (request->rank == rank || request->rank == DOME_ANY_RANK) && (request->tag == tag || request->tag == DOME_ANY_TAG);
}

static void finish(dome_request *request, dome_status status, char *text)
{
    request->state = REQUEST_DONE;
    request->status = status;
    request->text = text;
}

/* Whether a message fits a request that wants it; if not, the request has failed. */
static bool fits(dome_request *request, int rank, const dome_message *message)
{
    if (message->type != request->hash || message->element != dome_type_portable_size(request->type))
        finish(request, DOME_ERR_TYPE,
               g_strdup_printf("the message from task %d with tag %d has elements of %s, and elements of %s are to be received",
                               rank, message->tag, dome__message_type_name(message->kind), dome_type_name(request->type)));
    else if (message->count > request->count)
        finish(request, DOME_ERR_SHAPE,
               g_strdup_printf("the message from task %d with tag %d has %" PRIu64 " elements, and there is room for %" PRIu64,
                               rank, message->tag, message->count, request->count));
    return request->state == REQUEST_RECEIVES;
}

static void note_received(dome_request *request, int rank, const dome_message *message)
{
    request->got = (dome_received){.rank = rank, .tag = message->tag, .count = (size_t)message->count};
}

static void unstore(dome_comm *c, stored *s, dome_request *request)
{
    const dome_transport *t = request->env->transport;
    const dome_format format = s->rank == t->group.rank ? DOME_NATIVE : dome__format_with(t, s->rank);
    if (s->message.count && format == DOME_NATIVE)
        memcpy(request->data, s->data, s->message.count * dome_type_size(request->type));
    else if (s->message.count)
        dome_type_unpack(request->type, format, request->data, s->data, s->message.count);
    note_received(request, s->rank, &s->message);
    g_queue_unlink(&c->stored, &s->link);
    stored_free(s);
    finish(request, DOME_OK, NULL);
}

/* Gives a new request the oldest stored message that it wants. */
static void look_in_store(dome_comm *c, dome_request *request)
{
    for (GList *link = c->stored.head; link; link = link->next) {
        stored *s = link->data;
        if (!wants(request, s->rank, s->message.tag))
            continue;
        if (fits(request, s->rank, &s->message))
            unstore(c, s, request);
        return;
    }
}

/* The oldest request that wants a message and that it fits; older ones, which it does not fit, have failed. All of them leave the
 * list: a request that stayed there would get a later message of the same sender and tag. */
static dome_request *first_that_fits(dome_comm *c, int rank, const dome_message *message)
{
    for (GList *link = c->receives.head, *next; link; link = next) {
        next = link->next;
        if (!wants(link->data, rank, message->tag))
            continue;
        g_queue_unlink(&c->receives, link);
        g_queue_push_tail_link(&c->done, link);
        if (fits(link->data, rank, message))
            return link->data;
    }
    return NULL;
}

stored *dome__comm_store(dome_env *env, int rank, const dome_message *message, uint64_t bytes)
{
    stored *s = g_new0(stored, 1);
    s->rank = rank;
    s->message = *message;
    s->data = bytes <= SIZE_MAX ? g_try_malloc0(MAX(bytes, 1)) : NULL;
    if (!s->data) { /* the message could neither be received nor stay */
        dome__errors_end(env);
        dome__fail(env, DOME_ERR_MEMORY, "no memory for a message of %" PRIu64 " bytes from task %d with tag %d", bytes, rank,
                   message->tag);
    }
    s->link.data = s;
    g_queue_push_tail_link(&env->comm->stored, &s->link);
    return s;
}

/* Receives the elements of a message: into the request, or, if it is NULL, into the store. */
static int take_data(dome_env *env, int rank, const dome_message *message, dome_request *request)
{
    dome_transport *t = env->transport;
    if (request) {
        int status = dome__message_data(t, rank, message, request->type, request->data);
        note_received(request, rank, message);
        finish(request, (dome_status)status, status ? g_strdup(t->reason) : NULL);
        return DOME_OK;
    }
    const bool native = dome__format_with(t, rank) == DOME_NATIVE;
    stored *s = env->comm->half =
        dome__comm_store(env, rank, message, native ? message->bytes : message->count * message->element);
    const int status = dome__message_data(t, rank, message, NULL, s->data);
    env->comm->half = NULL;
    return status;
}

static void count_taken(dome_comm *c, int rank, const dome_message *message)
{
    c->taken_from[rank]++;
    c->taken_bytes += message->bytes;
}

int dome__comm_take(dome_env *env, int rank, uint64_t now)
{
    dome_message message;
    int status = dome__message_head(env->transport, rank, &message, now);
    if (status)
        return status;
    if (message.tag < 0 && env->comm->log)
        return dome__logged_hear(env, rank, &message);
    status = take_data(env, rank, &message, first_that_fits(env->comm, rank, &message));
    count_taken(env->comm, rank, &message); /* not before: a task may leave while it waits for the data */
    return status;
}

/* ---- requests ---- */

static uint64_t hash_of(dome_comm *c, dome_type type)
{
    if (c->type != type) {
        c->hash = dome__type_hash(type);
        c->type = type;
    }
    return c->hash;
}

static dome_request *request_new(dome_env *env, bool to_send, int rank, int tag, dome_type type, void *data, size_t count)
{
    dome_comm *c = dome__comm(env);
    dome_request *request = c->ended.length > ENDED_KEPT ? g_queue_pop_head_link(&c->ended)->data : g_new(dome_request, 1);
    *request = (dome_request){.env = env,
                              .state = to_send ? REQUEST_SENDS : REQUEST_RECEIVES,
                              .to_send = to_send,
                              .rank = rank,
                              .tag = tag,
                              .type = type,
                              .hash = hash_of(c, type),
                              .data = data,
                              .count = count,
                              .link.data = request};
    return request;
}

void dome__comm_send_to_self(dome_env *env, const dome_request *request)
{
    dome_comm *c = env->comm;
    const uint64_t bytes = request->count * dome_type_size(request->type);
    const dome_message message = {.tag = request->tag,
                                  .kind = dome_type_kind_of(request->type),
                                  .type = request->hash,
                                  .element = dome_type_portable_size(request->type),
                                  .count = request->count,
                                  .bytes = bytes};
    dome_request *receive = first_that_fits(c, env->rank, &message);
    stored *s = dome__comm_store(env, env->rank, &message, bytes);
    if (bytes)
        memcpy(s->data, request->data, bytes);
    if (receive)
        unstore(c, s, receive);
}

static void count_sent(dome_comm *c, int dest, int tag, dome_type type, uint64_t count)
{
    c->sent_to[dest]++;
    c->last_to[dest] = (sent){tag, dome_type_kind_of(type), count};
}

static int begin_send(dome_env *env, dome_request *request, bool whole)
{
    request->got = (dome_received){.rank = request->rank, .tag = request->tag, .count = (size_t)request->count};
    if (request->rank == env->rank) {
        dome__comm_send_to_self(env, request);
        finish(request, DOME_OK, NULL);
        return DOME_OK;
    }
    dome_comm *c = env->comm;
    const dome_message_out message = {request->rank, request->tag, request->type, request->hash, request->data, request->count};
    int status = dome__message_send(env->transport, &message, whole, 0);
    if (!status)
        count_sent(c, request->rank, request->tag, request->type, request->count);
    return status;
}

/* Begins to receive: looks among the stored messages, and in vain becomes the last of the requests. */
static void begin_receive(dome_comm *c, dome_request *request)
{
    if (c->stored.length)
        look_in_store(c, request);
    g_queue_push_tail_link(request->state == REQUEST_DONE ? &c->done : &c->receives, &request->link);
}

/* Only this task itself could send the message, and it waits. */
static dome_status nobody_sends(dome_env *env, dome_request *request)
{
    char tag[32];
    g_snprintf(tag, sizeof tag, " with tag %d", request->tag);
    g_queue_unlink(&env->comm->receives, &request->link);
    g_queue_push_tail_link(&env->comm->done, &request->link);
    finish(request, DOME_ERR_STATE,
           g_strdup_printf("task %d waits for a message from itself%s, and has not sent one", env->rank,
                           request->tag == DOME_ANY_TAG ? "" : tag));
    return DOME_OK;
}

/* Waits until a request to receive is done. now: the time. */
static int receive(dome_env *env, dome_request *request, uint64_t now)
{
    dome_transport *t = env->transport;
    int status = DOME_OK;
    if (request->state != REQUEST_DONE && (request->rank == env->rank || env->size == 1))
        return nobody_sends(env, request);
    dome__account_await(&t->account, DOME_AWAITS(request->rank, request->tag));
    while (request->state != REQUEST_DONE && !status) {
        int rank = request->rank;
        if (rank == DOME_ANY_RANK) {
            rank = dome__wait_for_any(t, env->comm->others, env->size - 1, DOME_CHANNEL_PROGRAM);
            now = t->account.now; /* the time until then has been counted */
        }
        status = dome__comm_take(env, rank, now);
        now = 0;
    }
    dome__account_await(&t->account, 0);
    return status;
}

/* The same for a request that is in no list, because there is no other one, to receive from one other task. */
static int receive_alone(dome_env *env, dome_request *request, uint64_t now)
{
    dome_transport *t = env->transport;
    const int rank = request->rank;
    int status = DOME_OK;
    dome__account_await(&t->account, DOME_AWAITS(rank, request->tag));
    for (; request->state != REQUEST_DONE && !status; now = 0) {
        dome_message message;
        if (env->comm->log)
            dome__logged_await(env, rank);
        status = dome__message_head(t, rank, &message, now);
        if (status)
            break;
        if (message.tag < 0 && env->comm->log) {
            status = dome__logged_hear(env, rank, &message);
            continue;
        }
        const bool good = wants(request, rank, message.tag) && fits(request, rank, &message);
        status = take_data(env, rank, &message, good ? request : NULL);
        count_taken(env->comm, rank, &message);
    }
    dome__account_await(&t->account, 0);
    return status;
}

int dome__comm_receive(dome_env *env, dome_request *request, uint64_t now)
{
    dome_comm *c = env->comm;
    if (!c->receives.length && request->rank >= 0 && request->rank != env->rank) {
        if (c->stored.length)
            look_in_store(c, request);
        return receive_alone(env, request, now);
    }
    begin_receive(c, request);
    const int failed = receive(env, request, now);
    g_queue_unlink(request->state == REQUEST_DONE ? &c->done : &c->receives, &request->link);
    return failed;
}

void dome__comm_drop_half(dome_env *env)
{
    dome_comm *c = env->comm;
    if (!c || !c->half)
        return;
    g_queue_unlink(&c->stored, &c->half->link);
    stored_free(g_steal_pointer(&c->half));
}

void dome__comm_left(dome_env *env, dome_request *request)
{
    dome_comm *c = env->comm;
    if (g_queue_find(&c->receives, request))
        g_queue_unlink(&c->receives, &request->link);
    else if (g_queue_find(&c->done, request))
        g_queue_unlink(&c->done, &request->link);
    request->link = (GList){.data = request};
}

/* Reports how a request went; the request has left the lists. */
static dome_status conclude(dome_env *env, dome_request *request, int status, dome_received *received)
{
    if (status)
        return dome__fail_transport(env, status);
    if (request->status)
        return dome__fail(env, request->status, "%s", request->text);
    if (received)
        *received = request->got;
    return DOME_OK;
}

/* ---- the public functions ---- */

static dome_status check(dome_env *env, bool to_send, int rank, int tag, dome_type type, size_t count)
{
    if ((rank < 0 || rank >= env->size) && (to_send || rank != DOME_ANY_RANK))
        return dome__fail(env, DOME_ERR_ARGUMENT, "there is no task %d among %d", rank, env->size);
    if (tag < 0 && (to_send || tag != DOME_ANY_TAG))
        return dome__fail(env, DOME_ERR_ARGUMENT, "the tag %d is below 0", tag);
    if (count > dome__array_most(dome_type_size(type)))
        return dome__fail(env, DOME_ERR_ARGUMENT, "%zu elements of %zu bytes are more than memory can have", count,
                          dome_type_size(type));
    return DOME_OK;
}

#define NEEDS_MESSAGE(env, type, data, count, ...)                                                                               \
    DOME_NEEDS(env, "the environment", __VA_ARGS__);                                                                             \
    DOME_NEEDS(type, "the type", __VA_ARGS__);                                                                                   \
    DOME_NEEDS((data) || (count) == 0, "the place of the elements", __VA_ARGS__)

dome_status dome_send(dome_env *env, int dest, int tag, dome_type type, const void *data, size_t count)
{
    NEEDS_MESSAGE(env, type, data, count, DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__enter_alone(&op, env, DOME_OP_SEND);
    dome_status status = check(env, true, dest, tag, type, count);
    if (status) {
        dome__clock_alone(&op);
        return dome__end(&op, status);
    }
    dome_comm *c = dome__comm(env);
    const dome_message_out message = {dest, tag, type, hash_of(c, type), data, count};
    if (c->log && dest != env->rank) {
        dome__clock_alone(&op);
        dome__account_forget_now(&env->transport->account);
        const int failed = dome__logged_send(env, &message);
        return dome__end_at(&op, failed ? dome__fail_transport(env, failed) : DOME_OK, env->transport->account.now);
    }
    if (dest != env->rank && dome__message_at_once(env->transport, &message)) {
        count_sent(c, dest, tag, type, count);
        dome__clock_alone(&op); /* after the message has left: its receiver does not wait for that */
        return dome__end_at(&op, DOME_OK, op.start_ns);
    }
    dome__clock_alone(&op);
    if (dest != env->rank) {
        dome__account_forget_now(&env->transport->account);
        int failed = dome__message_send(env->transport, &message, true, op.start_ns);
        if (!failed)
            count_sent(c, dest, tag, type, count);
        return dome__end_at(&op, failed ? dome__fail_transport(env, failed) : DOME_OK, env->transport->account.now);
    }
    dome_request request = {
        .env = env, .rank = dest, .tag = tag, .type = type, .hash = message.hash, .data = dome__unconst(data), .count = count};
    dome__comm_send_to_self(env, &request);
    return dome__end(&op, DOME_OK);
}

dome_status dome_recv(dome_env *env, int source, int tag, dome_type type, void *data, size_t count, dome_received *received)
{
    NEEDS_MESSAGE(env, type, data, count, DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_alone(&op, env, DOME_OP_RECV);
    dome_status status = check(env, false, source, tag, type, count);
    if (status)
        return dome__end(&op, status);
    dome_comm *c = dome__comm(env);
    dome_request request = {.env = env,
                            .state = REQUEST_RECEIVES,
                            .rank = source,
                            .tag = tag,
                            .type = type,
                            .hash = hash_of(c, type),
                            .data = data,
                            .count = count,
                            .link.data = &request};
    dome__account_forget_now(&env->transport->account);
    const int failed = c->log ? dome__logged_receive(env, &request) : dome__comm_receive(env, &request, op.start_ns);
    status = conclude(env, &request, failed, received);
    g_free(request.text);
    return dome__end_at(&op, status, env->transport->account.now);
}

/* When a request is done depends on the speed of the tasks: a task that goes back would see it done at another place. */
static bool may_request(dome_env *env)
{
    if (dome__comm(env)->log)
        dome__fail(env, DOME_ERR_STATE,
                   "with --dome-checkpoint-protocol log messages are sent and received by dome_send and dome_recv alone: use "
                   "protocol stop or snapshot");
    return !env->comm->log;
}

dome_request *dome_isend(dome_env *env, int dest, int tag, dome_type type, const void *data, size_t count)
{
    NEEDS_MESSAGE(env, type, data, count, NULL);
    dome_operation op;
    dome__begin_alone(&op, env, DOME_OP_ISEND);
    dome_request *request = NULL;
    if (may_request(env) && check(env, true, dest, tag, type, count) == DOME_OK) {
        request = request_new(env, true, dest, tag, type, dome__unconst(data), count);
        int failed = begin_send(env, request, false);
        if (failed) {
            dome__fail_transport(env, failed);
            request_free(request);
            request = NULL;
        } else {
            g_queue_push_tail_link(&env->comm->done, &request->link);
        }
    }
    dome__end(&op, DOME_OK);
    return request;
}

dome_request *dome_irecv(dome_env *env, int source, int tag, dome_type type, void *data, size_t count)
{
    NEEDS_MESSAGE(env, type, data, count, NULL);
    dome_operation op;
    dome__begin_alone(&op, env, DOME_OP_IRECV);
    dome_request *request = NULL;
    if (may_request(env) && check(env, false, source, tag, type, count) == DOME_OK) {
        request = request_new(env, false, source, tag, type, data, count);
        begin_receive(env->comm, request);
    }
    dome__end(&op, DOME_OK);
    return request;
}

/* The environment of a request. All requests are gone after dome_finalize. */
static dome_env *env_of(const dome_request *request, const char *function)
{
    if (!dome__this_env())
        dome__fail(NULL, DOME_ERR_STATE, "%s: called after dome_finalize", function);
    return request->env;
}

static dome_status ended_before(dome_env *env)
{
    return dome__fail(env, DOME_ERR_STATE, "the request has been waited for already");
}

dome_status dome_wait(dome_request *request, dome_received *received)
{
    DOME_NEEDS(request, "the request", DOME_ERR_ARGUMENT);
    dome_env *env = env_of(request, __func__);
    dome_comm *c = env->comm;
    dome_operation op;
    dome__begin_alone(&op, env, DOME_OP_WAIT);
    if (request->state == REQUEST_ENDED)
        return dome__end(&op, ended_before(env));
    int failed = DOME_OK;
    if (request->state == REQUEST_SENDS)
        dome__end_send(env->transport, request->rank);
    else if (request->state == REQUEST_RECEIVES)
        failed = receive(env, request, op.start_ns);
    g_queue_unlink(request->state == REQUEST_RECEIVES ? &c->receives : &c->done, &request->link);
    dome_status status = conclude(env, request, failed, received);
    request->state = REQUEST_ENDED;
    g_clear_pointer(&request->text, g_free);
    g_queue_push_tail_link(&c->ended, &request->link);
    return dome__end(&op, status);
}

/* Whoever waits for them; and gets all-reduces on that run ahead: a task that only tests must not keep others waiting. */
int dome__comm_take_arrived(dome_env *env)
{
    int status = DOME_OK;
    dome__ahead_poll(env->transport);
    for (int k = 0; k < env->size - 1 && !status; k++)
        while (!status && dome__message_arrived(env->transport, env->comm->others[k]))
            status = dome__comm_take(env, env->comm->others[k], 0);
    return status;
}

bool dome_test(dome_request *request)
{
    DOME_NEEDS(request, "the request", false);
    dome_env *env = env_of(request, __func__);
    dome_operation op;
    dome__begin_alone(&op, env, DOME_OP_TEST);
    if (request->state == REQUEST_ENDED) {
        dome__end(&op, ended_before(env));
        return false;
    }
    int failed = DOME_OK;
    if (request->state == REQUEST_RECEIVES || (request->state == REQUEST_SENDS && !dome__sent(env->transport, request->rank)))
        failed = dome__comm_take_arrived(env);
    const bool waits =
        request->state == REQUEST_RECEIVES || (request->state == REQUEST_SENDS && !dome__sent(env->transport, request->rank));
    if (!failed && waits && env->size > 1) /* other data has to be read, or sent in another way, before */
        dome__transport_arrived(env->transport, -1, DOME_CHANNEL_PROGRAM);
    bool done = request->state == REQUEST_DONE || (request->state == REQUEST_SENDS && dome__sent(env->transport, request->rank));
    dome__end(&op, failed ? dome__fail_transport(env, failed) : DOME_OK);
    return done;
}
