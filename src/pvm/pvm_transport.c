#include "pvm/pvm.h"

#include "system/bytes.h"
#include "system/unconst.h"
#include "transport/polling.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <pvm3.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* A message is sent as one or more PVM messages, because PVM's lengths are int, and its receiver buffers whole messages. The
 * first starts with the number of data bytes and the head. */
enum { PIECE = 32 << 20, IN_PLACE = 2048, MOST_HEAD = 128, TAG = 0x446f10, NUMBERS = 1 << 20 };

/* The first bytes of a PVM message are unpacked by one call, which is all of most. */
enum { FRONT = 512 };

/* PVM gives each direct connection room for 32 KiB in the kernel, at both ends, so a send of more waits until the receiver reads,
 * even if the receiver computes for long, and packets are dropped and sent again. Longer messages than NARROW get as much room as
 * they need, up to about MOST_ROOM; the kernel may allow less (net.core.wmem_max, rmem_max). */
enum { NARROW = 16 << 10, LEAST_ROOM = 64 << 10, MOST_ROOM = 4 << 20 };

typedef struct provider {
    int *tids;
    int context;
    int context_before; /* context of the user's own PVM calls, to be restored */
    int errno_before;
    uint64_t left;             /* unread bytes of the message that recv_head began */
    int in_buffer;             /* those of them in the current PVM message */
    int front_bytes, front_at; /* the first bytes of that message; how many of them have been taken */
    uint8_t front[FRONT];
    GArray *room; /* bytes for which each connection to another task has been given room, by descriptor (int) */
} provider;

/* State of dome__pvm_enter and dome__pvm_leave. Only one thread uses PVM. */
static int entered;
static bool enrolled;
static sigset_t mask_before;
static int send_before, receive_before; /* the program's current buffers */
static int own_send, own_receive;       /* the library's, between its uses of PVM */

static void take_buffers(void)
{
    send_before = pvm_setsbuf(own_send);
    receive_before = pvm_setrbuf(own_receive);
}

static void give_buffers_back(void)
{
    own_send = pvm_setsbuf(send_before);
    own_receive = pvm_setrbuf(receive_before);
}

bool dome__pvm_is_enrolled(void)
{
    return enrolled;
}

void dome__pvm_enrolled(void)
{
    if (!enrolled)
        take_buffers();
    enrolled = true;
}

void dome__pvm_enter(void)
{
    if (entered++ > 0)
        return;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &mask_before);
    if (enrolled) /* else the calls would make PVM enrol the process */
        take_buffers();
}

/* none: no SIGPIPE has come, so none needs to be taken away. */
static void leave_pvm(bool none)
{
    if (--entered > 0)
        return;
    if (enrolled)
        give_buffers_back();
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (!none && !sigismember(&mask_before, SIGPIPE))
        while (sigtimedwait(&pipe, NULL, &(struct timespec){0}) == SIGPIPE)
            continue;
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
}

void dome__pvm_leave(void)
{
    leave_pvm(false);
}

static void enter(provider *p)
{
    dome__pvm_enter();
    p->context_before = pvm_setcontext(p->context);
    p->errno_before = errno;
    errno = 0;
}

/* If no call of the kernel has failed, none has written to a closed connection. PVM's library never clears errno. */
static void leave(provider *p)
{
    const bool none = errno == 0;
    pvm_setcontext(p->context_before);
    leave_pvm(none);
    errno = p->errno_before;
}

/* Messages may overtake each other while PVM sets up the direct route between two tasks: one is sent through the daemons, the
 * next by the new route. Sequence numbers in the tags restore their order. */
static int coming_tag(const uint32_t *counts, int rank, int channel)
{
    uint32_t number = counts[dome__account_pair(rank, channel)] % NUMBERS;
    return TAG + channel + DOME_CHANNELS * (int)number;
}

static int failed(const dome_transport_provider *self, int rank, const char *what, int code)
{
    if (code == PvmSysErr)
        return dome__transport_error(self->transport, DOME_ERR_COMM, "the PVM daemon of this host does not answer");
    return dome__transport_error(self->transport, DOME_ERR_COMM, "cannot %s task %d (PVM error %d)", what, rank, code);
}

/* Gives all connections room for a message of so many bytes. Not only that of the receiver: which one it is libpvm does not
 * tell. The first message to a task begins before there is a connection, and is sent without. A failure does no harm. */
static void make_room(provider *p, uint64_t bytes)
{
    const int want = bytes < MOST_ROOM ? MAX((int)(bytes + bytes / 4), LEAST_ROOM) : MOST_ROOM;
    int *fds, n = pvm_getfds(&fds);
    for (int i = 1; i < n; i++) { /* the first leads to the daemon */
        if ((guint)fds[i] >= p->room->len)
            g_array_set_size(p->room, (guint)fds[i] + 1);
        int *have = &g_array_index(p->room, int, fds[i]);
        if (*have >= want)
            continue;
        setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &want, sizeof want);
        setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &want, sizeof want);
        *have = want;
    }
}

