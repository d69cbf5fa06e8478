#include "region/region_profile.h"

#include "core/operation.h"
#include "region/member.h"
#include "region/region_operations.h"
#include "transport/collective.h"

#include <inttypes.h>
#include <string.h>

/* Tables of who writes what that are kept of the regions of one name. */
enum { MOST_SHARED = 8 };

static void free_writes(gpointer data)
{
    dome__unit_writes_free(data);
}

dome_region_figures *dome__region_profile_add(dome_env *env, const char *name)
{
    dome_member_table *t = env->lazy.members;
    if (!t->figures)
        t->figures = g_ptr_array_new_with_free_func(dome__region_profile_free);
    for (guint k = 0; k < t->figures->len; k++) {
        dome_region_figures *f = t->figures->pdata[k];
        if (g_strcmp0(f->name, name) == 0)
            return f;
    }
    dome_region_figures *f = g_new0(dome_region_figures, 1);
    f->name = g_strdup(name);
    f->units = g_new0(uint64_t, t->count);
    f->shared = g_ptr_array_new_with_free_func(free_writes);
    f->told_to = UINT32_MAX;
    g_ptr_array_add(t->figures, f);
    return f;
}

dome_unit_writes *dome__region_profile_watch(const dome_env *env, dome_region_figures *figures,
                                             const dome_unit_writes_setup *setup)
{
    if ((!env->options.profile && !env->options.trace) || figures->shared->len == MOST_SHARED)
        return NULL;
    g_ptr_array_add(figures->shared, dome__unit_writes_new(setup));
    return figures->shared->pdata[figures->shared->len - 1];
}

void dome__region_profile_free(gpointer figures)
{
    dome_region_figures *f = figures;
    g_ptr_array_unref(f->shared);
    g_free(f->name);
    g_free(f->units);
    g_free(f);
}

/* ---- faults ---- */

dome_region_stop dome__region_stop_begin(dome_env *env, dome_region_figures *figures)
{
    return (dome_region_stop){env, figures, dome__now_ns(), *env->wait_ns};
}

void dome__region_stop_end(const dome_region_stop *stop)
{
    __atomic_fetch_add(&stop->figures->waited, dome__since_ns(stop->start), __ATOMIC_RELAXED);
}

void dome__region_fault_end(const dome_region_stop *stop, bool write)
{
    dome__region_stop_end(stop);
    __atomic_fetch_add(write ? &stop->figures->writes : &stop->figures->reads, 1, __ATOMIC_RELAXED);
    dome__spent_outside(stop->env, DOME_OP_REGION_FAULT, stop->start, stop->start_wait);
    dome__clock_faulted(stop->env, stop->start, stop->start_wait);
}

/* ---- the profile: fetched units and faults ---- */

/* Of a task. */
enum { BYTES, READS, WRITES, WAITED, CELLS };

static uint64_t units_of(const dome_env *env, const dome_region_figures *f)
{
    uint64_t units = 0;
    for (unsigned m = 0; m < env->lazy.members->count; m++)
        units += f->units[m];
    return units;
}

/* all: the units that member `to` had from member `from`; in memory at a program's own addresses each task has a copy, and some
 * from its own member. Names the two that had most from each other. */
static void add_units(GString *text, const dome_env *env, const uint64_t *all, uint64_t bytes)
{
    const dome_member_table *t = env->lazy.members;
    uint64_t units = 0, between = 0;
    unsigned a = 0, b = 0;
    for (unsigned to = 0; to < t->count; to++) {
        units += all[to * t->count + to];
        for (unsigned from = 0; from < to; from++) {
            const uint64_t both = all[to * t->count + from] + all[from * t->count + to];
            units += both;
            if (both > between) {
                between = both;
                a = from;
                b = to;
            }
        }
    }
    g_string_append_printf(text, ": %" PRIu64 " units fetched, %.3f MB", units, (double)bytes * 1e-6);
    if (between > 0)
        g_string_append_printf(text, "; most of them, %" PRIu64 ", between tasks %d and %d (hosts %s and %s)", between,
                               t->firsts[a], t->firsts[b], env->hosts[t->firsts[a]], env->hosts[t->firsts[b]]);
}

