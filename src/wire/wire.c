#include "wire/wire.h"

#include "core/call_log.h"
#include "system/bytes.h"
#include "system/sockets.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

/* A frame begins with its length and its kind. */
enum { LENGTH_BYTES = 4, HEAD_BYTES = 8 };

/* TEXT_MOST: longest text. CALL_ROOM: most bytes of a frame for a call of a call log. CALL_TEXT_MOST: longest text in such a
 * call. */
enum { TEXT_MOST = DOME_WIRE_MAX / 4, CALL_ROOM = 4096, CALL_TEXT_MOST = CALL_ROOM / (2 * DOME_CALL_LOG_WORDS + 2) - 4 };

/* ---- fields ---- */

typedef struct field {
    enum { NONE, U32, U64, TEXT, CALLS, NUMBERS } type;
    size_t at;
} field;

enum { FIELDS_MOST = 16 };

#define FIELD(type, name)                                                                                                        \
    {                                                                                                                            \
        type, offsetof(dome_wire_message, name)                                                                                  \
    }

/* By kind, the fields in the order in which they are sent: one list for writing and reading. */
static const field fields[DOME_WIRE_KINDS][FIELDS_MOST] = {
    [DOME_WIRE_HELLO] = {FIELD(U32, hello.rank), FIELD(U32, hello.pid), FIELD(U32, hello.tid), FIELD(TEXT, hello.host),
                         FIELD(U32, hello.view), FIELD(U32, hello.parent)},
    [DOME_WIRE_BEAT] = {FIELD(U32, beat.rank), FIELD(U64, beat.sequence), FIELD(U64, beat.history), FIELD(TEXT, beat.operation),
                        FIELD(U32, beat.waiting), FIELD(U64, beat.progress), FIELD(TEXT, beat.object), FIELD(U32, beat.queries),
                        FIELD(U32, beat.busy), FIELD(U32, beat.load), FIELD(U64, beat.checkpoint), FIELD(U64, beat.loop),
                        FIELD(U64, beat.awaited), FIELD(U32, beat.bare), FIELD(U64, beat.waited)},
    [DOME_WIRE_FAIL] = {FIELD(U32, fail.status), FIELD(TEXT, fail.line), FIELD(U32, fail.end), FIELD(U32, fail.disagree)},
    [DOME_WIRE_EXITING] = {FIELD(U32, status)},
    [DOME_WIRE_END] = {FIELD(U32, end.status), FIELD(TEXT, end.text)},
    [DOME_WIRE_CLOCK] = {FIELD(U64, clock.asked), FIELD(U64, clock.hub)},
    [DOME_WIRE_TRACE_OPEN] = {FIELD(TEXT, trace_open.path), FIELD(TEXT, trace_open.command), FIELD(U32, trace_open.append)},
    [DOME_WIRE_TRACE] = {FIELD(U32, trace.number), FIELD(TEXT, trace.lines)},
    [DOME_WIRE_STARTED] = {FIELD(U32, started.rank0), FIELD(U32, started.daemon), FIELD(TEXT, started.directory)},
    [DOME_WIRE_REPORT] = {FIELD(U32, report.end), FIELD(TEXT, report.line), FIELD(TEXT, report.silent),
                          FIELD(U64, report.sequence), FIELD(U64, report.loop), FIELD(U32, report.place_known),
                          FIELD(U64, report.cause), FIELD(U32, report.status)},
    [DOME_WIRE_RECORD] = {FIELD(U32, recording)},
    [DOME_WIRE_SIGNAL] = {FIELD(U32, signal)},
    [DOME_WIRE_CALL_LOG] = {FIELD(CALLS, calls)},
    [DOME_WIRE_HOSTS] = {FIELD(TEXT, hosts)},
    [DOME_WIRE_HOLD] = {FIELD(U64, hold.order), FIELD(U64, hold.loop)},
    [DOME_WIRE_TARGET] = {FIELD(U64, hold.order), FIELD(U64, hold.loop), FIELD(TEXT, hold.plan)},
    [DOME_WIRE_POSTPONE] = {FIELD(U64, postponed)},
    [DOME_WIRE_REFUSE] = {FIELD(U64, refuse.order), FIELD(TEXT, refuse.why)},
    [DOME_WIRE_CHANGE] = {FIELD(U32, change.number), FIELD(TEXT, change.plan)},
    [DOME_WIRE_MEMBERS] = {FIELD(TEXT, members)},
    [DOME_WIRE_STANDS] = {FIELD(U32, view.number), FIELD(U32, view.size), FIELD(U32, view.least), FIELD(U32, view.most),
                          FIELD(U64, view.checkpoint), FIELD(U64, view.loop), FIELD(U32, view.saves), FIELD(TEXT, view.facts)},
    [DOME_WIRE_TIMES] = {FIELD(U32, times.number), FIELD(U64, times.members), FIELD(U64, times.blocks), FIELD(U64, times.joining),
                         FIELD(U64, times.preamble)},
    [DOME_WIRE_BACK] = {FIELD(U32, back.number), FIELD(U32, back.rank), FIELD(TEXT, back.plan), FIELD(TEXT, back.avoid),
                        FIELD(U32, back.keeps)},
    [DOME_WIRE_STANDBY] = {FIELD(U32, standby.descriptor), FIELD(TEXT, standby.text)},
    [DOME_WIRE_SHOWN] = {FIELD(U32, shown.what), FIELD(U64, shown.loop)},
    [DOME_WIRE_WAITS] = {FIELD(U32, numbers.inquiry), FIELD(NUMBERS, numbers.numbers)},
    [DOME_WIRE_GIVEN] = {FIELD(U32, numbers.inquiry), FIELD(NUMBERS, numbers.numbers)},
};