/* Writes the length of the data and the head to `front`, and short data behind them. Returns the number of bytes written; *left:
 * the bytes of data that are still to be sent. */
static int fill_front(uint8_t front[FRONT], const dome_packet *packet, uint64_t *left)
{
    const uint64_t bytes = packet->bytes;
    const size_t before = sizeof bytes + packet->head_bytes;
    dome__put_u64(front, bytes);
    memcpy(front + sizeof bytes, packet->head, packet->head_bytes);
    *left = bytes;
    if (bytes == 0 || bytes > FRONT - sizeof bytes - MOST_HEAD)
        return (int)before;
    memcpy(front + before, packet->data, bytes);
    *left = 0;
    return (int)(before + bytes);
}

/* libpvm gives the kernel the data where they lie. */
static bool goes_in_place(const dome_transport *t, const void *data, int bytes)
{
    return bytes >= IN_PLACE && !(t->is_ruled && t->is_ruled(data, (size_t)bytes));
}

static int pvm_transport_send(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    provider *p = self->state;
    const char *at = packet->data;
    uint8_t front[FRONT]; /* packed by one call: PVM writes each piece that is packed in place by itself */
    if (packet->head_bytes > MOST_HEAD)
        return dome__transport_error(self->transport, DOME_ERR_COMM, "a message's head of %zu bytes is too long",
                                     packet->head_bytes);
    uint64_t left;
    const int in_front = fill_front(front, packet, &left);
    int code = 0;
    const bool can_leave = dome__transport_can_leave();
    bool left_off = false;
    dome__transport_may_send();
    enter(p);
    if (packet->bytes > NARROW)
        make_room(p, packet->bytes);
    if (can_leave)
        dome__pvm_send_begins();
    for (bool first = true; first || left; first = false) {
        int piece = (int)MIN(left, (uint64_t)PIECE);
        pvm_initsend(goes_in_place(self->transport, at, piece) ? PvmDataInPlace : PvmDataRaw);
        if (first)
            code = pvm_pkbyte((char *)front, in_front, 1);
        if (code >= 0 && piece)
            code = pvm_pkbyte(dome__unconst(at), piece, 1);
        const int tag = coming_tag(self->transport->account.given, dest, channel);
        dome__account_give(&self->transport->account, dest, channel);
        if (code >= 0)
            code = pvm_send(p->tids[dest], tag);
        if (code < 0)
            break;
        at = piece ? at + piece : at; /* data may be NULL if there are no bytes */
        left -= (uint64_t)piece;
    }
    if (can_leave)
        left_off = dome__pvm_send_ends();
    leave(p);
    if (left_off) /* it asks to leave: does not return */
        dome__transport_may_leave();
    return code < 0 ? failed(self, dest, "send to", code) : DOME_OK;
}

static void pvm_transport_rouse(dome_transport_provider *self)
{
    (void)self;
    dome__pvm_rouse();
}

static bool pvm_transport_arrived(dome_transport_provider *self, int source, int channel)
{
    provider *p = self->state;
    enter(p);
    int found = source < 0 ? pvm_probe(-1, TAG - 1)
                           : pvm_probe(p->tids[source], coming_tag(self->transport->account.taken, source, channel));
    leave(p);
    return found != 0; /* true on an error, too: receiving will report it */
}

typedef struct piece_from {
    dome_transport_provider *self;
    int source, channel;
} piece_from;

static bool piece_has_arrived(void *ctx)
{
    const piece_from *f = ctx;
    return pvm_transport_arrived(f->self, f->source, f->channel);
}

/* Any piece may be the one that does not come: a task that is lost had perhaps sent those before. */
static int next_piece(dome_transport_provider *self, int source, int channel)
{
    provider *p = self->state;
    if (dome__transport_can_leave()) /* pvm_recv cannot be left */
        dome__poll_until(self, channel, piece_has_arrived, &(piece_from){self, source, channel});
    enter(p);
    int buffer = pvm_recv(p->tids[source], coming_tag(self->transport->account.taken, source, channel)), bytes = 0, tag, from;
    dome__account_take(&self->transport->account, source, channel);
    if (buffer > 0)
        pvm_bufinfo(buffer, &bytes, &tag, &from);
    p->front_at = 0;
    p->front_bytes = MIN(bytes, FRONT);
    if (p->front_bytes > 0 && pvm_upkbyte((char *)p->front, p->front_bytes, 1) < 0)
        p->front_bytes = bytes = 0;
    leave(p);
    if (buffer < 0)
        return failed(self, source, "receive from", buffer);
    p->in_buffer = bytes;
    dome__account_progress(&self->transport->account);
    return DOME_OK;
}

