#include "ckpt/writer_private.h"

void dome__ckpt_write_together(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    job->written = job->lost = job->previous_damaged = job->mostly_same = job->tried_deltas = false;
    job->message = NULL;
    job->seconds = job->cost = 0;
    job->data_bytes = 0;
    if (job->pieces && link->rank == 0)
        dome__ckpt_lead_pieces(job, link);
    else if (job->pieces)
        dome__ckpt_follow_pieces(job, link);
    else if (link->rank == 0)
        dome__ckpt_lead(job, link);
    else
        dome__ckpt_follow(job, link);
}
