/* What tasks record, for --dome-trace or on demand. */
#include "hub/hub_private.h"

dome_trace_sink *dome__hub_sink(const hub_state *s)
{
    return s->trace ? s->trace : dome__demand_sink(s->demand);
}

void dome__hub_send_record(const hub_state *s, hub_client *c)
{
    dome__hub_send(c, &(dome_wire_message){.kind = DOME_WIRE_RECORD, .recording = s->recording});
}

void dome__hub_record_view(hub_state *s, uint32_t view)
{
    if (view <= s->recorded_view)
        return;
    char *command = dome__hub_command_line(s);
    s->recorded_view = view;
    dome__trace_sink_again(dome__demand_sink(s->demand), command, view);
    g_free(command);
}

void dome__hub_attend(hub_state *s)
{
    uint32_t wanted = dome__demand_step(s->demand);
    if (wanted == s->recording)
        return;
    s->recording = wanted;
    s->recorded_view = s->view.number;
    if (wanted)
        dome__hub_history_recite(s, dome__demand_sink(s->demand));
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_there(c))
            dome__hub_send_record(s, c);
    }
}
