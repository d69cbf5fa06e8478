/* Handles what tasks send to the hub, over the connections of their watchers and of their output. */
#include "hub/hub_private.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void task_ended(hub_state *s, hub_client *c)
{
    dome__hub_step(c, DOME_CLIENT_END);
    if (c->exit_status >= 0)
        dome__hub_left(s, c, c->exit_status);
    else
        dome__hub_process_ended(s, c);
}

void dome__hub_closed(hub_state *s, hub_client *c)
{
    if (c->closed)
        return;
    c->closed = true;
    c->closed_at = s->now;
    dome__hub_hear_no_more(s, c);
    close(c->fd);
    if (!dome__client_has_greeted(c->state))
        return;
    if (c->channel != DOME_WIRE_WATCH) {
        dome__hub_relay(s, c, true);
        return;
    }
    if (!dome__hub_is_expected(c) || s->failure.told ||
        c->view < s->view.number) /* a task of an earlier view is not needed any more */
        return;
    if (c->rank == 0 && s->hub->rank0_is_child)
        return; /* waitpid will tell more */
    if (dome__hub_gave_up(s, c)) {
        dome__hub_notice(s, DOME_END_LOSS, false, 1, g_strdup("")); /* rank 0 has printed the reason */
        return;
    }
    if (!dome__client_is_done(c->state))
        task_ended(s, c);
}

/* Others may still wait for a message of such a task, in the last barrier, and must not wait for ever. */
void dome__hub_look_for_done(hub_state *s, double limit)
{
    bool all = true;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        all &= !dome__hub_is_task(s, c) || dome__client_is_done(c->state) || dome__client_has_left(c->state);
    }
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (!dome__hub_is_task(s, c) || !c->closed || !dome__client_is_done(c->state) || (c->rank == 0 && s->hub->rank0_is_child))
            continue;
        if (all)
            dome__hub_step(c, DOME_CLIENT_BYE);
        else if (s->now - c->closed_at > limit)
            task_ended(s, c);
    }
}

static void mismatch(hub_state *s, const hub_client *a, const hub_client *b)
{
    char first[160], second[160];
    dome__hub_operation_text(a, first, sizeof first);
    dome__hub_operation_text(b, second, sizeof second);
    dome__hub_notice(
        s, DOME_END_OWN, false, 2,
        g_strdup_printf("tasks disagree about the next operation: task %d on host %s is in %s, task %d on host %s in %s%s",
                        a->rank, a->host, first, b->rank, b->host, second,
                        strcmp(first, second) ? "" : ", with other arguments or after other operations"));
    dome__hub_ask_call_logs(s);
}

static bool all_for_ever(hub_state *s)
{
    int size;
    const hub_client **tasks = dome__hub_tasks(s, &size);
    const bool for_ever = dome__hub_for_ever(s, tasks, size);
    g_free(tasks);
    return for_ever;
}

/* Tasks at the same operation number must have the same history; and when all tasks wait in different operations, one of them
 * must at least wait for a message that is under way. */
static void compare(hub_state *s)
{
    bool all_idle = true;
    const hub_client *first = NULL, *elsewhere = NULL, *same = NULL;
    GHashTable *at = g_hash_table_new(g_int64_hash, g_int64_equal); /* a task at each operation number */
    for (guint i = 0; i < s->clients->len && !s->failure.noticed; i++) {
        hub_client *c = s->clients->pdata[i];
        if (!dome__hub_is_task(s, c))
            continue;
        if (!c->beat.came || c->closed || dome__client_has_left(c->state)) {
            all_idle = false;
            continue;
        }
        if (!same || same->beat.sequence != c->beat.sequence)
            same = g_hash_table_lookup(at, &c->beat.sequence);
        if (!same) {
            g_hash_table_insert(at, &c->beat.sequence, c);
            same = c;
        }
        if (same->beat.history != c->beat.history)
            mismatch(s, same->rank < c->rank ? same : c, same->rank < c->rank ? c : same);
        all_idle &= dome__hub_idle(s, c);
        first = first ? first : c;
        elsewhere = c->beat.sequence != first->beat.sequence ? c : elsewhere;
    }
    g_hash_table_destroy(at);
    if (all_idle && elsewhere && !s->failure.noticed && all_for_ever(s)) {
        dome__hub_wait_for_ever(s);
        mismatch(s, elsewhere->rank < first->rank ? elsewhere : first, elsewhere->rank < first->rank ? first : elsewhere);
    }
}

void dome__hub_judge_soon(hub_state *s)
{
    s->beaten = true;
}

void dome__hub_look_at_beats(hub_state *s)
{
    s->beaten = false;
    if (!s->failure.told && !s->failure.noticed && s->view.phase != DOME_VIEW_ENTERING && !dome__hub_find_deadlock(s) &&
        !s->hub->logs) /* else tasks are at different operations, by right */
        compare(s);
}