static void call_clear(void *item)
{
    dome_wire_call *call = item;
    g_free(call->text);
    g_strfreev(call->arguments);
}

GArray *dome__wire_calls_new(void)
{
    GArray *calls = g_array_new(FALSE, TRUE, sizeof(dome_wire_call));
    g_array_set_clear_func(calls, call_clear);
    return calls;
}

static void put_calls(GByteArray *frame, const GArray *calls)
{
    for (guint i = 0; calls && i < calls->len && frame->len < DOME_WIRE_MAX - CALL_ROOM; i++) {
        const dome_wire_call *call = &g_array_index(calls, dome_wire_call, i);
        dome__append_u64(frame, call->sequence);
        dome__append_u64(frame, call->history);
        dome__append_text(frame, call->text, CALL_TEXT_MOST);
        dome__append_u32(frame, g_strv_length(call->arguments));
        for (char **a = call->arguments; *a; a++)
            dome__append_text(frame, *a, CALL_TEXT_MOST);
    }
}

static GArray *get_calls(dome_bytes *from)
{
    GArray *calls = dome__wire_calls_new();
    while (from->at < from->end && !from->bad) {
        dome_wire_call call = {0};
        call.sequence = dome__read_u64(from);
        call.history = dome__read_u64(from);
        call.text = dome__read_text(from);
        uint32_t count = dome__read_u32(from);
        from->bad |= count > 2 * DOME_CALL_LOG_WORDS || calls->len == DOME_CALL_LOG_LENGTH;
        count = from->bad ? 0 : count;
        call.arguments = g_new0(char *, count + 1);
        for (uint32_t k = 0; k < count; k++)
            call.arguments[k] = dome__read_text(from);
        g_array_append_val(calls, call);
    }
    return calls;
}

static void put_numbers(GByteArray *frame, const GArray *numbers)
{
    for (guint i = 0; numbers && i < numbers->len && frame->len < LENGTH_BYTES + DOME_WIRE_MAX; i++)
        dome__append_u32(frame, g_array_index(numbers, uint32_t, i));
}

static GArray *get_numbers(dome_bytes *from)
{
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    while (from->at < from->end && !from->bad) {
        const uint32_t number = dome__read_u32(from);
        g_array_append_val(numbers, number);
    }
    return numbers;
}

static void put_field(GByteArray *frame, const field *f, const void *value)
{
    switch (f->type) {
    case U32:
        dome__append_u32(frame, *(const uint32_t *)value);
        break;
    case U64:
        dome__append_u64(frame, *(const uint64_t *)value);
        break;
    case TEXT:
        dome__append_text(frame, *(const char *const *)value, TEXT_MOST);
        break;
    case CALLS:
        put_calls(frame, *(GArray *const *)value);
        break;
    case NUMBERS:
        put_numbers(frame, *(GArray *const *)value);
        break;
    case NONE:
        break;
    }
}

