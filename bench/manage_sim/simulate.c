#include "simulate.h"

#include "manage/host_choice.h"
#include "manage/owner_policy.h"
#include "manage/priority.h"

#include <glib.h>

#include <math.h>
#include <string.h>

enum { DAYS_MOST = 3, LOOK = 5 }; /* seconds between two decisions when nothing happens */

static const double START = 1, STOP = 0.1; /* seconds that a program stands still */

typedef struct running {
    double left;  /* work */
    double still; /* seconds during which it does not compute */
    double ended; /* second; 0: not yet */
} running;

typedef struct state {
    const day *day;
    dome_managed cluster;
    dome_managed_host *hosts;
    dome_managed_program *programs; /* those that are submitted and have not ended */
    int *ids;                       /* of them, in the day */
    int *placed;                    /* programs x hosts: what dome_managed_program.tasks is */
    running *runs;                  /* by number in the day */
    dome_owner *owners;
    bool *there; /* owners, by host */
    int *used;   /* by host: tasks that are not stopped */
    simulated result;
} state;

static int *tasks_of(const state *s, int p)
{
    return s->placed + (size_t)p * (size_t)s->day->host_count;
}

/* ---- as `dome run` does ---- */

static void start_in_order(state *s, int p)
{
    const day_program *it = &s->day->programs[s->ids[p]];
    for (int k = 0; k < it->tasks; k++)
        tasks_of(s, p)[(it->host + k) % s->day->host_count]++;
    s->programs[p].state = DOME_MANAGED_RUNNING;
    s->runs[s->ids[p]].still = START;
}

/* ---- by policies ---- */

static void look_at_owners(state *s, int now)
{
    static const dome_managed_use uses[] = {DOME_MANAGED_OPEN, DOME_MANAGED_KEEPS, DOME_MANAGED_CLOSED, DOME_MANAGED_LEFT};
    for (int h = 0; h < s->day->host_count; h++)
        s->hosts[h].use = uses[dome__owner_look(&s->owners[h], now, s->there[h])];
}

static void obey(state *s, int p, dome_manage_verb verb, const int *tasks, int now)
{
    running *run = &s->runs[s->ids[p]];
    dome_managed_program *it = &s->programs[p];
    const double moving = s->day->programs[s->ids[p]].moving;
    if (verb == DOME_MANAGE_NOTHING)
        return;
    it->changed = now;
    switch (verb) {
    case DOME_MANAGE_NOTHING:
        return;
    case DOME_MANAGE_START:
        run->still = run->left < s->day->programs[s->ids[p]].work ? START + moving : START;
        break;
    case DOME_MANAGE_CHANGE:
        run->still += moving;
        break;
    case DOME_MANAGE_SUSPEND:
    case DOME_MANAGE_RESUME:
        run->still += STOP;
        break;
    case DOME_MANAGE_PARK:
        break;
    }
    s->result.suspensions += verb == DOME_MANAGE_SUSPEND || verb == DOME_MANAGE_PARK;
    s->result.changes += verb == DOME_MANAGE_CHANGE;
    it->state = verb == DOME_MANAGE_SUSPEND ? DOME_MANAGED_SUSPENDED
                : verb == DOME_MANAGE_PARK  ? DOME_MANAGED_WAITING
                                            : DOME_MANAGED_RUNNING;
    memcpy(tasks_of(s, p), tasks, (size_t)s->day->host_count * sizeof *tasks);
}

static void decide(state *s, int now)
{
    const size_t hosts = (size_t)s->day->host_count, programs = (size_t)s->cluster.program_count;
    int *tasks = g_new(int, programs *hosts + 1);
    dome_manage_verb *verbs = g_new(dome_manage_verb, programs + 1);
    for (size_t p = 0; p < programs; p++)
        s->programs[p].tasks = tasks_of(s, (int)p);
    dome__priority_decide(&s->cluster, now, verbs, tasks);
    for (size_t p = 0; p < programs; p++)
        obey(s, (int)p, verbs[p], tasks + p * hosts, now);
    g_free(tasks);
    g_free(verbs);
}

/* ---- a day ---- */

static void submit(state *s, int id, way how)
{
    const day_program *it = &s->day->programs[id];
    const int p = s->cluster.program_count++;
    s->ids[p] = id;
    s->programs[p] = (dome_managed_program){.priority = it->priority,
                                            .submitted = it->submitted,
                                            .least = it->least,
                                            .changed = -1e9,
                                            .most = it->least < it->tasks ? 2 * it->tasks : it->tasks,
                                            .state = DOME_MANAGED_WAITING};
    memset(tasks_of(s, p), 0, (size_t)s->day->host_count * sizeof(int));
    s->runs[id].left = it->work;
    if (how == WAY_RUN)
        start_in_order(s, p);
}

