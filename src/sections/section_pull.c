#include "sections/section_pull.h"

#include "system/bytes.h"

/* A question, behind its head: the number behind which sections are wanted; up to which, and the version of the log (0, 0: not
 * known yet); how many bytes have come. A reply: the same two numbers, the bytes of all, the next ones. */
enum { REPLY = 3 * 8 };

typedef struct pulling {
    dome_section_pull pull;
    uint64_t upto, version;
    GByteArray *got;
} pulling;

static void ask(pulling *p);

/* If sections were merged meanwhile, it begins again. */
static void answered(void *ctx, const dome_peer_answer *answer)
{
    pulling *p = ctx;
    const uint8_t *at = answer->data;
    if (answer->status != DOME_PEER_OK || answer->bytes < REPLY)
        return;
    if (dome__get_u64(at) != p->upto || dome__get_u64(at + 8) != p->version) {
        p->upto = dome__get_u64(at);
        p->version = dome__get_u64(at + 8);
        if (p->got->len > 0) {
            g_byte_array_set_size(p->got, 0);
            ask(p);
            return;
        }
    }
    g_byte_array_append(p->got, at + REPLY, answer->bytes - REPLY);
    if (p->got->len < dome__get_u64(at + 16)) {
        ask(p);
        return;
    }
    p->pull.come(p->pull.ctx, p->got->data, p->got->len);
    g_byte_array_unref(p->got);
    g_free(p);
}

/* One question at a time: there is room for it. */
static void ask(pulling *p)
{
    uint8_t message[DOME_SECTION_ASK];
    memcpy(message, p->pull.head, DOME_SECTION_ASK_HEAD);
    dome__put_u64(message + DOME_SECTION_ASK_HEAD, p->pull.have);
    dome__put_u64(message + DOME_SECTION_ASK_HEAD + 8, p->upto);
    dome__put_u64(message + DOME_SECTION_ASK_HEAD + 16, p->version);
    dome__put_u64(message + DOME_SECTION_ASK_HEAD + 24, p->got->len);
    const dome_peer_question q = {p->pull.from, p->pull.tag, message, sizeof message, answered, p};
    const dome_peer_status status = dome__peer_ask_then(p->pull.peer, &q);
    if (status == DOME_PEER_FULL || status == DOME_PEER_NO_MEMORY)
        g_error("task %d cannot be asked for what was changed", p->pull.from);
}

void dome__section_pull(const dome_section_pull *pull)
{
    pulling *p = g_new0(pulling, 1);
    p->pull = *pull;
    p->got = g_byte_array_new();
    ask(p);
}

void dome__section_pull_reply(const dome_section_log *log, const dome_peer_request *question)
{
    const uint8_t *at = (const uint8_t *)question->data + DOME_SECTION_ASK_HEAD;
    const uint64_t end = dome__section_log_end(log), version = dome__section_log_version(log);
    const bool goes_on = dome__get_u64(at + 16) == version && dome__get_u64(at + 8) <= end && dome__get_u64(at + 8) > 0;
    const dome_section_range range = {dome__get_u64(at), goes_on ? dome__get_u64(at + 8) : end,
                                      goes_on ? dome__get_u64(at + 24) : 0, DOME_SECTION_PART};
    GByteArray *reply = g_byte_array_new();
    g_byte_array_set_size(reply, REPLY);
    const uint64_t all = dome__section_log_since(log, &range, reply);
    dome__put_u64(reply->data, range.upto);
    dome__put_u64(reply->data + 8, version);
    dome__put_u64(reply->data + 16, all);
    dome__peer_reply(question->peer, question->from, question->id, reply->data, reply->len);
    g_byte_array_unref(reply);
}
