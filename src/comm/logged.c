/* Messages of a program whose tasks go back one at a time (--dome-checkpoint-protocol log).
 *
 * A message is kept (message_log.h) before it is sent. A task that is asked to leave the view while it waits (a task has been
 * lost) leaves the wait, goes over into the next view with its memory as it is, and begins the wait anew. What was on its way
 * then is gone with the old transport: in the next view each task says how many messages it has taken of each, and gets the
 * others again. */
#include "comm/comm.h"
#include "comm/comm_messages.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <string.h>

/* Tags of what tasks tell each other between the program's messages. */
enum { NEWS = -2, COVERED = -3 };

/* When the log has grown by so much, a task that never receives looks for what others say of it. */
static const uint64_t LOOK_BYTES = 4 << 20;

bool dome__comm_logs(const dome_env *env)
{
    return env->comm && env->comm->log;
}

void dome__comm_log(dome_env *env, int (*leave)(dome_env *env))
{
    dome_comm *c = dome__comm(env);
    g_free(c->sent_to);
    g_free(c->taken_from);
    c->log = dome__log_new(env->rank, env->size);
    c->sent_to = dome__log_sent(c->log);
    c->taken_from = dome__log_taken(c->log);
    c->leave = leave;
}

void dome__comm_log_keep_in(dome_env *env, const char *stem, bool sums)
{
    dome__log_keep_in(env->comm->log, stem, sums);
}

int dome__comm_leave(dome_env *env)
{
    return dome__transport_asks_to_leave() ? env->comm->leave(env) : DOME_OK;
}

/* ---- what tasks tell each other ---- */

static int tell(dome_env *env, int dest, int tag, const GByteArray *bytes)
{
    const dome_message message = {.tag = tag, .kind = DOME_KIND_U8, .element = 1, .count = bytes->len, .bytes = bytes->len};
    return dome__message_send_again(env->transport, dest, &message, bytes->data);
}

int dome__logged_hear(dome_env *env, int rank, const dome_message *message)
{
    uint8_t *data = message->bytes <= G_MAXSIZE ? g_try_malloc(MAX((gsize)message->bytes, 1)) : NULL;
    if (!data)
        return dome__transport_error(env->transport, DOME_ERR_MEMORY, "no memory for what task %d tells", rank);
    int status = dome__message_data(env->transport, rank, message, NULL, data);
    if (!status &&
        !(message->tag == NEWS ? dome__log_learn(env->comm->log, data, message->bytes)
                               : message->tag == COVERED && dome__log_covered(env->comm->log, rank, data, message->bytes)))
        status = dome__transport_error(env->transport, DOME_ERR_COMM, "what task %d tells of its messages makes no sense", rank);
    g_free(data);
    return status;
}

/* ---- sending ---- */

static dome_message head_of(const dome_message_out *m)
{
    return (dome_message){.tag = m->tag,
                          .kind = dome_type_kind_of(m->type),
                          .type = m->hash,
                          .element = dome_type_portable_size(m->type),
                          .count = m->count,
                          .bytes = m->count * dome_type_size(m->type)};
}

/* The receiver copies a long message while this task keeps it. */
static int send_kept(dome_env *env, const dome_message_out *message, dome_logged *kept)
{
    GByteArray *news = dome__log_news(env->comm->log, message->dest);
    int status = DOME_OK;
    if (news) {
        status = tell(env, message->dest, NEWS, news);
        g_byte_array_unref(news);
    } else if (dome__message_at_once(env->transport, message)) {
        dome__log_fill(kept, message->data);
        return DOME_OK;
    }
    if (!status)
        status = dome__message_send(env->transport, message, false, 0);
    dome__log_fill(kept, message->data);
    if (!status)
        dome__end_send(env->transport, message->dest);
    return status;
}

/* What others say of the log frees memory. */
static int look(dome_env *env)
{
    dome_comm *c = env->comm;
    const uint64_t bytes = dome__log_bytes(c->log);
    if (bytes < c->looked + LOOK_BYTES)
        return DOME_OK;
    const int status = dome__comm_take_arrived(env);
    c->looked = dome__log_bytes(c->log);
    return status;
}

