/* A task other than rank 0: reports its blocks, and writes them. */
#include "ckpt/writer_private.h"

#include <unistd.h>

typedef struct follower {
    dome_ckpt_job *job;
    const dome_ckpt_link *link;
    dome_ckpt_output output;
    char *problem; /* of writing; sent to rank 0 */
} follower;

/* Receives the offsets. False if there is nothing more to do. known: the offsets are in the snapshot. */
static bool hear_offsets(follower *f, bool *known)
{
    void *data;
    uint64_t bytes, number;
    if (!f->link->receive(f->link->ctx, 0, &data, &bytes, &f->job->message))
        return false;
    dome_bytes from = dome__bytes_of(data, bytes);
    bool good = dome__ckpt_get_offsets(&from, &number, known, f->job->snapshot);
    g_free(data);
    if (!good)
        dome__ckpt_note(&f->problem, g_strdup("the offsets of blocks are missing"));
    else if (number > 0 && *known && f->output.fd < 0 && dome__ckpt_output_wanted(&f->output)) {
        const dome_ckpt name = {.number = number};
        f->output.fd = dome__store_join(f->job->directory, &name, &f->problem);
    }
    return !good || number > 0;
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
    bool known;
    if (tell_held(&f) && hear_offsets(&f, &known)) {
        dome__ckpt_output_convert(&f.output, job->snapshot, &f.problem);
        if (tell_sums(&f) && hear_offsets(&f, &known)) {
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
}
