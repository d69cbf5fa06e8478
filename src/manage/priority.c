#include "manage/priority.h"

#include "manage/host_choice.h"

#include <glib.h>

#include <limits.h>
#include <math.h>
#include <string.h>

/* The most tasks of a program that share a processor. */
enum { STACK = 16 };

typedef struct decision {
    const dome_managed *cluster;
    double now;
    dome_room room;
    int *order;               /* programs: the first first */
    double *turns;            /* by program */
    int *counts;              /* by program: tasks placed; 0: it does not run */
    const dome_wish **wishes; /* by program: the one that fits; NULL: any hosts */
    int *tasks;               /* programs x hosts */
    int *highest;             /* by host: the highest priority of what is placed there, from classes that are complete */
    int *lowest;              /* by host: the lowest priority of what stacks there */
} decision;

static const dome_managed_program *program(const decision *d, int p)
{
    return &d->cluster->programs[p];
}

static int *row(const decision *d, int p)
{
    return d->tasks + (size_t)p * (size_t)d->cluster->host_count;
}

/* ---- who goes first ---- */

static double turn(const dome_managed_program *p)
{
    const double used = p->used <= DOME_PRIORITY_TURN ? 0 : ceil(log2(p->used / DOME_PRIORITY_TURN));
    return used - floor(p->waited / DOME_PRIORITY_PATIENCE);
}

static int compare(const void *a, const void *b, void *data)
{
    const decision *d = data;
    const int i = *(const int *)a, k = *(const int *)b;
    const dome_managed_program *one = program(d, i), *other = program(d, k);
    if (one->away != other->away)
        return one->away ? -1 : 1;
    if (one->priority != other->priority)
        return one->priority > other->priority ? -1 : 1;
    if (d->turns[i] != d->turns[k])
        return d->turns[i] < d->turns[k] ? -1 : 1;
    if (one->submitted != other->submitted)
        return one->submitted < other->submitted ? -1 : 1;
    return i - k;
}

static void sort(decision *d)
{
    for (int p = 0; p < d->cluster->program_count; p++) {
        d->order[p] = p;
        d->turns[p] = turn(program(d, p));
    }
    g_qsort_with_data(d->order, d->cluster->program_count, sizeof *d->order, compare, d);
}

/* ---- places ---- */

static int least_of(const dome_managed_program *it, const dome_wish *wish)
{
    return wish ? wish->tasks : MAX(it->least, 1);
}

static int most_of(const dome_managed_program *it, const dome_wish *wish)
{
    return wish ? wish->tasks : MAX(it->most, 1);
}

/* Takes back the places of a program. */
static void take_back(decision *d, int p)
{
    for (int h = 0; h < d->room.count; h++) {
        const int placed = row(d, p)[h], present = program(d, p)->tasks[h];
        d->room.used[h] -= placed;
        if (program(d, p)->state == DOME_MANAGED_RUNNING)
            d->room.claimed[h] += MIN(placed, present);
        row(d, p)[h] = 0;
    }
}

/* It cannot be moved from hosts on which it may stay. */
static bool is_bound(const decision *d, int p)
{
    const dome_managed_program *it = program(d, p);
    bool bound = it->bound && it->state != DOME_MANAGED_WAITING;
    for (int h = 0; h < d->room.count && bound; h++)
        bound = it->tasks[h] == 0 || d->cluster->hosts[h].use <= DOME_MANAGED_KEEPS;
    return bound;
}

/* 1 + the host that one of its tasks cannot leave; 0: none, or it may not stay there. */
static int stays_on(const decision *d, int p)
{
    const dome_managed_program *it = program(d, p);
    const bool stays = it->first && it->state != DOME_MANAGED_WAITING && it->tasks[it->first - 1] > 0 &&
                       d->cluster->hosts[it->first - 1].use <= DOME_MANAGED_KEEPS;
    return stays ? it->first : 0;
}

static bool is_under(const decision *d, int p, int h)
{
    return d->highest[h] > program(d, p)->priority && !program(d, p)->away;
}

/* Whether the program cannot leave its hosts, and one of higher priority has tasks on one of them. */
static bool is_caught(const decision *d, int p)
{
    bool caught = false;
    for (int h = 0; h < d->room.count && !caught; h++)
        caught = program(d, p)->tasks[h] > 0 && is_under(d, p, h);
    return caught && is_bound(d, p);
}

