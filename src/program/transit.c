#include "program/transit.h"

#include "ckpt/checkpoint.h"
#include "comm/comm.h"
#include "system/time.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <inttypes.h>

/* How long something waits: so many seconds and boundaries. */
static const double WAIT_SECONDS = 10;
enum { WAIT_BOUNDARIES = 10 };

/* So many boundaries are looked at one after the other. Later there are so many seconds in between, to limit the cost; the gap
 * grows by at most this factor, since later loops may take longer. */
enum { ONE_BY_ONE = 32, GAP_GROWTH = 4 };
static const double GAP_SECONDS = 0.05;

char *dome__transit_in_vain(const dome_transit *t, const char *what)
{
    char *since = NULL;
    if (t->tries > 1)
        since = g_strdup_printf("; at each of %" PRIu64 " loop boundaries in %.2g s a message or a request was open", t->tries,
                                (double)(t->last_ns - t->began_ns) * 1e-9);
    char *text = g_strdup_printf("%s%s; no %s can have it: receive messages, and wait for requests, before dome_checkpoint",
                                 t->text, since ? since : "", what);
    g_free(since);
    return text;
}

/* Task 0: boundaries until the next try; 0: there is none. */
static uint64_t next_gap(const dome_env *env, dome_transit *t)
{
    const uint64_t now = dome__now_ns(), passed = MAX(t->gap, 1), most = passed * GAP_GROWTH;
    const double each = (double)(now - t->last_ns) * 1e-9 / (double)passed;
    t->last_ns = now;
    if ((double)(now - t->began_ns) * 1e-9 >= WAIT_SECONDS && (t->tries > WAIT_BOUNDARIES || dome__checkpoint_ends(env)))
        return 0;
    t->gap = 1;
    if (t->tries >= ONE_BY_ONE && each < GAP_SECONDS)
        t->gap = MIN((uint64_t)(GAP_SECONDS / MAX(each, 1e-9)), most);
    if (t->gap > 1) /* messages of every other boundary must not meet each try */
        t->gap += t->tries % 2;
    return t->gap;
}

/* Takes over the text. *gap: until the next try. */
static int wait_on(dome_env *env, dome_transit *t, char *text, uint64_t *gap)
{
    if (!t->waits)
        *t = (dome_transit){.waits = true, .text = t->text, .began_ns = dome__now_ns(), .last_ns = dome__now_ns()};
    g_free(t->text);
    t->text = text;
    t->tries++;
    if (env->rank == 0)
        *gap = next_gap(env, t);
    int status = dome__bcast(env->transport, 0, DOME_U64, gap, 1);
    if (status)
        return dome__fail_transport(env, status);
    t->waits = *gap > 0;
    return DOME_OK;
}

int dome__transit_find(dome_env *env, dome_transit *t, dome_transit_found *found)
{
    char *text = NULL;
    *found = (dome_transit_found){0};
    int status = dome__comm_open(env, &text);
    found->open = status == DOME_OK && text;
    if (found->open)
        return wait_on(env, t, text, &found->gap);
    t->waits = false;
    return status;
}

bool dome__transit_waits(const dome_transit *t)
{
    return t->waits;
}

void dome__transit_stop(dome_transit *t)
{
    t->waits = false;
}

void dome__transit_clear(dome_transit *t)
{
    g_clear_pointer(&t->text, g_free);
}
