/* Rank 0's side of a job: receiving the tasks' messages, and filling the table. */
#include "ckpt/writer_private.h"

#include <inttypes.h>

static void note_lost(dome_ckpt_leader *l, char *problem)
{
    l->job->lost = !l->link->altered(l->link->ctx);
    dome__ckpt_note(&l->problem, problem);
}

void dome__ckpt_leader_begin(dome_ckpt_leader *l, dome_ckpt_job *job, const dome_ckpt_link *link)
{
    *l = (dome_ckpt_leader){.job = job, .link = link, .began = dome__ckpt_processor_seconds()};
    dome__ckpt_snapshot_fetch(job->snapshot);
    dome__ckpt_make_table(job->ckpt);
    l->copied = g_malloc0(job->ckpt->entries + 1);
    l->claims = g_new0(GArray *, link->size);
    l->writes = g_new0(bool, link->size);
    for (int rank = 0; rank < link->size; rank++)
        l->claims[rank] = g_array_new(FALSE, FALSE, sizeof(dome_ckpt_claim));
}

void dome__ckpt_leader_end(dome_ckpt_leader *l)
{
    l->job->seconds = dome__ckpt_processor_seconds() - l->began;
    l->job->cost = MAX(l->job->cost, l->job->seconds);
    l->job->message = l->problem;
    for (int rank = 0; rank < l->link->size; rank++)
        g_array_unref(l->claims[rank]);
    g_free(l->claims);
    g_free(l->writes);
    g_free(l->copied);
    g_free(l->segments);
}

/* ---- the tasks' blocks ---- */

static bool take_run(dome_ckpt_leader *l, int rank, const dome_ckpt_run *run, const uint64_t *bytes)
{
    dome_ckpt *ckpt = l->job->ckpt;
    const dome_ckpt_object *object = dome__ckpt_object(ckpt, run->object);
    if (!object || run->first > object->blocks || run->count > object->blocks - run->first)
        return false;
    for (uint64_t k = 0; k < run->count; k++) {
        dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, run->first + k);
        if (object->fixed && e->length != bytes[k])
            return false;
        e->length = bytes[k];
        l->copied[object->first_entry + run->first + k] = 1;
    }
    dome_ckpt_claim claim = {object->first_entry + run->first, run->count};
    g_array_append_val(l->claims[rank], claim);
    return true;
}

static void take_held(dome_ckpt_leader *l, int rank, const void *data, uint64_t bytes)
{
    dome_bytes from = dome__bytes_of(data, bytes);
    dome_ckpt_held held;
    bool fits = dome__ckpt_get_held(&from, &held);
    dome__ckpt_note(&l->problem, g_steal_pointer(&held.problem));
    for (guint i = 0; fits && i < held.runs->len; i++) {
        const dome_ckpt_run *run = &g_array_index(held.runs, dome_ckpt_run, i);
        fits = take_run(l, rank, run, (const uint64_t *)(const void *)held.bytes->data + run->blocks);
    }
    if (!fits)
        dome__ckpt_note(&l->problem, g_strdup_printf("what task %d has does not fit the description of the state", rank));
    dome__ckpt_held_clear(&held);
}

/* A block that no task has copied keeps its length and checksum. */
static void fill_unchanged_block(dome_ckpt_leader *l, const dome_ckpt_object *object, const dome_ckpt_object *old, uint64_t block)
{
    dome_ckpt_entry *e = dome__ckpt_entry(l->job->ckpt, object, block);
    const dome_ckpt_entry *o = old ? dome__ckpt_entry(l->job->previous, old, block) : NULL;
    if (!o || o->source == 0 || (object->fixed && o->length != e->length)) {
        char *name = dome__ckpt_shown(object->name);
        dome__ckpt_note(&l->problem, g_strdup_printf("no task owns block %" PRIu64 " of %s", block, name));
        g_free(name);
        return;
    }
    e->length = o->length;
    e->sum = o->sum;
}