/* Handles a task's first message. */
static void greet(hub_state *s, hub_client *c, const dome_wire_message *message)
{
    if (message->kind != DOME_WIRE_HELLO) {
        dome__hub_closed(s, c);
        return;
    }
    c->rank = (int)message->hello.rank;
    c->pid = (int)message->hello.pid;
    c->tid = (int)message->hello.tid;
    c->host = g_strdup(message->hello.host);
    c->view = message->hello.view;
    c->parent = (int)message->hello.parent;
    c->greeted_at = s->now;
    dome_view_act then;
    if (!dome__hub_view_greet(s, c, &then)) { /* a task of an earlier view that was thought dead */
        dome__hub_closed(s, c);
        return;
    }
    dome__hub_step(c, then.action == DOME_VIEW_AGAIN ? DOME_CLIENT_ASTRAY : DOME_CLIENT_HELLO);
    if (c->channel == DOME_WIRE_WATCH) {
        dome__hub_once_greeted(s, c);
        c->process = dome__hub_process_open(s, c);
        dome__hub_note_watch(s, c);
        if (c->rank == 0 && c->state == DOME_CLIENT_RUNS)
            dome__hub_rank0_came(s);
    } else if (!dome__hub_hear_from_now(s, c)) {
        dome__hub_closed(s, c);
        return;
    }
    dome__hub_send(c, &(dome_wire_message){.kind = DOME_WIRE_WELCOME});
    if (s->record.number && c->channel == DOME_WIRE_WATCH) {
        dome__hub_record_view(s, c->view);
        dome__hub_send_record(s, c);
    }
    if (then.action == DOME_VIEW_AGAIN)
        dome__hub_send_back(s, c);
    else
        dome__hub_view_act(s, then);
    if (s->failure.told && c->channel == DOME_WIRE_WATCH)
        dome__hub_send_end(s, c, "");
}

/* Most beats tell what the one before did. */
static void keep(char **of, const char *text)
{
    if (g_strcmp0(*of, text) == 0)
        return;
    g_free(*of);
    *of = g_strdup(text);
}

/* Whether it waits as it did at the beat before, and nothing has come meanwhile. */
static bool is_still(const hub_beat *before, const dome_wire_beat *beat)
{
    return beat->waiting && before->came && beat->sequence == before->sequence && beat->progress == before->progress &&
           beat->awaited == before->awaited;
}

static void note_beat(hub_beat *b, const dome_wire_beat *beat, double now)
{
    b->idle = is_still(b, beat) ? b->idle + 1 : 0;
    if (!b->idle)
        b->moved_at = now;
    keep(&b->operation, beat->operation);
    keep(&b->object, beat->object);
    b->came = true;
    b->answered = beat->queries > 0; /* a program gets at most one query */
    b->waiting = beat->waiting;
    b->bare = beat->bare;
    b->sequence = beat->sequence;
    b->history = beat->history;
    b->progress = beat->progress;
    b->loop = MAX(b->loop, beat->loop);
    b->awaited = beat->awaited;
    b->busy = beat->busy / 1e3;
    b->load = beat->load == UINT32_MAX ? -1 : beat->load / 1e2;
    b->waited = (double)beat->waited * 1e-9;
}

static void take_beat(hub_state *s, hub_client *c, const dome_wire_beat *beat)
{
    note_beat(&c->beat, beat, s->now);
    dome__hub_judge_soon(s);
    if (c->rank != 0)
        return;
    if (beat->checkpoint)
        dome__hub_report_checkpoint(s, (int64_t)beat->checkpoint - 1);
    dome__hub_record_open(s); /* after TRACE_OPEN, if there is one, which is sent before the first beat */
}

/* A task tells of itself, or of another one of its host. */
static void take_beat_of(hub_state *s, hub_client *c, const dome_wire_beat *beat)
{
    hub_client *of = (int)beat->rank == c->rank ? c : dome__hub_watch_of(s, beat->rank);
    if (!of || of->closed || of->view != c->view || strcmp(of->host, c->host) != 0)
        return;
    of->heard = s->now;
    of->told_of = of != c;
    take_beat(s, of, beat);
}

static void take_fail(hub_state *s, hub_client *c, const dome_wire_fail *fail)
{
    if (fail->disagree)
        dome__hub_ask_call_logs(s);
    dome__hub_notice_reason(s, (dome_end)MIN(fail->end, DOME_END_LOSS), (int)fail->status, fail->line);
    dome__hub_step(c, DOME_CLIENT_FAIL);
}

/* A task that was told to go back may have failed before it heard so, or have come to its end. */
static bool is_late(hub_state *s, hub_client *c, dome_wire_kind kind)
{
    if (c->state == DOME_CLIENT_REPLACED)
        return kind == DOME_WIRE_FAIL;
    if (!dome__client_is_away(c->state) || !s->view.healing)
        return false;
    if (kind == DOME_WIRE_BYE)
        dome__hub_lost(s, c, "it has come to its end, and cannot go back to heal the program");
    return kind == DOME_WIRE_FAIL;
}

