#include "wire/history.h"

#include "trace/record.h"

#include <inttypes.h>
#include <string.h>

void dome__view_note_free(dome_view_note *note)
{
    if (!note)
        return;
    g_free(note->kind);
    g_free(note->why);
    g_free(note);
}

dome_view_note *dome__view_note_copy(const dome_view_note *note)
{
    dome_view_note *copy = g_memdup2(note, sizeof *note);
    copy->kind = g_strdup(note->kind);
    copy->why = g_strdup(note->why);
    return copy;
}

static void free_note(void *data)
{
    dome__view_note_free(data);
}

double dome__view_note_still(const dome_view_note *note)
{
    const dome_change_parts *p = &note->parts;
    const bool heals = strcmp(note->kind, "heal") == 0;
    return note->timed ? p->members + p->blocks + p->joining + p->preamble + (heals ? p->noticing : 0) : -1;
}

void dome__history_init(dome_history *h)
{
    *h = (dome_history){.notes = g_ptr_array_new_with_free_func(free_note)};
}

void dome__history_clear(dome_history *h)
{
    g_clear_pointer(&h->notes, g_ptr_array_unref);
    g_clear_pointer(&h->why, g_free);
}

void dome__history_begin(dome_history *h, bool heals, const char *why, double noticing)
{
    char *own = g_strdup(why);
    g_free(h->why);
    h->why = own;
    h->heals = heals;
    h->noticing = MAX(noticing, 0);
}

static const char *kind_of(const dome_history *h, int tasks)
{
    if (h->notes->len == 0)
        return "start";
    const dome_view_note *before = h->notes->pdata[h->notes->len - 1];
    return h->heals ? "heal" : tasks > before->tasks ? "grow" : tasks < before->tasks ? "shrink" : "move";
}

const dome_view_note *dome__history_stands(dome_history *h, uint32_t number, int tasks, int hosts, double at, uint64_t ns)
{
    dome_view_note *note = g_new0(dome_view_note, 1);
    *note = (dome_view_note){.number = number,
                             .tasks = tasks,
                             .hosts = hosts,
                             .at = at,
                             .ns = ns,
                             .kind = g_strdup(kind_of(h, tasks)),
                             .why = h->why ? g_steal_pointer(&h->why) : g_strdup(""),
                             .parts = {.noticing = h->noticing}};
    h->heals = false;
    h->noticing = 0;
    if (h->notes->len == DOME_HISTORY_MOST) {
        g_ptr_array_remove_index(h->notes, 1); /* the first one stays */
        h->left_out++;
    }
    g_ptr_array_add(h->notes, note);
    return note;
}

const dome_view_note *dome__history_timed(dome_history *h, uint32_t number, const dome_change_parts *parts)
{
    for (guint i = h->notes->len; i-- > 0;) {
        dome_view_note *note = h->notes->pdata[i];
        if (note->number != number)
            continue;
        const double noticing = note->parts.noticing;
        note->parts = *parts;
        note->parts.noticing = noticing;
        note->timed = true;
        return note;
    }
    return NULL;
}

static uint64_t in_ns(double seconds)
{
    return (uint64_t)(MAX(seconds, 0) * 1e9);
}

char *dome__view_note_begins(const dome_view_note *note)
{
    GString *line = g_string_new(NULL);
    g_string_printf(line, "V %" PRIu64 " %" PRIu32 " %d %d %" PRIu64, note->ns, note->number, note->tasks, note->hosts,
                    in_ns(note->parts.noticing));
    dome__trace_put_text(line, note->kind);
    dome__trace_put_text(line, note->why);
    g_string_append_c(line, '\n');
    return g_string_free(line, FALSE);
}

char *dome__view_note_took(const dome_view_note *note, uint64_t now_ns)
{
    const dome_change_parts *p = &note->parts;
    return g_strdup_printf("P %" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", now_ns, note->number,
                           in_ns(p->members), in_ns(p->blocks), in_ns(p->joining), in_ns(p->preamble));
}