static void fill_unchanged(dome_ckpt_leader *l)
{
    const dome_ckpt *ckpt = l->job->ckpt;
    for (guint i = 0; i < ckpt->objects->len && !l->problem; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i), *old = NULL;
        bool looked = false;
        for (uint64_t b = 0; b < object->blocks && !l->problem; b++) {
            if (l->copied[object->first_entry + b])
                continue;
            if (!looked && l->job->previous && !l->job->full)
                old = dome__ckpt_find(l->job->previous, object->name);
            looked = true;
            fill_unchanged_block(l, object, old, b);
        }
    }
}

void dome__ckpt_leader_gather(dome_ckpt_leader *l)
{
    GByteArray *own = g_byte_array_new();
    dome__ckpt_put_held(own, l->job->snapshot);
    take_held(l, 0, own->data, own->len);
    g_byte_array_unref(own);
    for (int rank = 1; rank < l->link->size; rank++) {
        void *data;
        uint64_t bytes;
        char *message = NULL;
        if (l->link->receive(l->link->ctx, rank, &data, &bytes, &message)) {
            dome__store_got_on();
            take_held(l, rank, data, bytes);
            g_free(data);
        } else {
            note_lost(l, message);
        }
    }
    if (!l->problem)
        fill_unchanged(l);
}

/* ---- later messages ---- */

/* The next message of a task other than news of its progress; g_free'd by the caller. */
static void *receive(dome_ckpt_leader *l, int rank, uint64_t *bytes)
{
    void *data = NULL;
    char *message = NULL;
    do {
        g_free(data);
        if (!l->link->receive(l->link->ctx, rank, &data, bytes, &message)) {
            l->writes[rank] = false;
            note_lost(l, message);
            return NULL;
        }
        dome__store_got_on();
    } while (*bytes == DOME_CKPT_WORD_BYTES);
    return data;
}

static void take_sums(dome_ckpt_leader *l, int rank, const dome_checksum *sums)
{
    for (guint i = 0; i < l->claims[rank]->len; i++) {
        dome_ckpt_claim c = g_array_index(l->claims[rank], dome_ckpt_claim, i);
        for (uint64_t k = 0; k < c.count; k++)
            l->job->ckpt->table[c.entry + k].sum = *sums++;
    }
}

static uint64_t count_blocks(const dome_ckpt_leader *l, int rank)
{
    uint64_t count = 0;
    for (guint i = 0; i < l->claims[rank]->len; i++)
        count += g_array_index(l->claims[rank], dome_ckpt_claim, i).count;
    return count;
}

static void take_segments(dome_ckpt_leader *l, int rank, const uint64_t *lengths, const dome_checksum *sums)
{
    for (guint i = 0; i < l->claims[rank]->len; i++) {
        dome_ckpt_claim c = g_array_index(l->claims[rank], dome_ckpt_claim, i);
        for (uint64_t k = 0; k < c.count; k++)
            l->segments[c.entry + k] = (dome_ckpt_segment){.bytes = *lengths++, .sum = *sums++};
    }
}

/* The deltas of a task, from its message. */
static void take_deltas(dome_ckpt_leader *l, int rank, dome_bytes *from)
{
    const uint64_t count = count_blocks(l, rank);
    uint64_t *lengths = g_new0(uint64_t, count + 1);
    dome_checksum *sums = g_new0(dome_checksum, count + 1);
    bool made = false;
    char *problem = NULL;
    const bool good = dome__ckpt_get_deltas(from, lengths, sums, count, &made, &problem);
    if (good && made)
        take_segments(l, rank, lengths, sums);
    else if (!good && !problem)
        problem = g_strdup_printf("the deltas of task %d do not fit its blocks", rank);
    l->made &= good && made && !problem;
    l->job->previous_damaged |= problem != NULL;
    dome__ckpt_note(&l->problem, problem);
    g_free(lengths);
    g_free(sums);
}

