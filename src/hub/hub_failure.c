/* Failures: notices them, tells all tasks, and kills those that do not end. */
#include "hub/hub_private.h"
#include "system/say.h"
#include "system/terminal.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

void dome__hub_notice(hub_state *s, dome_end end, bool ask_operation, int exit_status, char *text)
{
    if (s->failure.noticed || s->failure.told) {
        g_free(text);
        return;
    }
    s->failure.noticed = text;
    s->failure.noticed_at = s->now;
    s->failure.ask_operation = ask_operation;
    s->failure.exit_status = exit_status;
    s->failure.end = MAX(s->failure.end, end);
    if (!ask_operation)
        return;
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_watch(c) && !c->closed)
            dome__hub_send(c, &(dome_wire_message){.kind = DOME_WIRE_QUERY});
    }
}

void dome__hub_notice_reason(hub_state *s, dome_end end, int exit_status, const char *text)
{
    if (s->failure.told)
        return;
    g_clear_pointer(&s->failure.noticed, g_free);
    dome__hub_notice(s, end, false, exit_status, g_strdup(text));
}

void dome__hub_notice_anew(hub_state *s, dome_end end, int exit_status, char *text)
{
    g_free(s->failure.noticed);
    s->failure.noticed = text;
    s->failure.ask_operation = false;
    s->failure.exit_status = exit_status;
    s->failure.end = end;
}

void dome__hub_notice_loss(hub_state *s)
{
    s->failure.end = DOME_END_LOSS;
}

void dome__hub_notice_silent(hub_state *s, char *host)
{
    g_free(s->failure.silent);
    s->failure.silent = host;
}

void dome__hub_notice_place(hub_state *s, bool known)
{
    s->failure.place_unknown = !known;
}

void dome__hub_notice_cause(hub_state *s, uint64_t cause)
{
    s->failure.cause = cause;
}

void dome__hub_failure_forget(hub_state *s)
{
    g_clear_pointer(&s->failure.noticed, g_free);
    g_clear_pointer(&s->failure.silent, g_free);
    s->failure.ask_operation = s->failure.place_unknown = false;
    s->failure.exit_status = 0;
    s->failure.cause = DOME_CAUSE_PROGRAM;
    s->failure.end = DOME_END_OWN;
}

void dome__hub_failure_close(hub_state *s)
{
    g_free(s->failure.noticed);
    g_free(s->failure.silent);
    g_free(s->failure.line);
}

void dome__hub_lost(hub_state *s, hub_client *c, const char *how)
{
    c->lost = true;
    dome__hub_notice(s, DOME_END_LOSS, true, 1, g_strdup_printf("task %d on host %s is lost: %s", c->rank, c->host, how));
}

void dome__hub_left(hub_state *s, const hub_client *c, int exit_status)
{
    dome__hub_notice(
        s, DOME_END_OWN, false, exit_status ? exit_status : 1,
        g_strdup_printf("task %d on host %s ended with exit status %d without dome_finalize", c->rank, c->host, exit_status));
}

const char *dome__hub_operation_text(const hub_client *c, char *buffer, size_t size)
{
    if (!dome__hub_in_operation(c))
        snprintf(buffer, size, "the program's own code");
    else if (c->beat.object && c->beat.object[0])
        snprintf(buffer, size, "%s of '%s'", c->beat.operation, c->beat.object);
    else
        snprintf(buffer, size, "%s", c->beat.operation);
    return buffer;
}

void dome__hub_send_end(const hub_state *s, hub_client *c, const char *text)
{
    dome__hub_send(c, &(dome_wire_message){.kind = DOME_WIRE_END, .end = {(uint32_t)s->failure.exit_status, text}});
}

/* The PVM console shows a task's output only while the task lives: if rank 0 has ended, another task prints the line. NULL while
 * rank 0 is connected. */
static const hub_client *speaker_for_rank0(const hub_state *s)
{
    const hub_client *speaker = NULL;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (!dome__hub_is_there(c))
            continue;
        if (c->rank == 0)
            return NULL;
        if (!speaker || c->rank < speaker->rank)
            speaker = c;
    }
    return speaker;
}

