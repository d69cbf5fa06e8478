/* A task other than rank 0: reports its blocks, and writes them. */
#include "ckpt/deltas.h"
#include "ckpt/writer_private.h"

#include <unistd.h>

typedef struct follower {
    dome_ckpt_job *job;
    const dome_ckpt_link *link;
    dome_ckpt_output output;
    char *problem; /* of writing; sent to rank 0 */
    dome_ckpt_snapshot deltas;
    uint64_t before; /* the checkpoint against which they are wanted; 0: none are */
} follower;

/* Takes the offsets, or what is wanted before they are known. */
static bool take_places(follower *f, const dome_ckpt_places *places)
{
    dome_ckpt_snapshot *of = places->known && places->deltas ? &f->deltas : f->job->snapshot;
    f->output.snapshot = of;
    f->before = places->known ? 0 : places->deltas;
    return dome__ckpt_take_places(places, of);
}

/* Receives the offsets. False if there is nothing more to do. */
static bool hear_offsets(follower *f)
{
    void *data;
    uint64_t bytes;
    if (!f->link->receive(f->link->ctx, 0, &data, &bytes, &f->job->message))
        return false;
    dome_bytes from = dome__bytes_of(data, bytes);
    dome_ckpt_places places;
    const bool good = dome__ckpt_get_places(&from, &places) && take_places(f, &places);
    g_array_unref(places.offsets);
    g_free(data);
    if (!good)
        dome__ckpt_note(&f->problem, g_strdup("the offsets of blocks are missing"));
    else if (places.number > 0 && places.known && f->output.fd < 0 && dome__ckpt_output_wanted(&f->output)) {
        const dome_ckpt name = {.number = places.number};
        f->output.fd = dome__store_join(f->job->directory, &name, &f->problem);
    }
    return !good || places.number > 0;
}

static void make_deltas(follower *f)
{
    char *path = dome__ckpt_file_path(f->job->directory, f->before, 0, 0);
    dome__ckpt_make_deltas(&f->deltas, f->job->snapshot, path, dome__ckpt_output_news, &f->output);
    g_free(path);
}

static bool tell_held(follower *f)
{
    GByteArray *m = g_byte_array_new();
    dome__ckpt_put_held(m, f->job->snapshot);
    return dome__ckpt_send(f->link, 0, m, &f->job->message);
}

static bool tell_sums(follower *f)
{
    GByteArray *m = g_byte_array_new();
    dome__ckpt_put_sums(m, f->job->snapshot, f->problem);
    if (f->before)
        dome__ckpt_put_deltas(m, &f->deltas);
    return dome__ckpt_send(f->link, 0, m, &f->job->message);
}

static bool tell_done(follower *f)
{
    GByteArray *m = g_byte_array_new();
    dome__ckpt_put_done(m, f->problem, f->job->seconds);
    return dome__ckpt_send(f->link, 0, m, &f->job->message);
}

void dome__ckpt_follow(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    follower f = {.job = job, .link = link, .output = dome__ckpt_output_begin(link, job->snapshot)};
    double begin = dome__ckpt_processor_seconds();
    dome__ckpt_snapshot_init(&f.deltas);
    dome__ckpt_snapshot_fetch(job->snapshot);
    if (tell_held(&f) && hear_offsets(&f)) {
        dome__ckpt_output_convert(&f.output, job->snapshot, &f.problem);
        if (f.before)
            make_deltas(&f);
        if (tell_sums(&f) && hear_offsets(&f)) {
            if (f.output.fd >= 0 && !f.problem)
                dome__ckpt_output_write(&f.output, &f.problem);
            if (f.output.fd >= 0 && !f.problem)
                dome__store_sync(f.output.fd, dome__ckpt_output_news, &f.output, &f.problem);
            job->seconds = dome__ckpt_processor_seconds() - begin;
            job->written = tell_done(&f) && !f.problem;
        }
    }
    if (f.output.fd >= 0)
        close(f.output.fd);
    g_free(f.problem);
    dome__ckpt_snapshot_free(&f.deltas);
}