/* cells: of all tasks. */
static void add_faults(GString *text, const dome_env *env, const uint64_t *cells)
{
    uint64_t reads = 0, writes = 0, waited = 0;
    int longest = 0;
    for (int r = 0; r < env->size; r++) {
        const uint64_t *c = cells + (size_t)r * CELLS;
        reads += c[READS];
        writes += c[WRITES];
        waited += c[WAITED];
        longest = c[WAITED] > cells[(size_t)longest * CELLS + WAITED] ? r : longest;
    }
    if (reads + writes + waited == 0)
        return;
    g_string_append_printf(text, "; %" PRIu64 " page faults to read and %" PRIu64 " to write, %.6f s waited", reads, writes,
                           (double)waited * 1e-9);
    if (waited > 0)
        g_string_append_printf(text, ", %.6f s of it by task %d (host %s)",
                               (double)cells[(size_t)longest * CELLS + WAITED] * 1e-9, longest, env->hosts[longest]);
}

static char *title(const char *name)
{
    return name ? g_strdup_printf("region '%s'", name) : g_strdup("regions without a name");
}

static int add_line(GString *text, const dome_env *env, const dome_region_figures *f)
{
    const dome_member_table *t = env->lazy.members;
    const uint64_t count = (uint64_t)t->count * t->count, mine[CELLS] = {f->bytes, f->reads, f->writes, f->waited};
    uint64_t *units = g_new0(uint64_t, count), *cells = g_new0(uint64_t, (gsize)env->size * CELLS), bytes = 0;
    memcpy(units + t->member * t->count, f->units, t->count * sizeof *units);
    int status = dome__allreduce(env->transport, DOME_I64, units, count, dome__combine_sum_i64, NULL);
    if (status == DOME_OK)
        status = dome__gather(env->transport, 0, DOME_U64, mine, CELLS, cells);
    for (int r = 0; r < env->size; r++)
        bytes += cells[(size_t)r * CELLS + BYTES];
    if (status == DOME_OK && env->rank == 0) {
        char *quoted = title(f->name);
        g_string_append(text, quoted);
        add_units(text, env, units, bytes);
        add_faults(text, env, cells);
        g_string_append_c(text, '\n');
        g_free(quoted);
    }
    g_free(units);
    g_free(cells);
    return status;
}

/* ---- the profile: false sharing ---- */

/* Of a unit, as words: task, unit, turns, how many runs are written and read, the runs. */
enum { TOLD_WORDS = 5, RUN_WORDS = sizeof(dome_element_run) / sizeof(uint64_t) };

static void put_told(void *ctx, const dome_unit_told *told)
{
    GArray *words = ctx;
    const uint64_t head[TOLD_WORDS] = {(uint64_t)told->task, told->unit, told->turns, told->written->len, told->read->len};
    g_array_append_vals(words, head, TOLD_WORDS);
    g_array_append_vals(words, told->written->data, told->written->len * RUN_WORDS);
    g_array_append_vals(words, told->read->data, told->read->len * RUN_WORDS);
}

static GArray *take_runs(const uint64_t **at, uint64_t count)
{
    GArray *runs = g_array_new(FALSE, FALSE, sizeof(dome_element_run));
    g_array_append_vals(runs, *at, (guint)count);
    *at += count * RUN_WORDS;
    return runs;
}

static void clear_told(gpointer data)
{
    dome_unit_told *told = data;
    g_array_unref(told->written);
    g_array_unref(told->read);
}

static GArray *told_of(const uint64_t *at, uint64_t words)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(dome_unit_told));
    g_array_set_clear_func(all, clear_told);
    for (const uint64_t *end = at + words; at < end;) {
        const uint64_t *head = at;
        dome_unit_told told = {.task = (int)head[0], .unit = head[1], .turns = head[2]};
        at += TOLD_WORDS;
        told.written = take_runs(&at, head[3]);
        told.read = take_runs(&at, head[4]);
        g_array_append_val(all, told);
    }
    return all;
}

