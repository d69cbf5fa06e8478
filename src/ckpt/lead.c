/* Rank 0 if all tasks share a directory: one file, to which all tasks write. */
#include "ckpt/writer_private.h"

/* If at least this fraction of the copied blocks has changed, the next checkpoint is written eagerly. */
static const double MOSTLY = 0.9;

typedef struct lead {
    dome_ckpt_leader all;
    dome_ckpt_output output; /* its file is set once it exists */
    uint64_t file_bytes;     /* the length for which it has room */
} lead;

/* Sends every task the offsets of its blocks, if they are known, or tells it that the checkpoint is given up. */
static void send_offsets(lead *l, bool known)
{
    dome_ckpt_job *job = l->all.job;
    for (int rank = 1; rank < l->all.link->size; rank++) {
        bool going = !l->all.problem;
        GArray *offsets = going && known ? dome__ckpt_leader_offsets(&l->all, rank) : NULL;
        GByteArray *m = g_byte_array_new();
        dome__ckpt_put_offsets(m, going ? job->ckpt->number : 0, offsets);
        l->all.writes[rank] = dome__ckpt_leader_send(&l->all, rank, m) && going;
        if (offsets)
            g_array_unref(offsets);
    }
}

static void take_own_offsets(lead *l)
{
    GArray *offsets = dome__ckpt_leader_offsets(&l->all, 0);
    for (guint i = 0; i < offsets->len; i++)
        g_array_index(l->all.job->snapshot->blocks, dome_ckpt_block, i).offset = g_array_index(offsets, uint64_t, i);
    g_array_unref(offsets);
}

/* Makes a plan before checksums are known, in which no copied block equals one of the checkpoint before: all of them are
 * written. An error here is found again, and reported, with the final plan. */
static void begin_early(lead *l)
{
    dome_ckpt_job *job = l->all.job;
    char *message = NULL;
    if (!job->eager || l->all.problem)
        return;
    if (dome__ckpt_plan(job->ckpt, job->previous, &message))
        l->output.fd = dome__store_create(job->directory, job->ckpt, &message);
    g_free(message);
    l->file_bytes = job->ckpt->file_bytes;
    if (l->output.fd >= 0)
        take_own_offsets(l);
}

static bool mostly_same(const lead *l)
{
    const dome_ckpt *ckpt = l->all.job->ckpt;
    double copied = 0, written = 0;
    for (uint64_t i = 0; i < ckpt->entries; i++) {
        if (!l->all.copied[i])
            continue;
        copied += (double)ckpt->table[i].length;
        written += ckpt->table[i].source == ckpt->number ? (double)ckpt->table[i].length : 0;
    }
    return written < MOSTLY * copied;
}

static void plan(lead *l)
{
    dome_ckpt_job *job = l->all.job;
    if (!dome__ckpt_plan(job->ckpt, job->previous, &l->all.problem))
        return;
    job->mostly_same = mostly_same(l);
    if (l->output.fd < 0)
        l->output.fd = dome__store_create(job->directory, job->ckpt, &l->all.problem);
    else if (job->ckpt->file_bytes != l->file_bytes)
        dome__store_resize(l->output.fd, job->ckpt->file_bytes, &l->all.problem);
    take_own_offsets(l);
}

/* ---- blocks of earlier files ---- */

typedef struct earlier {
    dome_ckpt_file *file; /* the previous checkpoint; NULL: not opened yet */
    char *buffer;
    uint64_t room;
} earlier;

static bool open_earlier(lead *l, earlier *e)
{
    const dome_ckpt_job *job = l->all.job;
    if (e->file)
        return true;
    char *path = dome__ckpt_file_path(job->directory, job->previous->number, job->previous->piece, job->previous->pieces);
    e->file = dome__ckpt_open(path, &l->all.problem);
    g_free(path);
    return e->file != NULL;
}

static bool make_room(lead *l, earlier *e, uint64_t bytes)
{
    if (bytes <= e->room)
        return true;
    g_free(e->buffer);
    e->buffer = bytes <= G_MAXSIZE ? g_try_malloc((gsize)bytes) : NULL;
    e->room = e->buffer ? bytes : 0;
    if (!e->buffer)
        dome__ckpt_note(&l->all.problem, g_strdup("there is no memory for a block"));
    return e->buffer != NULL;
}

static void copy_block(lead *l, earlier *e, const dome_ckpt_object *object, uint64_t block, const dome_ckpt_entry *entry)
{
    if (!open_earlier(l, e)) {
        l->all.job->previous_damaged = true;
        return;
    }
    if (!make_room(l, e, entry->length))
        return;
    const dome_ckpt_object *old = dome__ckpt_find(dome__ckpt_head(e->file), object->name);
    if (old && dome__ckpt_read(e->file, old, block, e->buffer, &l->all.problem)) {
        dome__store_write(l->output.fd, e->buffer, entry->length, entry->offset, &l->all.problem);
    } else {
        dome__ckpt_note(&l->all.problem, g_strdup("the checkpoint before is another one than it was"));
        l->all.job->previous_damaged = true;
    }
}

/* Copies blocks out of those earlier files that are used for little else, so that the files can be removed. */
static void copy_from_earlier(lead *l)
{
    const dome_ckpt *ckpt = l->all.job->ckpt;
    earlier e = {0};
    for (guint i = 0; i < ckpt->objects->len && !l->all.problem; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i);
        for (uint64_t b = 0; b < object->blocks && !l->all.problem; b++) {
            const dome_ckpt_entry *entry = dome__ckpt_entry(ckpt, object, b);
            if (!l->all.copied[object->first_entry + b] && entry->source == ckpt->number && entry->length > 0)
                copy_block(l, &e, object, b, entry);
        }
    }
    g_free(e.buffer);
    dome__ckpt_close(e.file);
}

/* ---- the whole job ---- */

/* From sending the first offsets, or that none are known yet, until all blocks are written. */
static void write_all(lead *l)
{
    dome_ckpt_job *job = l->all.job;
    dome__ckpt_output_convert(&l->output, job->snapshot, &l->all.problem);
    dome__ckpt_leader_gather_sums(&l->all);
    if (!l->all.problem)
        plan(l);
    send_offsets(l, true);
    if (!l->all.problem)
        dome__ckpt_output_write(&l->output, &l->all.problem);
    if (!l->all.problem)
        copy_from_earlier(l);
    job->cost = dome__ckpt_processor_seconds() - l->all.began;
    dome__ckpt_leader_wait(&l->all);
}

void dome__ckpt_lead(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    lead l = {.output = dome__ckpt_output_begin(link, job->snapshot)};
    dome__ckpt_leader_begin(&l.all, job, link);
    dome__ckpt_leader_gather(&l.all);
    begin_early(&l);
    bool going = !l.all.problem;
    send_offsets(&l, l.output.fd >= 0);
    if (going)
        write_all(&l);
    if (l.output.fd >= 0 && !l.all.problem)
        job->written = dome__store_commit(job->directory, job->ckpt, l.output.fd, &l.all.problem);
    else if (l.output.fd >= 0)
        dome__store_abandon(job->directory, job->ckpt, l.output.fd);
    if (job->written) {
        job->data_bytes = dome__ckpt_data_bytes(job->ckpt);
        dome__ckpt_leader_conclude(&l.all);
    }
    dome__ckpt_leader_end(&l.all);
}
