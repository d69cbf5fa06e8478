/* Recordings of tasks, for --dome-trace or on demand. */
#include "hub/hub_private.h"

#include <string.h>

dome_trace_sink *dome__hub_sink(const hub_state *s)
{
    return s->record.trace ? s->record.trace : dome__demand_sink(s->record.demand);
}

void dome__hub_record_open(hub_state *s)
{
    if (s->record.demand)
        return;
    s->record.demand = dome__demand_open(dome__hub_command_line, NULL, s);
    if (s->record.trace)
        dome__demand_lend(s->record.demand, dome__trace_sink_path(s->record.trace));
}

void dome__hub_record_close(hub_state *s, int status)
{
    dome__trace_sink_close(s->record.trace, status, s->hub->report_fd >= 0);
    dome__demand_close(s->record.demand, status);
}

void dome__hub_record_trace(hub_state *s, uint32_t view, const dome_wire_trace_open *open)
{
    if (s->record.trace)
        dome__trace_sink_again(s->record.trace, open->command, view);
    else
        s->record.trace = dome__trace_sink_open(open->path, open->command, open->append);
}

void dome__hub_record_take(hub_state *s, const hub_client *c, const dome_wire_trace *trace)
{
    dome_trace_sink *sink = !trace->number                      ? s->record.trace
                            : trace->number == s->record.number ? dome__demand_sink(s->record.demand)
                                                                : NULL;
    dome__trace_sink_take(sink, c->view, c->rank, trace->lines, strlen(trace->lines));
}

void dome__hub_send_record(const hub_state *s, hub_client *c)
{
    dome__hub_send(c, &(dome_wire_message){.kind = DOME_WIRE_RECORD, .recording = s->record.number});
}

void dome__hub_record_view(hub_state *s, uint32_t view)
{
    if (view <= s->record.view)
        return;
    char *command = dome__hub_command_line(s);
    s->record.view = view;
    dome__trace_sink_again(dome__demand_sink(s->record.demand), command, view);
    g_free(command);
}

void dome__hub_attend(hub_state *s)
{
    uint32_t wanted = dome__demand_step(s->record.demand);
    if (wanted == s->record.number)
        return;
    s->record.number = wanted;
    s->record.view = s->view.number;
    if (wanted)
        dome__hub_history_recite(s, dome__demand_sink(s->record.demand));
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_there(c))
            dome__hub_send_record(s, c);
    }
}