static void end(state *s, int p, int now)
{
    const int last = --s->cluster.program_count;
    s->runs[s->ids[p]].ended = now;
    s->ids[p] = s->ids[last];
    s->programs[p] = s->programs[last];
    memmove(tasks_of(s, p), tasks_of(s, last), (size_t)s->day->host_count * sizeof(int));
}

static void count_used(state *s)
{
    memset(s->used, 0, (size_t)s->day->host_count * sizeof *s->used);
    for (int p = 0; p < s->cluster.program_count; p++)
        for (int h = 0; h < s->day->host_count && s->programs[p].state == DOME_MANAGED_RUNNING; h++)
            s->used[h] += tasks_of(s, p)[h];
}

/* What program p computes in a second. Its data are balanced, so a slow task holds no other up. */
static double compute(state *s, int p)
{
    double speed = 0;
    int tasks = 0;
    for (int h = 0; h < s->day->host_count; h++) {
        const dome_managed_host *host = &s->hosts[h];
        const int here = tasks_of(s, p)[h];
        const double share = here ? MIN(1, host->processors / (s->used[h] + host->load)) : 0;
        speed += here * host->speed * share;
        tasks += here;
        s->programs[p].used += here * share;
        s->result.beside_owners += s->there[h] ? here * share : 0;
    }
    return speed * day_efficiency(tasks);
}

/* Lets a second pass. Returns whether a program has ended. */
static bool second(state *s, int now)
{
    bool ended = false;
    count_used(s);
    for (int p = s->cluster.program_count - 1; p >= 0; p--) {
        running *run = &s->runs[s->ids[p]];
        if (s->programs[p].state != DOME_MANAGED_RUNNING) {
            s->programs[p].waited++;
            continue;
        }
        const double still = MIN(1, run->still);
        run->still -= still;
        run->left -= (1 - still) * compute(s, p);
        if (run->left <= 0) {
            end(s, p, now + 1);
            ended = true;
        }
    }
    return ended;
}

static bool change(state *s, int *next, int now)
{
    const int before = *next;
    for (; *next < s->day->change_count && s->day->changes[*next].second <= now; ++*next) {
        const day_change *c = &s->day->changes[*next];
        s->hosts[c->host].load = c->load;
        s->there[c->host] = c->owner;
    }
    return *next > before;
}

static void sum_up(state *s)
{
    double sum = 0, high = 0;
    int highs = 0;
    for (int id = 0; id < s->day->program_count; id++) {
        const day_program *it = &s->day->programs[id];
        const double ended = s->runs[id].ended > 0 ? s->runs[id].ended : DAYS_MOST * DAY_SECONDS;
        s->result.unfinished += s->runs[id].ended <= 0;
        sum += ended - it->submitted;
        high += it->priority ? ended - it->submitted : 0;
        highs += it->priority > 0;
    }
    s->result.mean = sum / s->day->program_count;
    s->result.high = highs ? high / highs : NAN;
}

static int by_submitted(const void *a, const void *b, void *data)
{
    const day *d = data;
    return d->programs[*(const int *)a].submitted - d->programs[*(const int *)b].submitted;
}

simulated simulate(const day *d, way how)
{
    const size_t hosts = (size_t)d->host_count, programs = (size_t)d->program_count;
    state s = {.day = d,
               .hosts = g_new0(dome_managed_host, hosts),
               .programs = g_new0(dome_managed_program, programs),
               .ids = g_new0(int, programs),
               .placed = g_new0(int, programs *hosts),
               .runs = g_new0(running, programs),
               .owners = g_new0(dome_owner, hosts),
               .there = g_new0(bool, hosts),
               .used = g_new0(int, hosts)};
    int *order = g_new(int, programs);
    for (int id = 0; id < d->program_count; id++)
        order[id] = id;
    g_qsort_with_data(order, d->program_count, sizeof *order, by_submitted, (gpointer)d);
    for (size_t h = 0; h < hosts; h++)
        s.hosts[h] =
            (dome_managed_host){.name = d->hosts[h].name, .processors = d->hosts[h].processors, .speed = d->hosts[h].speed};
    s.cluster = (dome_managed){s.hosts, d->host_count, s.programs, 0};
    bool happened = false;
    int submitted = 0, changed = 0;
    for (int now = 0; now < DAYS_MOST * DAY_SECONDS && (submitted < d->program_count || s.cluster.program_count > 0); now++) {
        happened |= change(&s, &changed, now);
        for (; submitted < d->program_count && d->programs[order[submitted]].submitted <= now; submitted++) {
            submit(&s, order[submitted], how);
            happened = true;
        }
        if (how == WAY_POLICIES)
            look_at_owners(&s, now);
        if (how != WAY_RUN && (happened || now % LOOK == 0))
            decide(&s, now);
        happened = second(&s, now);
    }
    sum_up(&s);
    g_free(s.hosts), g_free(s.programs), g_free(s.ids), g_free(s.placed), g_free(s.runs);
    g_free(s.owners), g_free(s.there), g_free(s.used), g_free(order);
    return s.result;
}