/* Between the loss of a newcomer and what follows from it the view does not stand. */
static void take_stands(hub_state *s, hub_client *c, const dome_wire_message *message)
{
    if (s->failure.noticed && s->view.phase == DOME_VIEW_ENTERING && !s->view.healing)
        return;
    dome__hub_view_stands(s, &message->view);
    dome__hub_heal_keep_facts(s, message->view.facts);
    dome__hub_healed(s, &message->view);
    if (message->view.number == s->view.number)
        dome__hub_send(c, message);
}

/* A message by which tasks come to another view, or refuse to. False: it is about something else. */
static bool take_view_message(hub_state *s, hub_client *c, const dome_wire_message *message)
{
    switch (message->kind) {
    case DOME_WIRE_HOLD:
        dome__hub_view_held(s, c, &message->hold);
        return true;
    case DOME_WIRE_STOP:
        dome__hub_suspend_said(s);
        return true;
    case DOME_WIRE_MEET:
        dome__hub_want_meeting(s);
        return true;
    case DOME_WIRE_POSTPONE:
        dome__hub_view_postpone(s, message->postponed);
        dome__hub_meet(s);
        return true;
    case DOME_WIRE_STANDBY:
        dome__hub_standby_start(s, c, &message->standby);
        return true;
    case DOME_WIRE_REFUSE:
        dome__hub_standby_end(s);
        dome__hub_view_refuse(s, &message->refuse);
        return true;
    case DOME_WIRE_CHANGE:
        dome__hub_view_change(s, c, &message->change);
        return true;
    case DOME_WIRE_STANDS:
        take_stands(s, c, message);
        return true;
    default:
        return false;
    }
}

static void take_message(hub_state *s, hub_client *c, dome_wire_message *message)
{
    if (is_late(s, c, message->kind) || take_view_message(s, c, message))
        return;
    switch (message->kind) {
    case DOME_WIRE_BEAT:
        take_beat_of(s, c, &message->beat);
        break;
    case DOME_WIRE_FAIL:
        take_fail(s, c, &message->fail);
        break;
    case DOME_WIRE_SIGNAL:
        c->last_signal = (int)message->signal & 0x7f;
        break;
    case DOME_WIRE_CALL_LOG:
        dome__hub_take_call_log(s, c->rank, g_steal_pointer(&message->calls));
        break;
    case DOME_WIRE_EXITING:
        c->exit_status = (int)message->status & 0xff;
        break;
    case DOME_WIRE_WAITS:
    case DOME_WIRE_GIVEN:
        dome__hub_inquiry_answer(s, c, message);
        break;
    case DOME_WIRE_BYE:
        dome__hub_step(c, DOME_CLIENT_BYE);
        break;
    case DOME_WIRE_DONE:
        dome__hub_step(c, DOME_CLIENT_IS_DONE);
        break;
    case DOME_WIRE_SHOWN:
        dome__hub_once_told(s, c, &message->shown);
        break;
    case DOME_WIRE_TIMES:
        dome__hub_history_took(s, &message->times);
        break;
    case DOME_WIRE_CLOCK:
        message->clock.hub = dome__now_ns();
        dome__hub_send(c, message);
        break;
    case DOME_WIRE_TRACE_OPEN:
        dome__hub_record_trace(s, c->view, &message->trace_open);
        break;
    case DOME_WIRE_TRACE:
        dome__hub_record_take(s, c, &message->trace);
        break;
    default:
        break;
    }
}

void dome__hub_receive(hub_state *s, hub_client *c)
{
    static guint8 buffer[65536]; /* one thread reads; stacks may be small */
    /* Of output one piece: between its beats this process may have to read that of hundreds of tasks. */
    int rounds = dome__hub_is_output(c) ? 1 : 16;
    for (int round = 0; round < rounds && !c->closed && !dome__hub_holds(s, c); round++) {
        ssize_t n = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (n <= 0) {
            dome__hub_closed(s, c);
            return;
        }
        c->heard = s->now;
        c->told_of = false;
        g_byte_array_append(c->in, buffer, (guint)n);
        if ((gsize)n < sizeof buffer)
            rounds = 0; /* there is no more */
        if (dome__hub_is_output(c)) {
            dome__hub_relay(s, c, false);
            continue;
        }
        dome_wire_message message;
        int have = 0;
        while (!c->closed && !dome__hub_is_output(c) && (have = dome__wire_next(c->in, &c->macs.in, &message)) > 0) {
            if (dome__client_has_greeted(c->state))
                take_message(s, c, &message);
            else
                greet(s, c, &message);
            dome__wire_clear(&message);
        }
        if (have == DOME_WIRE_ALTERED && dome__client_has_greeted(c->state) && !c->closed && dome__hub_is_expected(c))
            dome__hub_lost(s, c, "a message of its connection was altered on the way");
        if (have < 0 && !c->closed)
            dome__hub_closed(s, c);
    }
}