/* Kills tasks through the launcher, which reaches all hosts. closed: also tasks that closed their connections without a farewell,
 * whose processes may have exec'd another program. open: also those still connected. */
static void kill_tasks(hub_state *s, bool closed, bool open)
{
    int *tids = g_new0(int, s->clients->len + 1), n = 0;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_watch(c) && c->rank != 0 && c->tid && (c->closed ? closed && !dome__client_may_end(c->state) : open))
            tids[n++] = c->tid;
    }
    dome__hub_launcher_kill(s, tids, n);
    g_free(tids);
}

/* Seconds that PVM's daemon needs to take over a line of output. */
static const double CONSOLE_PATIENCE = 0.5;

char *dome__hub_reason(const hub_state *s)
{
    char where[160] = "";
    if (s->failure.ask_operation) {
        const hub_client *lowest = NULL;
        for (guint i = 0; i < s->clients->len; i++) {
            const hub_client *c = s->clients->pdata[i];
            if (c->channel == DOME_WIRE_WATCH && c->beat.came && !c->closed && c->beat.answered &&
                (!lowest || (dome__hub_in_operation(c) && !dome__hub_in_operation(lowest)) ||
                 (c->rank < lowest->rank && dome__hub_in_operation(c) == dome__hub_in_operation(lowest))))
                lowest = c;
        }
        if (!lowest)
            for (guint i = 0; i < s->clients->len && !lowest; i++) {
                const hub_client *c = s->clients->pdata[i];
                lowest = c->channel == DOME_WIRE_WATCH && c->beat.came ? c : NULL;
            }
        if (lowest)
            dome__hub_operation_text(lowest, where, sizeof where);
    }
    return where[0] ? g_strdup_printf("%s; the program was in %s", s->failure.noticed, where) : g_strdup(s->failure.noticed);
}

void dome__hub_tell(hub_state *s)
{
    char *difference = s->difference.call_logs ? dome__hub_difference(s) : NULL;
    if (difference) {
        g_free(s->failure.noticed);
        s->failure.noticed = difference;
    }
    char *reason = dome__hub_reason(s), *plain = dome__plain(reason);
    char *line = s->failure.noticed[0] ? g_strdup_printf(DOME_SAY_PREFIX "%s\n", plain) : g_strdup("");
    const hub_client *speaker = s->hub->rank0_is_child ? NULL : speaker_for_rank0(s);
    bool reported = s->hub->report_fd >= 0 && s->failure.end != DOME_END_OWN && !s->rank0.ending;
    if (line[0] && !speaker && !reported) {
        dome__hub_say(s, reason);
        if (!s->hub->rank0_is_child) /* PVM shows only what rank 0's streams got before its end */
            dome__hub_flush(s, CONSOLE_PATIENCE);
    }
    g_free(plain);
    g_free(reason);
    if (line[0])
        dome__trace_sink_failure(dome__hub_sink(s), line);
    s->failure.line = g_strdup(line);
    s->failure.told = true;
    s->failure.told_at = s->now;
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_watch(c) && !c->closed)
            dome__hub_send_end(s, c, c == speaker ? line : "");
    }
    g_free(line);
}

/* Kills tasks that have not come back into the next view: their launcher does not know them either. */
static void kill_away(const hub_state *s)
{
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (dome__client_is_away(c->state))
            dome__hub_process_kill(c);
    }
}

void dome__hub_kill_lost(hub_state *s)
{
    s->failure.lost_killed = true;
    kill_tasks(s, true, false);
    kill_away(s);
}

void dome__hub_kill_rest(hub_state *s)
{
    s->failure.killed = true;
    s->failure.killed_at = s->now;
    if (s->hub->rank0_is_child ? !s->rank0.ended : getppid() == s->rank0.pid)
        kill(s->rank0.pid, SIGKILL);
    kill_tasks(s, true, true);
    kill_away(s);
}