/* Unpacks bytes of the current PVM message. Writes to no connection, so SIGPIPE need not be blocked. */
static bool unpack(provider *p, void *to, int bytes)
{
    if (p->in_buffer < bytes)
        return false;
    const int n = MIN(bytes, p->front_bytes - p->front_at);
    memcpy(to, p->front + p->front_at, (size_t)n);
    p->front_at += n;
    p->in_buffer -= bytes;
    if (n == bytes)
        return true;
    int before = pvm_setrbuf(own_receive), code = pvm_upkbyte((char *)to + n, bytes - n, 1);
    pvm_setrbuf(before);
    return code >= 0;
}

static int pvm_transport_recv_head(dome_transport_provider *self, int source, int channel, void *head, size_t head_bytes,
                                   uint64_t *bytes)
{
    provider *p = self->state;
    int status = next_piece(self, source, channel);
    if (status)
        return status;
    uint8_t length[sizeof *bytes];
    if (!unpack(p, length, sizeof length) || !unpack(p, head, (int)head_bytes))
        return dome__transport_error(self->transport, DOME_ERR_COMM, "a message from task %d is shorter than its head", source);
    p->left = *bytes = dome__get_u64(length);
    return DOME_OK;
}

static int pvm_transport_recv_data(dome_transport_provider *self, int source, int channel, void *data, uint64_t bytes)
{
    provider *p = self->state;
    char *at = data;
    if (bytes != p->left)
        return dome__transport_error(self->transport, DOME_ERR_COMM,
                                     "a message from task %d has another length than is to be received", source);
    while (p->left) {
        if (!p->in_buffer) {
            int status = next_piece(self, source, channel);
            if (status)
                return status;
        }
        int piece = p->in_buffer;
        if (piece <= 0 || (uint64_t)piece > p->left || !unpack(p, at, piece))
            return dome__transport_error(self->transport, DOME_ERR_COMM, "a message from task %d is damaged", source);
        at += piece;
        p->left -= (uint64_t)piece;
    }
    return DOME_OK;
}

static int pvm_transport_descriptors(dome_transport_provider *self, const int **fds)
{
    provider *p = self->state;
    int *list = NULL;
    enter(p);
    int n = pvm_getfds(&list);
    leave(p);
    *fds = list;
    return MAX(n, 0);
}

/* libpvm makes the closing of a connection wait until the other end has all data: of a host that was cut off it would wait for
 * long. What was under way when a task leaves a view is sent again in the next one. */
static void close_at_once(void)
{
    const struct linger none = {0};
    int *fds, n = pvm_getfds(&fds);
    for (int i = 1; i < n; i++) /* the first leads to the daemon */
        setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

/* The daemon does not hear either that this task ends. It would tell the daemons of all hosts to which this task was connected,
 * and while one of them does not answer, messages to the others take seconds. Messages that have arrived are freed here, because
 * libpvm would not free them. */
static void leave_quietly(const provider *p)
{
    close_at_once();
    if (!dome__pvm_cut_off())
        return;
    pvm_setcontext(p->context);
    while (pvm_recv(-1, -1) > 0)
        continue;
}

static void pvm_transport_close(dome_transport_provider *self)
{
    provider *p = self->state;
    dome__pvm_enter();
    if (dome__transport_asks_to_leave())
        leave_quietly(p);
    give_buffers_back();
    enrolled = false;
    if (own_send > 0)
        pvm_freebuf(own_send);
    if (own_receive > 0)
        pvm_freebuf(own_receive);
    own_send = own_receive = 0;
    pvm_exit();
    dome__pvm_forget_cut();
    dome__pvm_leave();
    g_free(p->tids);
    g_array_free(p->room, TRUE);
    g_free(p);
}

/* Keeps no pointer to members. */
static dome_transport *pvm_transport_open(const dome_members *members)
{
    provider *p = g_new0(provider, 1);
    p->tids = g_memdup2(members->ids, (gsize)members->size * sizeof *members->ids);
    p->context = members->context;
    p->room = g_array_new(FALSE, TRUE, sizeof(int));
    dome_transport *t = dome__transport_new(&dome__transport_pvm, p, members->rank, members->size);
    dome__account_count(&t->account, members->size);
    dome__pvm_leave(); /* entered when this process enrolled */
    for (int r = 1; r < members->size; r++)
        if (members->formats[r] != members->formats[0] && !t->group.data_format)
            dome__group_set_formats(&t->group, members->formats);
    return t;
}

const dome_transport_ops dome__transport_pvm = {
    .size = sizeof(dome_transport_ops),
    .name = "pvm",
    .can = DOME_TRANSPORT_LISTEN | DOME_TRANSPORT_PROBE,
    .open = pvm_transport_open,
    .send = pvm_transport_send,
    .recv_head = pvm_transport_recv_head,
    .recv_data = pvm_transport_recv_data,
    .arrived = pvm_transport_arrived,
    .descriptors = pvm_transport_descriptors,
    .rouse = pvm_transport_rouse,
    .close = pvm_transport_close,
};
