/* A task's part of a checkpoint where hosts have pieces: its blocks go into its group's piece, and copies of them into the next
 * group's; the leader of a group makes the piece, and writes the copies of the group before.
 *
 *   rank 0                       leaders of groups                 others
 *   plans each piece  ------->   make the file, confirm
 *                     ----------------------------------------->   get their offsets
 *                                write their blocks and send copies to the next group's leader, which writes them; fsync; confirm
 *   all is written    ------->   give the file its name, confirm
 *   all have named it ------->   remove files that are not needed any more */
#include "ckpt/writer_private.h"

#include "system/thread.h"
#include "system/time.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

/* Bytes of one message with copies. */
static const uint64_t COPY_MOST = (uint64_t)8 << 20;

struct dome_ckpt_part {
    dome_ckpt_job *job;
    const dome_ckpt_link *link;
    dome_ckpt_order_kind order;
    dome_ckpt *head; /* leader: the head of its piece */
    GArray *copies;  /* by block of the snapshot: its offset in the next group's piece; 0: none */
    dome_ckpt_output output;
    bool receiving;
    pthread_t receiver;
    char *problem, *copy_problem;
    double began;
};

dome_ckpt_part *dome__ckpt_part_new(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    dome_ckpt_part *p = g_new0(dome_ckpt_part, 1);
    p->job = job;
    p->link = link;
    p->copies = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    p->output = dome__ckpt_output_begin(link, job->snapshot);
    p->began = dome__ckpt_processor_seconds();
    dome__ckpt_snapshot_fetch(job->snapshot);
    return p;
}

void dome__ckpt_part_free(dome_ckpt_part *p)
{
    dome__ckpt_free(p->head);
    g_array_unref(p->copies);
    g_free(p->problem);
    g_free(p);
}

char **dome__ckpt_part_problem(dome_ckpt_part *p)
{
    return &p->problem;
}

bool dome__ckpt_part_leads(const dome_ckpt_part *p)
{
    return dome__ckpt_leads_group(p->job->pieces, p->link->rank);
}

/* ---- copies ---- */

/* Receives copies from one task, until the last. False if the task is gone. */
static bool receive_from(dome_ckpt_part *p, int from)
{
    const dome_ckpt_link *in = &p->job->pieces->in;
    for (;;) {
        void *data;
        uint64_t bytes;
        char *message = NULL;
        if (!in->receive(in->ctx, from, &data, &bytes, &message)) {
            dome__ckpt_note(&p->copy_problem, message);
            return false;
        }
        dome_bytes message_bytes = dome__bytes_of(data, bytes);
        dome_ckpt_copy copy;
        bool good = dome__ckpt_get_copy(&message_bytes, &copy);
        if (!good)
            dome__ckpt_note(&p->copy_problem, g_strdup("a copy of blocks is damaged on its way"));
        else if (copy.bytes > 0 && p->output.fd >= 0 && !p->copy_problem)
            dome__store_write(p->output.fd, copy.data, copy.bytes, copy.offset, &p->copy_problem);
        g_free(data);
        if (!good || copy.bytes == 0)
            return good;
    }
}

/* Receives the copies of all tasks of the group before. */
static void *receive_copies(void *argument)
{
    dome_ckpt_part *p = argument;
    for (int from = 1; from < p->job->pieces->in.size; from++)
        receive_from(p, from);
    return NULL;
}

static bool send_copy(dome_ckpt_part *p, const void *data, uint64_t bytes, uint64_t offset)
{
    const dome_ckpt_copy copy = {offset, bytes, data};
    GByteArray *m = g_byte_array_new();
    dome__ckpt_put_copy(m, &copy);
    return dome__ckpt_send(&p->job->pieces->out, 0, m, &p->problem);
}

void dome__ckpt_part_end_copies(dome_ckpt_part *p)
{
    send_copy(p, NULL, 0, 0);
}