/* It has fewer processors than tasks: on its hosts it takes more than it is given. */
static bool stacks(const decision *d, int p)
{
    return d->counts[p] < least_of(program(d, p), d->wishes[p]);
}

/* Bars the hosts on which the program may have no further task: where one that stacks would take from others of higher priority
 * what they were given, or one of lower priority stacks already; and where one that is caught has no further task. Returns
 * whether any is barred by the first. */
static bool bar(decision *d, int p, bool stacked)
{
    const int *caught = is_caught(d, p) ? program(d, p)->tasks : NULL;
    bool any = false;
    for (int h = 0; h < d->room.count; h++) {
        const bool under = stacked && is_under(d, p, h) && (!caught || caught[h] > 0);
        d->room.barred[h] = under || (!stacked && !caught && d->lowest[h] < program(d, p)->priority);
        any |= under;
    }
    for (int h = 0; h < d->room.count && caught; h++) /* its hosts are barred as a whole */
        d->room.barred[h] = any || row(d, p)[h] >= caught[h];
    return any;
}

/* Processors for the smallest number of tasks: several tasks may share one, so that no program waits for as many as it has tasks,
 * while others stand idle. A wish fits where each of its tasks has one: or the first wish would nearly always be taken. */
static int fewest(const dome_managed_program *it, const dome_wish *wish)
{
    return wish ? wish->tasks : (least_of(it, wish) + STACK - 1) / STACK;
}

/* Places so many tasks, or none. The task that cannot leave its host comes first. */
static bool place_exactly(decision *d, int p, int wanted, const dome_wish *wish)
{
    const int *present = program(d, p)->state == DOME_MANAGED_WAITING ? NULL : program(d, p)->tasks;
    const int first = stays_on(d, p);
    int placed = 0;
    bool good = true;
    if (first && is_under(d, p, first - 1)) {
        d->room.only = first;
        placed = dome__host_choice_fill(&d->room, 1, wish, present, row(d, p));
        d->room.only = 0;
        good = placed == 1;
    }
    if (!good || placed + dome__host_choice_fill(&d->room, wanted - placed, wish, present, row(d, p)) != wanted) {
        take_back(d, p);
        return false;
    }
    d->counts[p] = wanted;
    d->wishes[p] = wish;
    return true;
}

/* The smallest number of tasks, or none. */
static void place(decision *d, int p)
{
    const dome_managed_program *it = program(d, p);
    const dome_topologies *topologies = it->topologies;
    if (topologies && d->room.shared) /* a wish is for processors that nobody else uses */
        return;
    d->room.home = it->home;
    for (size_t k = 0; k < (topologies ? topologies->count : 1); k++) {
        const dome_wish *wish = topologies ? &topologies->wishes[k] : NULL;
        const int wanted = fewest(it, wish);
        if (wish && (wanted < it->least || wanted > it->most))
            continue;
        const int least = least_of(it, wish);
        const bool barred = bar(d, p, wanted < least || d->room.shared);
        if (place_exactly(d, p, wanted, wish) || d->room.shared)
            return;
        bar(d, p, false);
        if (barred && place_exactly(d, p, least, wish))
            return;
    }
}

static void note_highest(decision *d, int p)
{
    for (int h = 0; h < d->room.count && !program(d, p)->away; h++)
        if (row(d, p)[h] > 0)
            d->highest[h] = MAX(d->highest[h], program(d, p)->priority);
}

/* Programs that stack. */
static void note_lowest(decision *d)
{
    for (int p = 0; p < d->cluster->program_count; p++)
        for (int h = 0; h < d->room.count && d->counts[p] && stacks(d, p) && !program(d, p)->away; h++)
            if (row(d, p)[h] > 0)
                d->lowest[h] = MIN(d->lowest[h], program(d, p)->priority);
}

/* Places that are left go to programs of the highest priority first, one task each in turn. */
static bool deal_one(decision *d)
{
    int best = -1;
    for (int k = 0; k < d->cluster->program_count; k++) {
        const int p = d->order[k];
        if (!d->counts[p] || d->counts[p] >= most_of(program(d, p), d->wishes[p]))
            continue;
        if (best >= 0 && program(d, p)->priority < program(d, best)->priority)
            break;
        if (best < 0 || d->counts[p] < d->counts[best])
            best = p;
    }
    if (best < 0)
        return false;
    const int *present = program(d, best)->state == DOME_MANAGED_WAITING ? NULL : program(d, best)->tasks;
    d->room.home = program(d, best)->home;
    bar(d, best, stacks(d, best));
    const int placed = dome__host_choice_fill(&d->room, 1, d->wishes[best], present, row(d, best));
    note_highest(d, best);
    /* no place for it, so none for another but by its topology: it is left out from now on */
    d->counts[best] = placed ? d->counts[best] + 1 : INT_MAX;
    return true;
}

