/* Writes the blocks of a snapshot into a file. */
#include "ckpt/writer_private.h"

#include <time.h>

/* Bytes per write: the disk writes them while the next blocks are converted. */
static const uint64_t WRITE_BYTES = 8 << 20;

double dome__ckpt_processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool dome__ckpt_send(const dome_ckpt_link *link, int to, GByteArray *message, char **problem)
{
    char *text = NULL;
    bool good = link->send(link->ctx, to, message->data, message->len, &text);
    g_byte_array_unref(message);
    dome__ckpt_note(problem, text);
    return good;
}

void dome__ckpt_note(char **first, char *problem)
{
    if (problem && *first)
        g_free(problem);
    else if (problem)
        *first = problem;
}

dome_ckpt_output dome__ckpt_output_begin(const dome_ckpt_link *link, const dome_ckpt_snapshot *snapshot)
{
    return (dome_ckpt_output){
        .link = link, .snapshot = snapshot, .fd = -1, .progress = dome__store_progress(), .told = g_get_monotonic_time()};
}

void dome__ckpt_output_news(void *output)
{
    enum { EVERY = G_USEC_PER_SEC };
    dome_ckpt_output *o = output;
    gint64 now = g_get_monotonic_time();
    unsigned progress = dome__store_progress();
    if (o->link->rank == 0 || now - o->told < EVERY || progress == o->progress)
        return;
    o->told = now;
    o->progress = progress;
    char *lost = NULL; /* the last message reports this, too */
    GByteArray *m = g_byte_array_new();
    dome__ckpt_put_word(m, progress);
    dome__ckpt_send(o->link, 0, m, &lost);
    g_free(lost);
}

static void flush(dome_ckpt_output *o, char **message)
{
    for (uint64_t done = 0, n; done < o->bytes && !*message; done += n) {
        n = MIN(o->bytes - done, WRITE_BYTES);
        dome__store_write(o->fd, o->snapshot->buffer + o->at + done, n, o->offset + done, message);
        dome__ckpt_output_news(o);
    }
    o->bytes = 0;
}

static void add(dome_ckpt_output *o, const dome_ckpt_block *b, char **message)
{
    bool follows = o->bytes > 0 && b->at == o->at + o->bytes && b->offset == o->offset + o->bytes;
    if (!follows || o->bytes >= WRITE_BYTES) {
        flush(o, message);
        o->at = b->at;
        o->offset = b->offset;
    }
    o->bytes += b->bytes;
}

/* ---- while blocks are converted ---- */

typedef struct early {
    dome_ckpt_output *output;
    char **message;
} early;

static void write_early(void *ctx, dome_ckpt_block *b)
{
    early *e = ctx;
    if (b->offset == 0 || b->bytes == 0 || *e->message)
        return;
    add(e->output, b, e->message);
    b->early = b->offset;
}

void dome__ckpt_output_convert(dome_ckpt_output *output, dome_ckpt_snapshot *snapshot, char **message)
{
    early e = {output, message};
    dome__ckpt_snapshot_convert(snapshot, output->fd >= 0 ? write_early : NULL, &e);
    flush(output, message);
}

/* ---- afterwards ---- */

void dome__ckpt_output_write(dome_ckpt_output *output, char **message)
{
    for (guint i = 0; i < output->snapshot->blocks->len && !*message; i++) {
        const dome_ckpt_block *b = &g_array_index(output->snapshot->blocks, dome_ckpt_block, i);
        if (b->offset != 0 && b->bytes != 0 && b->offset != b->early)
            add(output, b, message);
    }
    flush(output, message);
}

bool dome__ckpt_output_wanted(const dome_ckpt_output *output)
{
    for (guint i = 0; i < output->snapshot->blocks->len; i++)
        if (g_array_index(output->snapshot->blocks, dome_ckpt_block, i).offset > 0)
            return true;
    return false;
}
