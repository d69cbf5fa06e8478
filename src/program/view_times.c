#include "program/view_times.h"

#include "ckpt/checkpoint.h"
#include "program/change.h"
#include "system/time.h"
#include "watch/watch.h"

void dome__view_times_begin(dome_view_times *t)
{
    t->begun_ns = dome__now_ns();
    t->members_ns = t->blocks_ns = 0;
}

uint64_t dome__view_times_passed(const dome_view_times *t)
{
    return dome__since_ns(t->begun_ns);
}

void dome__view_times_members(dome_view_times *t, uint64_t begin)
{
    t->members_ns += dome__since_ns(begin);
}

void dome__view_times_blocks(dome_view_times *t, uint64_t begin)
{
    t->blocks_ns += dome__since_ns(begin);
}

void dome__view_times_prepared(dome_view_times *t)
{
    t->blocks_ns = dome__since_ns(t->begun_ns);
}

void dome__view_times_stand(dome_view_times *t)
{
    t->stood_ns = dome__now_ns();
}

void dome__view_times_note(const dome_view_times *t, dome_view_entry *entry)
{
    entry->begun_ns = t->begun_ns;
    entry->members_ns = t->members_ns;
    entry->blocks_ns = t->blocks_ns;
}

void dome__view_times_take(dome_view_times *t, const dome_view_entry *entry)
{
    t->begun_ns = entry->begun_ns;
    t->members_ns = entry->members_ns;
    t->blocks_ns = entry->blocks_ns;
}

void dome__view_times_tell(dome_env *env)
{
    dome_view_times *t = &env->change->times;
    uint64_t took, at;
    if (!env->change->view.back || t->told || env->rank != 0 || !env->watch)
        return;
    t->told = true;
    dome__checkpoint_restored(env, &took, &at);
    const uint64_t before = t->stood_ns - MIN(t->begun_ns, t->stood_ns), known = t->members_ns + t->blocks_ns,
                   after = at > t->stood_ns ? at - t->stood_ns : 0;
    const dome_wire_times times = {.members = t->members_ns,
                                   .blocks = t->blocks_ns + took,
                                   .joining = before - MIN(known, before),
                                   .preamble = after - MIN(took, after)};
    dome__watch_times(env->watch, &times);
}