static dome_logged *add(dome_env *env, int dest, const dome_message *head)
{
    char *why = NULL;
    dome_logged *kept = dome__log_add(env->comm->log, dest, head, &why);
    if (!kept)
        dome__transport_error(env->transport, DOME_ERR_MEMORY,
                              "no room for a message of %" G_GUINT64_FORMAT " bytes, which is to be kept until a checkpoint of "
                              "task %d covers it (more frequent checkpoints need less): %s",
                              head->bytes, dest, why);
    g_free(why);
    return kept;
}

int dome__logged_send(dome_env *env, const dome_message_out *message)
{
    dome_comm *c = env->comm;
    const dome_message head = head_of(message);
    jmp_buf left;
    int status = dome__comm_leave(env);
    if (status)
        return status;
    dome_logged *const kept = add(env, message->dest, &head);
    if (!kept)
        return DOME_ERR_MEMORY;
    c->last_to[message->dest] = (sent){message->tag, head.kind, head.count};
    if (!dome__log_lacks(c->log, message->dest, kept->number)) {
        dome__log_fill(kept, message->data);
        return DOME_OK;
    }
    if (_setjmp(left) == 0) {
        dome__transport_leave_to(&left);
        status = send_kept(env, message, kept);
        if (!status)
            status = look(env);
        dome__transport_leave_to(NULL);
        return status;
    }
    dome__log_fill(kept, message->data);
    return c->leave(env);
}

/* ---- receiving ---- */

int dome__logged_receive(dome_env *env, dome_request *request)
{
    dome_comm *c = env->comm;
    jmp_buf left;
    const bool any = request->rank == DOME_ANY_RANK;
    const bool again = any && dome__log_replays(c->log, &request->rank);
    int failed = dome__comm_leave(env);
    while (!failed) {
        if (_setjmp(left) == 0) {
            dome__transport_leave_to(&left);
            failed = dome__comm_receive(env, request, 0);
            dome__transport_leave_to(NULL);
            break;
        }
        dome__comm_left(env, request);
        failed = c->leave(env);
    }
    if (!failed && any && !again && !request->status)
        dome__log_chose(c->log, request->got.rank);
    return failed;
}

/* ---- a view begins ---- */

/* What each task tells each other one. */
enum { TAKEN, FORGOTTEN, WORDS };

/* Of all tasks, the orders that each knows. */
static int share_orders(dome_env *env)
{
    dome_transport *t = env->transport;
    GByteArray *own = dome__log_news(env->comm->log, -1);
    uint64_t *lengths = g_new0(uint64_t, env->size), length = own->len, all = 0;
    int status = dome__allgather(t, DOME_U64, &length, 1, lengths);
    for (int r = 0; r < env->size; r++)
        all += lengths[r];
    uint8_t *data = status ? NULL : g_malloc(MAX(all, 1));
    if (!status)
        status = dome__allgatherv(t, DOME_U8, own->data, lengths, data);
    if (!status && !dome__log_learn(env->comm->log, data, all))
        status = dome__transport_error(t, DOME_ERR_COMM, "what the tasks tell of their messages makes no sense");
    dome__log_shared(env->comm->log);
    g_free(data);
    g_free(lengths);
    g_byte_array_unref(own);
    return status;
}

/* Sends a task what it lacks. */
static int send_rest(dome_env *env, int dest, uint64_t has)
{
    const dome_logged *kept = dome__log_behind(env->comm->log, dest, has);
    int status = DOME_OK;
    if (env->comm->sent_to[dest] > has && (!kept || kept->number != has + 1))
        return dome__transport_error(env->transport, DOME_ERR_STATE,
                                     "task %d has gone back behind its newest checkpoint, and what it received since is kept by "
                                     "nobody",
                                     dest);
    for (const GList *link = kept ? &kept->link : NULL; link && !status; link = link->next) {
        kept = link->data;
        if (dome__log_lacks(env->comm->log, dest, kept->number))
            status = dome__message_send_again(env->transport, dest, &kept->message, kept->data);
    }
    return status;
}

/* Whether others have forgotten, because of a checkpoint that is lost, what this task has chosen since the one that it has. */
static int check_choices(dome_env *env, const uint64_t *told)
{
    uint64_t most = 0;
    for (int r = 0; r < env->size; r++)
        most = MAX(most, told[FORGOTTEN + r * WORDS]);
    if (most <= dome__log_choices(env->comm->log))
        return DOME_OK;
    return dome__transport_error(
        env->transport, DOME_ERR_STATE,
        "task %d has gone back behind its newest checkpoint, and the order in which it received since is "
        "kept by nobody",
        env->rank);
}