static void get_field(dome_bytes *from, const field *f, void *value)
{
    switch (f->type) {
    case U32:
        *(uint32_t *)value = dome__read_u32(from);
        break;
    case U64:
        *(uint64_t *)value = dome__read_u64(from);
        break;
    case TEXT:
        *(char **)value = dome__read_text(from);
        break;
    case CALLS:
        *(GArray **)value = get_calls(from);
        break;
    case NUMBERS:
        *(GArray **)value = get_numbers(from);
        break;
    case NONE:
        break;
    }
}

void dome__wire_clear(dome_wire_message *message)
{
    for (const field *f = fields[message->kind]; f->type != NONE; f++) {
        void *value = (char *)message + f->at;
        if (f->type == TEXT)
            g_clear_pointer((char **)value, g_free);
        else if (f->type == CALLS || f->type == NUMBERS)
            g_clear_pointer((GArray **)value, g_array_unref);
    }
}

/* ---- frames ---- */

GByteArray *dome__wire_frame(const dome_wire_message *message)
{
    GByteArray *frame = g_byte_array_sized_new(128);
    dome__append_u32(frame, 0);
    dome__append_u32(frame, message->kind);
    for (const field *f = fields[message->kind]; f->type != NONE; f++)
        put_field(frame, f, (const char *)message + f->at);
    dome__put_u32(frame->data, frame->len - LENGTH_BYTES);
    return frame;
}

void dome__wire_signal_frame(uint8_t frame[DOME_WIRE_SIGNAL_BYTES], dome_mac *mac, int number)
{
    enum { BYTES = DOME_WIRE_SIGNAL_BYTES - DOME_MAC_BYTES };
    dome__put_u32(frame, BYTES - LENGTH_BYTES);
    dome__put_u32(frame + LENGTH_BYTES, DOME_WIRE_SIGNAL);
    dome__put_u32(frame + HEAD_BYTES, (uint32_t)number);
    dome__mac_next(mac, frame, BYTES, frame + BYTES);
}

bool dome__wire_send_frames(int fd, dome_mac *mac, const GByteArray *frames)
{
    if (!mac)
        return dome__socket_send(fd, frames->data, frames->len);
    GByteArray *out = g_byte_array_sized_new(frames->len + DOME_MAC_BYTES);
    for (guint at = 0; at < frames->len;) {
        uint8_t code[DOME_MAC_BYTES];
        const guint bytes = MIN(LENGTH_BYTES + dome__get_u32(frames->data + at), frames->len - at);
        dome__mac_next(mac, frames->data + at, bytes, code);
        g_byte_array_append(out, frames->data + at, bytes);
        g_byte_array_append(out, code, sizeof code);
        at += bytes;
    }
    const bool all = dome__socket_send(fd, out->data, out->len);
    if (!all) /* the other side could not tell a message that is left out from one that was altered */
        shutdown(fd, SHUT_RDWR);
    g_byte_array_unref(out);
    return all;
}

bool dome__wire_send(int fd, dome_mac *mac, const dome_wire_message *message)
{
    GByteArray *frame = dome__wire_frame(message);
    bool all = dome__wire_send_frames(fd, mac, frame);
    g_byte_array_unref(frame);
    return all;
}

static bool read_message(dome_bytes *from, dome_wire_message *message)
{
    uint32_t kind = dome__read_u32(from);
    *message = (dome_wire_message){0};
    if (kind < DOME_WIRE_HELLO || kind >= DOME_WIRE_KINDS)
        return false;
    message->kind = (dome_wire_kind)kind;
    for (const field *f = fields[kind]; f->type != NONE; f++)
        get_field(from, f, (char *)message + f->at);
    if (dome__read_all(from))
        return true;
    dome__wire_clear(message);
    return false;
}

int dome__wire_next(GByteArray *in, dome_mac *mac, dome_wire_message *message)
{
    if (in->len < LENGTH_BYTES)
        return 0;
    const uint32_t length = dome__get_u32(in->data), code = mac ? DOME_MAC_BYTES : 0;
    if (length < HEAD_BYTES - LENGTH_BYTES || length > DOME_WIRE_MAX)
        return mac ? DOME_WIRE_ALTERED : -1;
    const uint32_t bytes = LENGTH_BYTES + length;
    if (in->len < bytes + code)
        return 0;
    if (mac && !dome__mac_check(mac, in->data, bytes, in->data + bytes))
        return DOME_WIRE_ALTERED;
    dome_bytes from = dome__bytes_of(in->data + LENGTH_BYTES, length);
    bool good = read_message(&from, message);
    g_byte_array_remove_range(in, 0, bytes + code);
    return good ? 1 : -1;
}
