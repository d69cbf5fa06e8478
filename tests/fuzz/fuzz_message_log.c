/* What other tasks say of messages that are logged: whatever arrives is refused, or changes what the task knows of orders, or
 * frees messages. Messages that are not covered stay as they were sent, and the task can pass on what it knows. The input is a
 * row of steps: one byte (bits 0-2: what happens, bits 3-4: of or to which task), one of length, and as many bytes. */
#include "comm/message_log.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 4, OWN = 0, HEAD = 2 };

enum { LEARNS, IS_COVERED, SENDS, CHOOSES, TELLS, GOES_BACK, KINDS };

static uint64_t covered[TASKS];

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void send(dome_message_log *log, int dest, const uint8_t *bytes, size_t length)
{
    const dome_message m = {.tag = (int)length, .kind = DOME_KIND_U8, .element = 1, .count = length, .bytes = length};
    char *why = NULL;
    dome_logged *kept = dome__log_add(log, dest, &m, &why);
    require(kept && kept->number == dome__log_sent(log)[dest]);
    dome__log_fill(kept, bytes);
    require(length == 0 || memcmp(kept->data, bytes, length) == 0);
}

/* Those behind what is covered are there, in order. */
static void check_messages(const dome_message_log *log, int dest, uint64_t sent)
{
    const dome_logged *kept = dome__log_behind(log, dest, covered[dest]);
    uint64_t number = covered[dest];
    require(!kept == (sent <= covered[dest]));
    for (const GList *link = kept ? &kept->link : NULL; link; link = link->next) {
        kept = link->data;
        require(kept->number == ++number && kept->message.bytes == (uint64_t)kept->message.tag);
    }
    require(number == MAX(sent, covered[dest]));
}

static void hear_covered(dome_message_log *log, int task, const uint8_t *bytes, size_t length)
{
    if (dome__log_covered(log, task, bytes, length))
        covered[task] = MAX(covered[task], dome__get_u64(bytes));
    GByteArray *covers = dome__log_covers(log, task);
    require(covers->len == 2 * sizeof(uint64_t));
    g_byte_array_unref(covers);
}

/* What it knows another task learns, and knows then. */
static void check_orders(dome_message_log *log)
{
    dome_message_log *other = dome__log_new(1, TASKS);
    GByteArray *all = dome__log_news(log, -1);
    require(dome__log_learn(other, all->data, all->len));
    GByteArray *again = dome__log_news(other, -1);
    require(all->len == again->len && (all->len == 0 || memcmp(all->data, again->data, all->len) == 0));
    g_byte_array_unref(all);
    g_byte_array_unref(again);
    dome__log_free(other);
}

static void tell(dome_message_log *log, int dest)
{
    GByteArray *news = dome__log_news(log, dest);
    dome_message_log *other = dome__log_new(dest, TASKS);
    if (news) {
        require(dome__log_learn(other, news->data, news->len));
        g_byte_array_unref(news);
    }
    require(!dome__log_news(log, dest));
    dome__log_free(other);
}

/* A checkpoint of any bytes. */
static void go_back(const uint8_t *bytes, size_t length)
{
    dome_message_log *log = dome__log_new(OWN, TASKS);
    dome_bytes from = dome__bytes_of(bytes, length);
    if (dome__log_get(log, &from))
        check_orders(log);
    dome__log_free(log);
}

static void step(dome_message_log *log, uint8_t what, const uint8_t *bytes, size_t length)
{
    const int task = what >> 3 & (TASKS - 1);
    switch (what % KINDS) {
    case LEARNS:
        dome__log_learn(log, bytes, length);
        check_orders(log);
        break;
    case IS_COVERED:
        hear_covered(log, task, bytes, length);
        break;
    case SENDS:
        send(log, task, bytes, length);
        break;
    case CHOOSES: {
        int source = task;
        if (!dome__log_replays(log, &source))
            dome__log_chose(log, source);
        require(source >= 0 && source < TASKS);
        break;
    }
    case TELLS:
        tell(log, task);
        break;
    default:
        go_back(bytes, length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dome_message_log *log = dome__log_new(OWN, TASKS);
    memset(covered, 0, sizeof covered);
    for (size_t at = 0; at + HEAD <= size;) {
        const size_t length = MIN(data[at + 1], size - at - HEAD);
        step(log, data[at], data + at + HEAD, length);
        at += HEAD + length;
        for (int r = 0; r < TASKS; r++)
            check_messages(log, r, dome__log_sent(log)[r]);
    }
    dome__log_free(log);
    return 0;
}