static void hear_sums(dome_ckpt_leader *l, int rank)
{
    uint64_t bytes, count = count_blocks(l, rank);
    char *problem = NULL;
    void *data = receive(l, rank, &bytes);
    if (!data)
        return;
    dome_bytes from = dome__bytes_of(data, bytes);
    dome_checksum *sums = g_new0(dome_checksum, count + 1);
    const bool good = dome__ckpt_get_sums(&from, sums, count, &problem) && (l->segments || dome__read_all(&from));
    if (good)
        take_sums(l, rank, sums);
    else if (!problem)
        problem = g_strdup_printf("the checksums of task %d do not fit its blocks", rank);
    dome__ckpt_note(&l->problem, problem);
    if (good && l->segments)
        take_deltas(l, rank, &from);
    g_free(sums);
    g_free(data);
}

static void take_own_sums(dome_ckpt_leader *l)
{
    const GArray *own = l->job->snapshot->blocks;
    dome_checksum *sums = g_new(dome_checksum, own->len + 1);
    for (guint i = 0; i < own->len; i++)
        sums[i] = g_array_index(own, dome_ckpt_block, i).sum;
    if (count_blocks(l, 0) == own->len)
        take_sums(l, 0, sums);
    g_free(sums);
}

static void take_own_deltas(dome_ckpt_leader *l, const dome_ckpt_snapshot *deltas)
{
    GByteArray *own = g_byte_array_new();
    dome__ckpt_put_deltas(own, deltas);
    dome_bytes from = dome__bytes_of(own->data, own->len);
    take_deltas(l, 0, &from);
    g_byte_array_unref(own);
}

void dome__ckpt_leader_gather_sums(dome_ckpt_leader *l, const dome_ckpt_snapshot *own)
{
    take_own_sums(l);
    l->made = true;
    if (l->segments)
        take_own_deltas(l, own);
    for (int rank = 1; rank < l->link->size; rank++)
        if (l->writes[rank])
            hear_sums(l, rank);
}

bool dome__ckpt_leader_send(dome_ckpt_leader *l, int rank, GByteArray *message)
{
    char *problem = NULL;
    bool good = dome__ckpt_send(l->link, rank, message, &problem);
    if (problem)
        note_lost(l, problem);
    return good;
}

static void hear_done(dome_ckpt_leader *l, int rank)
{
    uint64_t bytes;
    char *problem;
    double seconds;
    void *data = receive(l, rank, &bytes);
    if (!data)
        return;
    dome_bytes from = dome__bytes_of(data, bytes);
    if (!dome__ckpt_get_done(&from, &problem, &seconds) && !problem)
        problem = g_strdup_printf("task %d does not say how it ended", rank);
    dome__ckpt_note(&l->problem, problem);
    l->job->cost = MAX(l->job->cost, seconds);
    g_free(data);
}

void dome__ckpt_leader_wait(dome_ckpt_leader *l)
{
    for (int rank = 1; rank < l->link->size; rank++)
        if (l->writes[rank])
            hear_done(l, rank);
}

GArray *dome__ckpt_leader_offsets(const dome_ckpt_leader *l, int rank)
{
    const dome_ckpt *ckpt = l->job->ckpt;
    GArray *offsets = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint i = 0; i < l->claims[rank]->len; i++) {
        dome_ckpt_claim c = g_array_index(l->claims[rank], dome_ckpt_claim, i);
        for (uint64_t k = 0; k < c.count; k++) {
            const dome_ckpt_entry *e = &ckpt->table[c.entry + k];
            uint64_t offset = ckpt->windows ? l->segments[c.entry + k].offset : e->source == ckpt->number ? e->offset : 0;
            g_array_append_val(offsets, offset);
        }
    }
    return offsets;
}

void dome__ckpt_leader_conclude(dome_ckpt_leader *l)
{
    dome_ckpt_job *job = l->job;
    if (job->then)
        job->then(job->then_ctx);
    dome__store_prune(job->store, job->keep, &l->problem);
}
