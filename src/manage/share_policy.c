#include "manage/share_policy.h"

#include <glib.h>

/* Those that run keep what they cannot do without; returns what is left, below 0 if they have more than there is. */
static int keep(dome_share *programs, size_t count, int slots, bool *any)
{
    for (size_t i = 0; i < count; i++) {
        dome_share *p = &programs[i];
        p->gets = p->has == 0 ? 0 : p->fixed ? p->has : MIN(p->has, p->least);
        slots -= p->gets;
        *any |= p->gets > 0;
    }
    return slots;
}

/* It keeps what it has, as far as nothing before it needs that. */
static int keep_all(dome_share *p, int left)
{
    const int more = CLAMP(MIN(p->has, p->most) - p->gets, 0, MAX(left, 0));
    p->gets += more;
    return left - more;
}

void dome__share_out(dome_share *programs, size_t count, int slots)
{
    bool any = false, blocked = false;
    int left = keep(programs, count, slots, &any);
    for (size_t i = 0; i < count; i++) {
        dome_share *p = &programs[i];
        if (p->has > 0) {
            left = p->fixed ? left : keep_all(p, left);
            continue;
        }
        blocked |= p->least > left && any;
        if (blocked)
            continue;
        p->gets = p->least;
        left -= p->gets;
        any = true;
    }
    for (size_t i = 0; i < count && left > 0; i++) {
        dome_share *p = &programs[i];
        if (p->gets == 0 || p->fixed)
            continue;
        const int more = CLAMP(p->most - p->gets, 0, left);
        p->gets += more;
        left -= more;
    }
}
