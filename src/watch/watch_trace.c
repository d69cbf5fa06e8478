#include "watch/watch_trace.h"

/* Seconds between sending records to the hub: the most that is lost if the process is killed. */
static const double TICK = 0.1;

/* The most bytes of trace lines in one message. */
enum { TRACE_LINES = 15000 };

/* In `next`: stop sending a trace. */
#define NOTHING ((dome_trace *)(void *)&nothing)
static char nothing;

void dome__watch_trace_clear(watch_trace *t)
{
    dome__trace_free(t->trace);
}

void dome__watch_trace_want(watch_trace *t, uint32_t number)
{
    atomic_store_explicit(&t->wanted, number, memory_order_relaxed);
}

bool dome__watch_trace_offer(watch_trace *t, dome_trace *trace)
{
    dome_trace *none = NULL;
    return atomic_compare_exchange_strong_explicit(&t->next, &none, trace ? trace : NOTHING, memory_order_release,
                                                   memory_order_relaxed);
}

void dome__watch_trace_begin(watch_trace *t, dome_trace *trace)
{
    t->trace = trace;
}

static void send_lines(const watch_trace *t, watch_line *line, const GString *lines)
{
    if (lines->len > 0)
        dome__watch_send(line,
                         &(dome_wire_message){.kind = DOME_WIRE_TRACE, .trace = {dome__trace_number(t->trace), lines->str}});
}

static void pass_on(const watch_trace *t, watch_line *line, watch_beats *beats, bool last)
{
    GString *lines = g_string_new(NULL);
    bool more = t->trace != NULL;
    while (more) {
        g_string_truncate(lines, 0);
        more = dome__trace_take(t->trace, dome__watch_beats_waited(beats), last, TRACE_LINES, lines);
        send_lines(t, line, lines);
        last = false;
    }
    g_string_free(lines, TRUE);
}

void dome__watch_trace_take(watch_trace *t, watch_line *line, watch_beats *beats, bool last)
{
    dome_trace *next = atomic_exchange_explicit(&t->next, NULL, memory_order_acquire);
    if (next) {
        pass_on(t, line, beats, true);
        dome__trace_free(t->trace);
        t->trace = next == NOTHING ? NULL : next;
    }
    if (last)
        pass_on(t, line, beats, true);
}

/* Seconds until the next task of the trace; asks for the hub's clock if due. */
static double next_task(const watch_trace *t, watch_line *line)
{
    double due = dome__trace_clock_due(t->trace);
    if (due <= 0) {
        dome__watch_send(line, &(dome_wire_message){.kind = DOME_WIRE_CLOCK, .clock = {.asked = dome__trace_now(t->trace)}});
        due = dome__trace_clock_due(t->trace);
    }
    return MIN(due, TICK);
}

double dome__watch_trace_turn(watch_trace *t, watch_line *line, watch_beats *beats, double now, double wait)
{
    dome__watch_trace_take(t, line, beats, false);
    if (!t->trace)
        return atomic_load_explicit(&t->wanted, memory_order_relaxed) ? MIN(wait, TICK) : wait;
    if (now - t->passed_at >= TICK) {
        pass_on(t, line, beats, false);
        t->passed_at = now;
    }
    return MIN(wait, next_task(t, line));
}

/* Takes the hub's time to be that of the middle between question and answer; the error is at most half of the time between
 * them. */
void dome__watch_trace_clock(const watch_trace *t, watch_line *line, const dome_wire_clock *clock)
{
    uint64_t asked = clock->asked, now = t->trace ? dome__trace_now(t->trace) : 0, middle = asked + (now - asked) / 2;
    if (!t->trace || now < asked)
        return;
    GString *lines = g_string_new(NULL);
    dome__trace_clock(t->trace, (int64_t)(clock->hub - middle), middle, (now - asked) / 2, lines);
    send_lines(t, line, lines);
    g_string_free(lines, TRUE);
}
