#include "manage/owner_policy.h"

#include <glib.h>

#define HOUR 3600.0

static void note_activity(dome_owner *o, double now)
{
    if (!o->seen || now - o->active >= DOME_OWNER_RETURN)
        o->came = now;
    o->there = o->seen = true;
    o->active = now;
}

static void give_way(dome_owner *o, double now)
{
    const double stay = now - o->came;
    if (o->phase == DOME_OWNER_LEAVE_HOST)
        return;
    if (stay >= DOME_OWNER_LEAVE) {
        const bool again = o->offer > 0 && now - o->left < HOUR;
        o->offer = again ? MIN(2 * o->offer, DOME_OWNER_LONGEST_OFFER) : DOME_OWNER_FIRST_OFFER;
        o->left = now;
        o->phase = DOME_OWNER_LEAVE_HOST;
    } else if (stay >= DOME_OWNER_STOP)
        o->phase = DOME_OWNER_STOP_TASKS;
    else if (o->phase == DOME_OWNER_AWAY)
        o->phase = DOME_OWNER_NICE;
}

/* The owner is not there. */
static void come_back(dome_owner *o, double away)
{
    switch (o->phase) {
    case DOME_OWNER_AWAY:
        return;
    case DOME_OWNER_NICE:
        if (away >= 2 * DOME_OWNER_RETURN)
            o->phase = DOME_OWNER_AWAY;
        return;
    case DOME_OWNER_STOP_TASKS:
        if (away >= DOME_OWNER_RETURN)
            o->phase = DOME_OWNER_NICE;
        return;
    case DOME_OWNER_LEAVE_HOST:
        if (away >= o->offer)
            o->phase = DOME_OWNER_AWAY;
        return;
    }
}

dome_owner_phase dome__owner_look(dome_owner *o, double now, bool active)
{
    if (active)
        note_activity(o, now);
    else if (o->there && now - o->active > DOME_OWNER_QUIET)
        o->there = false;
    if (o->there)
        give_way(o, now);
    else if (o->seen)
        come_back(o, now - o->active);
    return o->phase;
}
