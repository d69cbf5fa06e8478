#include "manage/host_choice.h"

#include <glib.h>

#include <math.h>

#define WORTH_MOVING 1.25

int dome__host_choice_slots(const dome_managed_host *host, bool shared)
{
    if (host->use == DOME_MANAGED_CLOSED || host->use == DOME_MANAGED_LEFT)
        return 0;
    return shared ? host->processors : MAX(0, (int)floor(host->processors - host->load + 0.5));
}

/* Tasks that the program has there and are not placed yet. */
static int own(const int *present, const int *placed, int h)
{
    return present ? MAX(0, present[h] - placed[h]) : 0;
}

static int room_left(const dome_room *room, int h)
{
    return dome__host_choice_slots(&room->hosts[h], room->shared) - room->used[h];
}

static bool is_free(const dome_room *room, int h, const dome_wish *wish, bool keeps)
{
    const dome_managed_host *host = &room->hosts[h];
    return !room->barred[h] && (!room->only || h + 1 == room->only) && room_left(room, h) > 0 &&
           (keeps || host->use == DOME_MANAGED_OPEN) && (!wish || dome__topology_admits(wish, host->name, host->architecture));
}

/* The part of a processor that one more task gets, by its speed. */
static double speed(const dome_room *room, int h)
{
    const dome_managed_host *host = &room->hosts[h];
    return host->speed * MIN(1, host->processors / (room->used[h] + 1 + host->load));
}

/* How good a free host is for one more task: where the program has a task to keep, then where no other has one that cannot leave,
 * then where no other has one, then the fastest, then where the program is already, then at its home, then where most room is. */
static double score(const dome_room *room, int h, const int *present, const int *placed)
{
    const int mine = own(present, placed, h), left = room_left(room, h);
    return (mine > 0 ? 1e8 : 0) - (left <= room->fixed[h] ? 1e7 : 0) - (left <= room->claimed[h] - mine ? 1e6 : 0) +
           speed(room, h) + (placed[h] > 0 ? 1e-3 : 0) + (h + 1 == room->home ? 5e-4 : 0) + 1e-6 * MIN(left, 500);
}

/* -1: none. */
static int best_host(const dome_room *room, const dome_wish *wish, const int *present, const int *placed)
{
    int best = -1;
    double best_score = 0;
    for (int h = 0; h < room->count; h++) {
        if (!is_free(room, h, wish, own(present, placed, h) > 0))
            continue;
        const double here = score(room, h, present, placed);
        if (best < 0 || here > best_score) {
            best = h;
            best_score = here;
        }
    }
    return best;
}

int dome__host_choice_fill(dome_room *room, int wanted, const dome_wish *wish, const int *present, int *placed)
{
    int count = 0;
    for (; count < wanted; count++) {
        const int h = best_host(room, wish, present, placed);
        if (h < 0)
            break;
        if (own(present, placed, h) > 0)
            room->claimed[h]--;
        placed[h]++;
        room->used[h]++;
    }
    return count;
}

bool dome__host_choice_improve(dome_room *room, const dome_wish *wish, int *placed)
{
    const int to = best_host(room, wish, NULL, placed);
    int from = -1;
    double slowest = 0;
    for (int h = 0; h < room->count; h++) {
        if (!placed[h])
            continue;
        room->used[h]--; /* as if one task were not there */
        const double here = speed(room, h);
        room->used[h]++;
        if (from < 0 || here < slowest) {
            from = h;
            slowest = here;
        }
    }
    if (to < 0 || from < 0 || to == from || room_left(room, to) <= room->claimed[to] || speed(room, to) < WORTH_MOVING * slowest)
        return false;
    placed[from]--, room->used[from]--;
    placed[to]++, room->used[to]++;
    return true;
}
