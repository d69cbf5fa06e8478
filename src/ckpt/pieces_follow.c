/* A task other than rank 0, where hosts have pieces (piece.c). */
#include "ckpt/writer_private.h"

static bool tell_snapshot(dome_ckpt_part *p, dome_ckpt_job *job, const dome_ckpt_link *link)
{
    GByteArray *held = g_byte_array_new(), *sums = g_byte_array_new();
    dome_ckpt_output none = dome__ckpt_output_begin(link, job->snapshot);
    char **problem = dome__ckpt_part_problem(p);
    dome__ckpt_put_held(held, job->snapshot);
    bool good = dome__ckpt_send(link, 0, held, problem);
    dome__ckpt_output_convert(&none, job->snapshot, problem);
    dome__ckpt_put_sums(sums, job->snapshot, *problem);
    return dome__ckpt_send(link, 0, sums, problem) && good;
}

static bool tell_done(dome_ckpt_part *p, dome_ckpt_job *job, const dome_ckpt_link *link)
{
    GByteArray *m = g_byte_array_new();
    char **problem = dome__ckpt_part_problem(p);
    dome__ckpt_put_done(m, *problem, job->seconds);
    return dome__ckpt_send(link, 0, m, problem);
}

/* Receives rank 0's word whether to continue. */
static bool hear_word(dome_ckpt_part *p, const dome_ckpt_link *link)
{
    void *data = NULL;
    uint64_t bytes, word;
    char *message = NULL;
    if (!link->receive(link->ctx, 0, &data, &bytes, &message)) {
        dome__ckpt_note(dome__ckpt_part_problem(p), message);
        return false;
    }
    dome_bytes from = dome__bytes_of(data, bytes);
    bool good = dome__ckpt_get_word(&from, &word) && word != 0;
    g_free(data);
    return good;
}

static void carry_out(dome_ckpt_part *p, dome_ckpt_job *job, const dome_ckpt_link *link, const void *data, uint64_t bytes)
{
    bool leads = dome__ckpt_part_leads(p);
    bool good = dome__ckpt_part_take_order(p, data, bytes) != DOME_CKPT_NOTHING && (!leads || tell_done(p, job, link));
    dome__ckpt_part_write(p);
    good = good && tell_done(p, job, link);
    if (leads) {
        bool commit = good && hear_word(p, link);
        dome__ckpt_part_end(p, commit);
        job->written = commit && tell_done(p, job, link) && hear_word(p, link);
        if (job->written && !*dome__ckpt_part_problem(p))
            dome__store_prune(job->store, job->keep, dome__ckpt_part_problem(p));
    }
    dome__ckpt_part_end(p, false);
}

void dome__ckpt_follow_pieces(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    dome_ckpt_part *p = dome__ckpt_part_new(job, link);
    void *data = NULL;
    uint64_t bytes;
    char *message = NULL;
    if (tell_snapshot(p, job, link) && link->receive(link->ctx, 0, &data, &bytes, &message))
        carry_out(p, job, link, data, bytes);
    else
        dome__ckpt_part_end_copies(p);
    dome__ckpt_note(dome__ckpt_part_problem(p), message);
    g_free(data);
    job->message = g_steal_pointer(dome__ckpt_part_problem(p));
    dome__ckpt_part_free(p);
}
