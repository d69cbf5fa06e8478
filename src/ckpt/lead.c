/* Rank 0 if all tasks share a directory: one file, to which all tasks write. */
#include "ckpt/deltas.h"
#include "ckpt/writer_private.h"

/* If at least this fraction of the copied blocks has changed, the next checkpoint is written eagerly. */
static const double MOSTLY = 0.9;

typedef struct lead {
    dome_ckpt_leader all;
    dome_ckpt_output output; /* its file is set once it exists */
    uint64_t file_bytes;     /* the length for which it has room */
    dome_ckpt_snapshot deltas;
} lead;

/* A checkpoint of deltas has at most this part of the bytes of one with whole blocks, and its chain of those of all data. */
enum { DELTAS_PART = 2 };

/* Sends every task the offsets of its blocks, if they are known, or tells it that the checkpoint is given up. */
static void send_offsets(lead *l, bool known)
{
    dome_ckpt_job *job = l->all.job;
    for (int rank = 1; rank < l->all.link->size; rank++) {
        bool going = !l->all.problem;
        GArray *offsets = going && known ? dome__ckpt_leader_offsets(&l->all, rank) : NULL;
        const bool deltas = known ? job->ckpt->windows != NULL : l->all.segments != NULL;
        const dome_ckpt_places places = {.number = going ? job->ckpt->number : 0,
                                         .deltas = deltas ? job->previous->number : 0,
                                         .known = offsets != NULL,
                                         .offsets = offsets};
        GByteArray *m = g_byte_array_new();
        dome__ckpt_put_places(m, &places);
        l->all.writes[rank] = dome__ckpt_leader_send(&l->all, rank, m) && going;
        if (offsets)
            g_array_unref(offsets);
    }
}

static void take_own_offsets(lead *l)
{
    GArray *offsets = dome__ckpt_leader_offsets(&l->all, 0);
    const dome_ckpt_snapshot *of = l->all.job->ckpt->windows ? &l->deltas : l->all.job->snapshot;
    for (guint i = 0; i < offsets->len; i++)
        g_array_index(of->blocks, dome_ckpt_block, i).offset = g_array_index(offsets, uint64_t, i);
    l->output.snapshot = of;
    g_array_unref(offsets);
}

/* Makes a plan before checksums are known, in which no copied block equals one of the checkpoint before: all of them are
 * written. An error here is found again, and reported, with the final plan. */
static void begin_early(lead *l)
{
    dome_ckpt_job *job = l->all.job;
    char *message = NULL;
    if (!job->eager || l->all.segments || l->all.problem)
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

/* Whether the planned checkpoint of deltas is much shorter than one with whole blocks. */
static bool deltas_pay(const lead *l, uint64_t whole_bytes)
{
    const dome_ckpt *ckpt = l->all.job->ckpt;
    uint64_t data = 0;
    for (uint64_t i = 0; i < ckpt->entries; i++)
        data += ckpt->table[i].length;
    return ckpt->file_bytes <= whole_bytes / DELTAS_PART && dome__ckpt_chain_bytes(ckpt) <= data / DELTAS_PART;
}

/* Plans one with whole blocks, and one of deltas instead if that pays. */
static bool plan_either(lead *l)
{
    dome_ckpt_job *job = l->all.job;
    if (!dome__ckpt_plan(job->ckpt, job->previous, &l->all.problem))
        return false;
    job->mostly_same = mostly_same(l);
    if (!l->all.segments || !l->all.made)
        return true;
    char *message = NULL;
    const uint64_t whole_bytes = job->ckpt->file_bytes;
    if (dome__ckpt_plan_deltas(job->ckpt, job->previous, l->all.segments, &message) && deltas_pay(l, whole_bytes))
        return true;
    g_free(message);
    return dome__ckpt_plan(job->ckpt, job->previous, &l->all.problem);
}

static void plan(lead *l)
{
    dome_ckpt_job *job = l->all.job;
    if (job->uncompared && l->output.fd >= 0) /* the early plan holds */
        return;
    if (!plan_either(l))
        return;
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

/* Copies a block. Where deltas of another run belong to it, its checksum is known only now. */
static void copy_block(lead *l, earlier *e, const dome_ckpt_object *object, uint64_t block, dome_ckpt_entry *entry)
{
    if (!open_earlier(l, e)) {
        l->all.job->previous_damaged = true;
        return;
    }
    if (!make_room(l, e, entry->length))
        return;
    const dome_ckpt_object *old = dome__ckpt_find(dome__ckpt_head(e->file), object->name);
    if (old && dome__ckpt_read(e->file, old, block, e->buffer, &l->all.problem)) {
        entry->sum = dome__checksum(e->buffer, (size_t)entry->length);
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
            dome_ckpt_entry *entry = dome__ckpt_entry(ckpt, object, b);
            if (!l->all.copied[object->first_entry + b] && entry->source == ckpt->number && entry->length > 0)
                copy_block(l, &e, object, b, entry);
        }
    }
    g_free(e.buffer);
    dome__ckpt_close(e.file);
}

/* ---- the whole job ---- */

/* Decides whether to try deltas, and tells the other tasks to make theirs. */
static void want_deltas(lead *l)
{
    dome_ckpt_job *job = l->all.job;
    job->tried_deltas =
        !l->all.problem && job->deltas && !job->full && job->previous && dome__ckpt_takes_deltas(job->ckpt, job->previous);
    if (!job->tried_deltas)
        return;
    l->all.segments = g_new0(dome_ckpt_segment, job->ckpt->entries + 1);
    for (uint64_t i = 0; i < job->ckpt->entries; i++)
        l->all.segments[i].bytes = DOME_CKPT_SAME;
}

static void make_deltas(lead *l)
{
    const dome_ckpt_job *job = l->all.job;
    char *path = dome__ckpt_file_path(job->directory, job->previous->number, 0, 0);
    dome__ckpt_make_deltas(&l->deltas, job->snapshot, path, NULL, NULL);
    g_free(path);
}

/* From sending the first offsets, or that none are known yet, until all blocks are written. */
static void write_all(lead *l)
{
    dome_ckpt_job *job = l->all.job;
    dome__ckpt_output_convert(&l->output, job->snapshot, &l->all.problem);
    if (l->all.segments)
        make_deltas(l);
    dome__ckpt_leader_gather_sums(&l->all, &l->deltas);
    if (!l->all.problem)
        plan(l);
    send_offsets(l, true);
    if (!l->all.problem)
        dome__ckpt_output_write(&l->output, &l->all.problem);
    if (!l->all.problem && !job->ckpt->windows)
        copy_from_earlier(l);
    job->cost = dome__ckpt_processor_seconds() - l->all.began;
    dome__ckpt_leader_wait(&l->all);
}

void dome__ckpt_lead(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    lead l = {.output = dome__ckpt_output_begin(link, job->snapshot)};
    dome__ckpt_snapshot_init(&l.deltas);
    dome__ckpt_leader_begin(&l.all, job, link);
    dome__ckpt_leader_gather(&l.all);
    want_deltas(&l);
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
        if (job->ckpt->windows)
            dome__ckpt_inherit(job->ckpt, job->previous, l.all.segments); /* for the one after it */
        dome__ckpt_leader_conclude(&l.all);
    }
    dome__ckpt_snapshot_free(&l.deltas);
    dome__ckpt_leader_end(&l.all);
}