static void deal(decision *d)
{
    note_lowest(d);
    while (deal_one(d))
        ;
    for (int p = 0; p < d->cluster->program_count; p++)
        if (d->counts[p]) {
            d->counts[p] = 0;
            for (int h = 0; h < d->room.count; h++)
                d->counts[p] += row(d, p)[h];
        }
}

/* Others avoid places that it cannot leave, until it is placed itself (sign -1). */
static void fix(decision *d, int p, int sign)
{
    const dome_managed_program *it = program(d, p);
    const int first = stays_on(d, p);
    if (it->state == DOME_MANAGED_RUNNING && first && !is_bound(d, p))
        d->room.fixed[first - 1] += sign;
    for (int h = 0; h < d->room.count && it->state == DOME_MANAGED_RUNNING && is_bound(d, p); h++)
        d->room.fixed[h] += sign * it->tasks[h];
}

static void claim(decision *d)
{
    for (int p = 0; p < d->cluster->program_count; p++) {
        for (int h = 0; h < d->room.count && program(d, p)->state == DOME_MANAGED_RUNNING; h++)
            d->room.claimed[h] += program(d, p)->tasks[h];
        fix(d, p, 1);
    }
}

/* What does not run gives its claims up. */
static void unclaim(decision *d, int p)
{
    for (int h = 0; h < d->room.count && program(d, p)->state == DOME_MANAGED_RUNNING; h++)
        d->room.claimed[h] -= program(d, p)->tasks[h];
}

/* A program that comes before those of lower priority gets a processor for each of its least tasks, if there are so many. */
static void secure(decision *d, int from, int to)
{
    for (int k = from; k < to; k++) {
        const int p = d->order[k];
        const dome_managed_program *it = program(d, p);
        const int least = least_of(it, d->wishes[p]), before = d->counts[p];
        if (it->away || !before || before >= least)
            continue;
        take_back(d, p);
        d->counts[p] = 0;
        bar(d, p, false);
        d->room.home = it->home;
        if (!place_exactly(d, p, least, d->wishes[p])) {
            bar(d, p, true);
            place_exactly(d, p, before, d->wishes[p]);
        }
    }
}

/* Programs that have found no idle processor: they share busy ones with the programs of other users. */
static void place_beside_loads(decision *d)
{
    for (int k = 0; k < d->cluster->program_count; k++)
        if (!d->counts[d->order[k]])
            place(d, d->order[k]);
}

static void place_all(decision *d)
{
    int first = 0, running = 0;
    claim(d);
    for (int k = 0; k < d->cluster->program_count; k++) {
        const int p = d->order[k];
        if (program(d, p)->priority != program(d, d->order[first])->priority) {
            secure(d, first, k);
            while (first < k)
                note_highest(d, d->order[first++]);
        }
        fix(d, p, -1);
        place(d, p);
        running += d->counts[p] > 0;
        if (!d->counts[p])
            unclaim(d, p);
    }
    d->room.shared = true;
    place_beside_loads(d);
    d->room.shared = running == 0;
}

/* ---- what changes ---- */

/* A program with fewer processors than tasks: further tasks on its hosts, evenly. */
static void stack(decision *d, int p)
{
    int *target = row(d, p);
    const int least = least_of(program(d, p), d->wishes[p]);
    if (d->counts[p] && is_caught(d, p)) {
        memcpy(target, program(d, p)->tasks, (size_t)d->room.count * sizeof *target);
        return;
    }
    int *const processors = g_memdup2(target, (gsize)d->room.count * sizeof *target);
    while (d->counts[p] && d->counts[p] < least) {
        int best = -1;
        for (int h = 0; h < d->room.count; h++)
            if (processors[h] && (best < 0 || target[h] * processors[best] < target[best] * processors[h]))
                best = h;
        target[best]++;
        d->counts[p]++;
    }
    g_free(processors);
}

static bool equal(const decision *d, const int *a, const int *b)
{
    return memcmp(a, b, (size_t)d->room.count * sizeof *a) == 0;
}

