/* Keeps the history of views (history.h), and writes it into what is recorded. */
#include "hub/hub_private.h"

static int count_hosts(const hub_state *s)
{
    GHashTable *different = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_task(s, c))
            g_hash_table_add(different, c->host);
    }
    const int count = (int)g_hash_table_size(different);
    g_hash_table_unref(different);
    return count;
}

static void write_line(dome_trace_sink *sink, char *line)
{
    dome__trace_sink_line(sink, line);
    g_free(line);
}

const char *dome__hub_option(const hub_state *s, int asker)
{
    static const char *const names[2][2] = {{"--dome-size auto", "--size auto"}, {"--dome-hosts-script", "--hosts-script"}};
    return names[asker == DOME_HUB_SCRIPT][s->hub->by_command];
}

void dome__hub_history_ordered(hub_state *s, const dome_order *order, int asker)
{
    static const char *const commands[] = {"dome grow", "dome shrink", "dome move"};
    s->history.order_from =
        asker == DOME_HUB_SCRIPT || asker == DOME_HUB_SIZE ? dome__hub_option(s, asker) : commands[order->kind];
}

void dome__hub_history_open(hub_state *s)
{
    dome__history_init(&s->history.views);
}

void dome__hub_history_close(hub_state *s)
{
    dome__history_clear(&s->history.views);
}

void dome__hub_history_entered(hub_state *s)
{
    s->history.entered_at = s->now;
}

void dome__hub_history_changes(hub_state *s, bool ordered)
{
    dome__history_begin(&s->history.views, false, ordered ? s->history.order_from : "dome_resize",
                        ordered ? s->now - s->orders.asked_at : 0);
}

void dome__hub_history_loss(hub_state *s, const char *reason, double noticing)
{
    dome__history_begin(&s->history.views, true, reason, noticing);
}

void dome__hub_history_ended(hub_state *s, uint32_t number)
{
    uint64_t loops = 0;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        loops = c->view == number ? MAX(loops, c->beat.loop) : loops;
    }
    s->history.loops_before += loops;
}

void dome__hub_history_count_from(hub_state *s, uint64_t loops)
{
    s->history.loops_before = loops;
}

void dome__hub_history_stands(hub_state *s)
{
    const dome_view_note *note = dome__history_stands(&s->history.views, s->view.number, s->view.size, count_hosts(s),
                                                      dome__hub_now() - s->report.started, dome__now_ns());
    write_line(dome__hub_sink(s), dome__view_note_begins(note));
}

void dome__hub_history_took(hub_state *s, const dome_wire_times *times)
{
    const dome_change_parts parts = {.members = (double)times->members * 1e-9,
                                     .blocks = (double)times->blocks * 1e-9,
                                     .joining = (double)times->joining * 1e-9,
                                     .preamble = (double)times->preamble * 1e-9};
    const dome_view_note *note = dome__history_timed(&s->history.views, times->number, &parts);
    if (note)
        write_line(dome__hub_sink(s), dome__view_note_took(note, dome__now_ns()));
}

void dome__hub_history_recite(const hub_state *s, dome_trace_sink *sink)
{
    for (guint i = 0; i < s->history.views.notes->len; i++) {
        const dome_view_note *note = s->history.views.notes->pdata[i];
        write_line(sink, dome__view_note_begins(note));
        if (note->timed)
            write_line(sink, dome__view_note_took(note, note->ns));
    }
}