int dome__comm_meet(dome_env *env)
{
    dome_comm *c = env->comm;
    uint64_t *tell = g_new0(uint64_t, (gsize)env->size * WORDS), *told = g_new0(uint64_t, (gsize)env->size * WORDS);
    for (int r = 0; r < env->size; r++) {
        tell[TAKEN + r * WORDS] = c->taken_from[r];
        tell[FORGOTTEN + r * WORDS] = r == env->rank ? 0 : dome__log_forgotten(c->log, r);
    }
    int status = dome__alltoall(env->transport, DOME_U64, tell, WORDS, told);
    if (!status)
        status = check_choices(env, told);
    for (int r = 0; r < env->size && !status; r++)
        dome__log_has(c->log, r, told[TAKEN + r * WORDS]);
    if (!status)
        status = share_orders(env);
    for (int k = 1; k < env->size && !status; k++) {
        const int dest = (env->rank + k) % env->size;
        status = send_rest(env, dest, told[TAKEN + dest * WORDS]);
    }
    g_free(tell);
    g_free(told);
    dome__log_tidy(c->log);
    c->looked = dome__log_bytes(c->log);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

/* ---- a checkpoint of this task ---- */

uint64_t dome__comm_log_owed(const dome_env *env)
{
    return env->comm->taken_bytes;
}

/* Of messages that have not been received. */
static uint64_t stored_bytes(const dome_comm *c)
{
    uint64_t bytes = 0;
    for (const GList *link = c->stored.head; link; link = link->next)
        bytes += ((const stored *)link->data)->message.bytes;
    return bytes;
}

GByteArray *dome__comm_log_state(dome_env *env)
{
    const uint64_t bytes = stored_bytes(env->comm);
    const int error = dome__log_sync(env->comm->log);
    if (error) {
        dome__fail(env, DOME_ERR_IO, "the messages that this task keeps cannot be written: %s", g_strerror(error));
        return NULL;
    }
    if (bytes > G_MAXINT32) {
        dome__fail(env, DOME_ERR_MEMORY,
                   "%.1f GB of messages have come that this task has not received, and a checkpoint has room for 2.1",
                   (double)bytes * 1e-9);
        return NULL;
    }
    GByteArray *state = g_byte_array_new(), *channel = dome__comm_channel(env);
    dome__log_put(env->comm->log, state);
    g_byte_array_append(state, channel->data, channel->len);
    g_byte_array_unref(channel);
    return state;
}

bool dome__comm_log_restore(dome_env *env, const void *bytes, uint64_t length)
{
    dome_bytes from = dome__bytes_of(bytes, (size_t)length);
    if (!dome__log_get(env->comm->log, &from))
        return false;
    char *why = dome__comm_channel_put(env, from.at, (uint64_t)(from.end - from.at));
    const bool good = !why;
    g_free(why);
    return good;
}

static int tell_covered(dome_env *env)
{
    dome_comm *c = env->comm;
    int status = DOME_OK;
    for (int r = 0; r < env->size && !status; r++) {
        if (r == env->rank || (c->taken_from[r] == 0 && dome__log_choices(c->log) == 0))
            continue;
        GByteArray *covered = dome__log_covers(c->log, r);
        status = tell(env, r, COVERED, covered);
        g_byte_array_unref(covered);
    }
    return status;
}

/* The next view knows it by itself. */
int dome__comm_log_covered(dome_env *env)
{
    dome_comm *c = env->comm;
    jmp_buf left;
    dome__log_forget(c->log, env->rank, dome__log_choices(c->log));
    dome__log_tidy(c->log);
    c->taken_bytes = 0;
    if (_setjmp(left) != 0)
        return c->leave(env);
    dome__transport_leave_to(&left);
    int status = tell_covered(env);
    if (!status)
        status = dome__comm_take_arrived(env);
    dome__transport_leave_to(NULL);
    c->looked = dome__log_bytes(c->log);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

GArray *dome__comm_log_copy(dome_env *env, dome_log_take *take, void *ctx)
{
    GArray *files = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    dome__log_copy(env->comm->log, take, ctx);
    dome__log_files(env->comm->log, files);
    return files;
}

void dome__comm_log_uncopied(dome_env *env)
{
    dome__log_copy_anew(env->comm->log);
}