static void send_copies(dome_ckpt_part *p)
{
    const dome_ckpt_snapshot *snapshot = p->job->snapshot;
    bool good = true;
    for (guint i = 0; p->order == DOME_CKPT_WRITE && good && i < snapshot->blocks->len; i++) {
        const dome_ckpt_block *b = &g_array_index(snapshot->blocks, dome_ckpt_block, i);
        uint64_t offset = i < p->copies->len ? g_array_index(p->copies, uint64_t, i) : 0;
        for (uint64_t done = 0, n; offset > 0 && good && done < b->bytes; done += n) {
            n = MIN(b->bytes - done, COPY_MOST);
            good = send_copy(p, snapshot->buffer + b->at + done, n, offset + done);
            dome__store_got_on();
            dome__ckpt_output_news(&p->output);
        }
    }
    if (good)
        dome__ckpt_part_end_copies(p);
}

/* ---- the order ---- */

/* Takes the pairs of offsets from the message, one pair for each block. */
static bool take_offsets(dome_ckpt_part *p, const GArray *offsets)
{
    const GArray *blocks = p->job->snapshot->blocks;
    if (offsets->len != 2 * blocks->len)
        return false;
    for (guint i = 0; i < blocks->len; i++) {
        g_array_index(blocks, dome_ckpt_block, i).offset = g_array_index(offsets, uint64_t, 2 * i);
        g_array_append_val(p->copies, g_array_index(offsets, uint64_t, 2 * i + 1));
    }
    return true;
}

static void open_piece(dome_ckpt_part *p, const dome_ckpt_order *order)
{
    const dome_ckpt_pieces *pieces = p->job->pieces;
    if (!dome__ckpt_part_leads(p)) {
        dome_ckpt name = {.number = order->number, .pieces = (uint32_t)pieces->count};
        name.piece = (uint32_t)pieces->group[p->link->rank] + 1;
        p->output.fd = dome__store_join(p->job->directory, &name, &p->problem);
        return;
    }
    p->head = dome__ckpt_decode(order->head, order->head_bytes, order->file_bytes, &p->problem);
    if (p->head)
        p->output.fd = dome__store_create(p->job->directory, p->head, &p->problem);
}

dome_ckpt_order_kind dome__ckpt_part_take_order(dome_ckpt_part *p, const void *data, uint64_t bytes)
{
    dome_bytes from = dome__bytes_of(data, bytes);
    dome_ckpt_order order;
    bool good = dome__ckpt_get_order(&from, &order);
    p->order = order.kind;
    if (!good || (order.kind == DOME_CKPT_WRITE && !take_offsets(p, order.offsets)))
        dome__ckpt_note(&p->problem, g_strdup("the offsets of blocks are missing"));
    else if (order.kind == DOME_CKPT_WRITE)
        open_piece(p, &order);
    g_array_unref(order.offsets);
    if (dome__ckpt_part_leads(p) && p->order != DOME_CKPT_NOTHING) {
        p->receiving = dome__thread_start(&p->receiver, receive_copies, p) == 0;
        if (!p->receiving)
            dome__ckpt_note(&p->problem, g_strdup("no thread can be started for copies"));
    }
    return p->order;
}

/* ---- writing ---- */

/* Waits for the thread to end, and sends news of its progress. */
static void join_receiver(dome_ckpt_part *p)
{
    int joined;
    do {
        const struct timespec until = dome__in_ns(1000000000);
        joined = pthread_clockjoin_np(p->receiver, NULL, CLOCK_MONOTONIC, &until);
        dome__ckpt_output_news(&p->output);
    } while (joined == ETIMEDOUT);
    dome__ckpt_note(&p->problem, g_steal_pointer(&p->copy_problem));
}

void dome__ckpt_part_write(dome_ckpt_part *p)
{
    if (p->order == DOME_CKPT_WRITE && !p->problem)
        dome__ckpt_output_write(&p->output, &p->problem);
    if (p->order != DOME_CKPT_NOTHING)
        send_copies(p);
    if (p->receiving)
        join_receiver(p);
    if (p->output.fd >= 0 && !p->problem)
        dome__store_sync(p->output.fd, dome__ckpt_output_news, &p->output, &p->problem);
    p->job->seconds = dome__ckpt_processor_seconds() - p->began;
}

void dome__ckpt_part_end(dome_ckpt_part *p, bool commit)
{
    int fd = p->output.fd;
    p->output.fd = -1;
    if (fd < 0)
        return;
    if (!dome__ckpt_part_leads(p))
        close(fd);
    else if (commit)
        dome__store_commit(p->job->directory, p->head, fd, &p->problem);
    else
        dome__store_abandon(p->job->directory, p->head, fd);
}
