/* What tasks record: of --dome-trace, or on demand. */
#include "supervision/hub_private.h"

dome_trace_sink *dome__hub_sink(const hub_state *s)
{
    return s->trace ? s->trace : dome__demand_sink(s->demand);
}

void dome__hub_send_record(const hub_state *s, const hub_client *c)
{
    GByteArray *frame = dome__wire_new(DOME_WIRE_RECORD);
    dome__wire_put_u32(frame, s->recording);
    dome__wire_send(c->fd, frame);
}

void dome__hub_attend(hub_state *s)
{
    uint32_t wanted = dome__demand_step(s->demand);
    if (wanted == s->recording)
        return;
    s->recording = wanted;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (c->greeted && !c->closed && !c->left && c->channel == DOME_WIRE_WATCH)
            dome__hub_send_record(s, c);
    }
}