/* A program that has just changed only gives places up. */
static void rest(decision *d, int p)
{
    const dome_managed_program *it = program(d, p);
    int *target = row(d, p), kept = 0;
    if (it->state != DOME_MANAGED_RUNNING || !d->counts[p] || d->now - it->changed >= DOME_PRIORITY_REST)
        return;
    for (int h = 0; h < d->room.count; h++)
        kept += MIN(target[h], it->tasks[h]);
    if (kept < least_of(it, d->wishes[p]))
        return;
    for (int h = 0; h < d->room.count; h++)
        target[h] = MIN(target[h], it->tasks[h]);
    d->counts[p] = kept;
}

static void improve(decision *d, int p)
{
    const dome_managed_program *it = program(d, p);
    if (it->state == DOME_MANAGED_RUNNING && !it->bound && d->now - it->changed >= DOME_PRIORITY_SETTLED &&
        equal(d, row(d, p), it->tasks))
        dome__host_choice_improve(&d->room, d->wishes[p], row(d, p));
}

static bool must_leave(const decision *d, int p)
{
    bool leaves = false;
    for (int h = 0; h < d->room.count; h++)
        leaves |= program(d, p)->tasks[h] > 0 && d->cluster->hosts[h].use == DOME_MANAGED_LEFT;
    return leaves;
}

static dome_manage_verb verb(const decision *d, int p)
{
    const dome_managed_program *it = program(d, p);
    const bool same = equal(d, row(d, p), it->tasks);
    if (!d->counts[p])
        return it->state == DOME_MANAGED_WAITING   ? DOME_MANAGE_NOTHING
               : must_leave(d, p)                  ? DOME_MANAGE_PARK
               : it->state == DOME_MANAGED_RUNNING ? DOME_MANAGE_SUSPEND
                                                   : DOME_MANAGE_NOTHING;
    switch (it->state) {
    case DOME_MANAGED_WAITING:
        return DOME_MANAGE_START;
    case DOME_MANAGED_SUSPENDED:
        return same ? DOME_MANAGE_RESUME : DOME_MANAGE_CHANGE;
    case DOME_MANAGED_RUNNING:
        break;
    }
    return same ? DOME_MANAGE_NOTHING : DOME_MANAGE_CHANGE;
}

static void clear(decision *d)
{
    const size_t hosts = (size_t)d->cluster->host_count, programs = (size_t)d->cluster->program_count;
    memset(d->room.used, 0, hosts * sizeof *d->room.used);
    memset(d->room.claimed, 0, hosts * sizeof *d->room.claimed);
    memset(d->room.fixed, 0, hosts * sizeof *d->room.fixed);
    for (size_t h = 0; h < hosts; h++) {
        d->highest[h] = INT_MIN;
        d->lowest[h] = INT_MAX;
    }
    memset(d->counts, 0, programs * sizeof *d->counts);
    memset(d->tasks, 0, programs * hosts * sizeof *d->tasks);
}

void dome__priority_decide(const dome_managed *cluster, double now, dome_manage_verb *verbs, int *tasks)
{
    const size_t hosts = (size_t)cluster->host_count, programs = (size_t)cluster->program_count;
    if (!hosts || !programs)
        return;
    decision d = {
        .cluster = cluster,
        .now = now,
        .room = {.hosts = cluster->hosts,
                 .count = cluster->host_count,
                 .used = g_new0(int, hosts),
                 .claimed = g_new0(int, hosts),
                 .fixed = g_new0(int, hosts),
                 .barred = g_new0(bool, hosts)},
        .order = g_new(int, programs),
        .turns = g_new(double, programs),
        .counts = g_new0(int, programs),
        .wishes = g_new0(const dome_wish *, programs),
        .tasks = tasks,
        .highest = g_new(int, hosts),
        .lowest = g_new(int, hosts),
    };
    sort(&d);
    clear(&d);
    place_all(&d);
    deal(&d);
    for (int p = 0; p < cluster->program_count; p++) {
        stack(&d, p);
        rest(&d, p);
        improve(&d, p);
        verbs[p] = verb(&d, p);
        if (!d.counts[p] && verbs[p] != DOME_MANAGE_PARK)
            memcpy(row(&d, p), program(&d, p)->tasks, hosts * sizeof *tasks);
    }
    g_free(d.room.used);
    g_free(d.room.claimed);
    g_free(d.room.fixed);
    g_free(d.room.barred);
    g_free(d.order);
    g_free(d.turns);
    g_free(d.counts);
    g_free(d.wishes);
    g_free(d.highest);
    g_free(d.lowest);
}