/* all: what the tasks have told of one region. */
static void add_sharing(GString *text, const dome_env *env, const dome_region_figures *f, GArray *all)
{
    const dome_false_sharing found = dome__false_sharing_find(all);
    if (!found.a)
        return;
    char *quoted = title(f->name), *a = dome__element_runs_text(found.a->written), *b = dome__element_runs_text(found.b->written);
    g_string_append_printf(text,
                           "%s: %" PRIu64 " unit%s shared falsely; in one task %d (host %s) has written %s, and task %d (host "
                           "%s) %s, in %" PRIu64 " and %" PRIu64 " turns: give each task whole units (dome_region_unit)%s\n",
                           quoted, found.units, found.units == 1 ? " is" : "s are", found.a->task, env->hosts[found.a->task], a,
                           found.b->task, env->hosts[found.b->task], b, found.a->turns, found.b->turns,
                           f->release ? "" : ", or use DOME_RELEASE");
    g_free(a);
    g_free(b);
    g_free(quoted);
}

static int add_shared(GString *text, const dome_env *env, const dome_region_figures *f, dome_unit_writes *writes)
{
    GArray *mine = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    uint64_t *counts = g_new0(uint64_t, env->size), words = 0;
    dome__unit_writes_tell(writes, true, put_told, mine);
    int status = dome__allgather(env->transport, DOME_U64, &(uint64_t){mine->len}, 1, counts);
    for (int r = 0; r < env->size; r++)
        words += counts[r];
    uint64_t *all = g_new(uint64_t, words + 1);
    if (status == DOME_OK && words > 0)
        status = dome__gatherv(env->transport, 0, DOME_U64, mine->data, counts, all);
    if (status == DOME_OK && env->rank == 0) {
        GArray *told = told_of(all, words);
        add_sharing(text, env, f, told);
        g_array_unref(told);
    }
    g_free(all);
    g_free(counts);
    g_array_unref(mine);
    return status;
}

int dome__region_profile_text(const dome_env *env, char **text)
{
    const dome_member_table *t = env->lazy.members;
    int status = DOME_OK;
    *text = NULL;
    if (!t || !t->figures)
        return DOME_OK;
    GString *lines = g_string_new(NULL);
    for (guint k = 0; k < t->figures->len && status == DOME_OK; k++) {
        const dome_region_figures *f = t->figures->pdata[k];
        status = add_line(lines, env, f);
        for (guint j = 0; j < f->shared->len && status == DOME_OK; j++)
            status = add_shared(lines, env, f, f->shared->pdata[j]);
    }
    *text = g_string_free(lines, env->rank > 0);
    return status;
}

/* ---- the trace ---- */

/* Where lines about the units of a region go. */
typedef struct recording {
    dome_trace *trace;
    const char *name;
    guint region;
} recording;

static void record_unit(void *ctx, const dome_unit_told *told)
{
    const recording *r = ctx;
    if (told->turns > 0)
        dome__trace_unit(r->trace, &(dome_trace_unit){.name = r->name,
                                                      .region = r->region,
                                                      .unit = told->unit,
                                                      .task = (uint64_t)told->task,
                                                      .turns = told->turns,
                                                      .written = (const dome_element_run *)(const void *)told->written->data,
                                                      .read = (const dome_element_run *)(const void *)told->read->data,
                                                      .written_count = told->written->len,
                                                      .read_count = told->read->len});
}

static void record(dome_trace *trace, const dome_env *env, dome_region_figures *f)
{
    const uint64_t reads = __atomic_load_n(&f->reads, __ATOMIC_RELAXED), writes = __atomic_load_n(&f->writes, __ATOMIC_RELAXED);
    const uint64_t units = units_of(env, f), news = reads + writes + units;
    const bool begins = f->told_to != dome__trace_number(trace);
    const char *name = f->name ? f->name : "";
    if (news == 0 || (!begins && news == f->told))
        return;
    f->told = news;
    f->told_to = dome__trace_number(trace);
    dome__trace_region(trace, &(dome_trace_region){.name = name,
                                                   .reads = reads,
                                                   .writes = writes,
                                                   .units = units,
                                                   .bytes = f->bytes,
                                                   .waited_ns = __atomic_load_n(&f->waited, __ATOMIC_RELAXED)});
    for (guint k = 0; k < f->shared->len; k++)
        dome__unit_writes_tell(f->shared->pdata[k], begins, record_unit, &(recording){trace, name, k});
}

void dome__region_profile_record(dome_trace *trace, void *env)
{
    const dome_member_table *t = ((dome_env *)env)->lazy.members;
    for (guint k = 0; t && t->figures && k < t->figures->len; k++)
        record(trace, env, t->figures->pdata[k]);
}
