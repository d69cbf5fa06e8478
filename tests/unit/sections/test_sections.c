/* Sections in many orders of events. Two to five tasks write, read, enter and leave; each has a copy of some units, of which one
 * task is the home; messages about units stay in order between two tasks, others come in any. What a task sees is compared with
 * what it must see: the writes of others before a section that came before one of its own, and with each value all that its
 * writer knew when it wrote (causality): no flag without its data.
 *
 * Planted mistakes, each of which must be found, show that the check can fail. */
#include "delta/delta.h"
#include "sections/section_log.h"
#include "sections/section_queue.h"

#include <string.h>

enum { TASKS = 5, UNITS = 4, BYTES = 64, WRITES = 4000, EVENTS = 6000 };

typedef enum mistake {
    NO_MISTAKE,
    LEAK,           /* a home gives what it has not published */
    NOT_REACHED,    /* a page is taken that is newer than the rest */
    NOT_RENEWED,    /* a page is taken that is older */
    MERGED_TOO_FAR, /* what not all have is merged */
    NOT_SETTLED,    /* a private unit is given at once */
    NOT_TAKEN,      /* who enters does not take in what has come */
    ALL_SERVED,     /* requests of others count as served */
    MISTAKES
} mistake;

typedef enum word { ASK, TOKEN, FETCH, PAGE } word;

typedef struct message {
    word word;
    uint64_t meetings, number, have, taken, end;
    uint64_t served[TASKS], knows[TASKS];
    unsigned unit;
    uint8_t page[BYTES];
    GByteArray *sections;
} message;

typedef struct task {
    dome_section_log *log;
    dome_section_queue queue;
    uint8_t memory[UNITS][BYTES], old[UNITS][BYTES];
    bool valid[UNITS], dirty[UNITS], shared[UNITS]; /* shared: at the home, another task may have a copy */
    bool here, inside, asking, requested, owes, entered;
    int fetches;          /* the unit that it waits for; -1: none */
    GArray *unsettled;    /* message of FETCH, whose number is the task */
    uint64_t sees[TASKS]; /* so many writes of each task it must see */
} task;

static struct {
    int tasks;
    mistake mistake;
    bool wrong;
    uint64_t meetings, token_sees[TASKS];
    task of[TASKS];
    GQueue *ways[TASKS][TASKS];
} sim;

/* Each task's writes: the unit, and what the task had to see then. */
static struct {
    unsigned unit;
    uint64_t sees[TASKS];
} writes[TASKS][WRITES];
static uint64_t written[TASKS];

static int home_of(unsigned unit)
{
    return (int)unit % sim.tasks;
}

static int number_of(const task *t)
{
    return (int)(t - sim.of);
}

static void see(uint64_t *into, const uint64_t *from)
{
    for (int k = 0; k < TASKS; k++)
        into[k] = MAX(into[k], from[k]);
}

/* ---- messages ---- */

static message *new_message(word word)
{
    message *m = g_new0(message, 1);
    m->word = word;
    m->meetings = sim.meetings;
    m->sections = g_byte_array_new();
    return m;
}

static void send_to(const task *from, int to, message *m)
{
    g_queue_push_tail(sim.ways[number_of(from)][to], m);
}

static void free_message(void *message_)
{
    message *m = message_;
    g_byte_array_unref(m->sections);
    g_free(m);
}

/* ---- publishing ---- */

static void answer(task *home, const message *m);

static void publish(task *t)
{
    GByteArray *changes = g_byte_array_new();
    for (unsigned k = 0; k < UNITS; k++) {
        dome_delta *delta = dome__delta_new(1);
        size_t bytes;
        if (t->dirty[k])
            dome__delta_find(delta, (uint64_t)k * BYTES, t->memory[k], t->old[k], BYTES, DOME_DELTA_TAKE);
        const void *records = dome__delta_records(delta, &bytes);
        if (bytes > 0)
            dome__section_put(changes, k, records, bytes);
        dome__delta_free(delta);
    }
    if (changes->len > 0)
        dome__section_log_add(t->log, number_of(t), false, changes);
    g_byte_array_unref(changes);
    t->owes = false;
    for (guint k = 0; k < t->unsettled->len; k++)
        answer(t, &g_array_index(t->unsettled, message, k));
    g_array_set_size(t->unsettled, 0);
}

static void put_since(const task *t, uint64_t have, GByteArray *to)
{
    dome__section_log_since(t->log, &(dome_section_range){have, dome__section_log_end(t->log), 0, UINT64_MAX}, to);
}

static void give(task *t, int rank)
{
    message *m = new_message(TOKEN);
    if (t->owes)
        publish(t);
    const uint64_t all_know = sim.mistake == MERGED_TOO_FAR ? UINT64_MAX : dome__section_queue_all_know(&t->queue);
    dome__section_log_merge(t->log, all_know, 300); /* the receiver may meet the others before it has the message */
    put_since(t, t->queue.knows[rank], m->sections);
    t->queue.knows[rank] = t->queue.knows[number_of(t)] = dome__section_log_end(t->log);
    memcpy(m->served, t->queue.served, (size_t)sim.tasks * 8);
    memcpy(m->knows, t->queue.knows, (size_t)sim.tasks * 8);
    t->here = false;
    send_to(t, rank, m);
}

static void give_on(task *t)
{
    const int next = t->here && !t->inside ? dome__section_queue_next(&t->queue) : -1;
    if (next >= 0)
        give(t, next);
}

static void request(task *t)
{
    if (t->requested)
        return;
    t->requested = true;
    const uint64_t number = dome__section_queue_ask(&t->queue);
    for (int rank = 0; rank < sim.tasks; rank++)
        if (rank != number_of(t)) {
            message *m = new_message(ASK);
            m->number = number;
            send_to(t, rank, m);
        }
}

/* ---- taking in ---- */

static void write_records(task *t, uint64_t key, const void *records, size_t bytes, bool both)
{
    dome_delta *delta = dome__delta_new(1);
    g_assert(dome__delta_set_records(delta, records, bytes, sizeof t->memory));
    g_assert(key < UNITS && dome__delta_apply(delta, t->memory, sizeof t->memory, both ? t->old : NULL));
    dome__delta_free(delta);
}

static void take_part(void *ctx, uint64_t key, const void *records, size_t bytes)
{
    task *t = ctx;
    if (t->valid[key])
        write_records(t, key, records, bytes, t->dirty[key]);
}

static void take_in(task *t)
{
    dome__section_log_take(t->log, number_of(t), take_part, t);
}

static void renew_part(void *ctx, uint64_t key, const void *records, size_t bytes)
{
    write_records(ctx, key, records, bytes, false);
}

static void enter(task *t)
{
    t->inside = t->entered = true;
    t->asking = false;
    if (sim.mistake != NOT_TAKEN)
        take_in(t);
    see(t->sees, sim.token_sees);
}

static void take_token(task *t, const message *m)
{
    memcpy(t->queue.served, m->served, (size_t)sim.tasks * 8);
    memcpy(t->queue.knows, m->knows, (size_t)sim.tasks * 8);
    g_assert(dome__section_log_hear(t->log, m->sections->data, m->sections->len));
    dome__section_queue_got(&t->queue);
    if (sim.mistake == ALL_SERVED)
        memcpy(t->queue.served, t->queue.asked, (size_t)sim.tasks * 8);
    t->here = true;
    t->requested = false;
    if (t->asking)
        enter(t);
    else if (t->unsettled->len > 0)
        publish(t);
    give_on(t);
}

/* ---- fetching ---- */

static bool must_settle(const task *home, const message *m)
{
    bool dirty = false;
    for (unsigned k = 0; k < UNITS; k++)
        dirty |= home->dirty[k];
    return sim.mistake != NOT_SETTLED && !home->shared[m->unit] && dirty;
}

static void answer(task *home, const message *m)
{
    message *page = new_message(PAGE);
    const bool told = home->dirty[m->unit] && sim.mistake != LEAK;
    home->shared[m->unit] = true;
    page->unit = m->unit;
    page->taken = dome__section_log_taken(home->log);
    page->end = dome__section_log_end(home->log);
    memcpy(page->page, told ? home->old[m->unit] : home->memory[m->unit], BYTES);
    put_since(home, m->have, page->sections);
    send_to(home, (int)m->number, page);
}

static void take_fetch(task *home, const message *m)
{
    if (!must_settle(home, m)) {
        answer(home, m);
        return;
    }
    g_array_append_vals(home->unsettled, m, 1);
    if (home->here && !home->inside)
        publish(home);
    else if (!home->here)
        request(home);
}

static void take_page(task *t, const message *m)
{
    g_assert(dome__section_log_hear(t->log, m->sections->data, m->sections->len));
    if (dome__section_log_taken(t->log) < m->end && sim.mistake != NOT_REACHED)
        take_in(t);
    memcpy(t->memory[m->unit], m->page, BYTES);
    if (sim.mistake != NOT_RENEWED)
        dome__section_log_behind(t->log, m->unit, m->taken, renew_part, t);
    t->valid[m->unit] = true;
    t->fetches = -1;
}

static void deliver(task *t, int from, message *m)
{
    if (m->meetings == sim.meetings && m->word == ASK) {
        dome__section_queue_asked(&t->queue, from, m->number);
        give_on(t);
    } else if (m->meetings == sim.meetings && m->word == TOKEN) {
        take_token(t, m);
    } else if (m->word == FETCH) {
        take_fetch(t, m);
    } else if (m->word == PAGE) {
        take_page(t, m);
    }
    free_message(m);
}

/* ---- what a program does ---- */

/* Each task has a number of its own in each unit: the number of its last write there. */
static uint64_t *place(task *t, unsigned unit, int writer)
{
    return (uint64_t *)(void *)t->memory[unit] + writer;
}

static bool has(task *t, unsigned unit)
{
    if (t->valid[unit])
        return true;
    if (t->inside) /* it would get what its home has not published: such a program has a race */
        return false;
    message *m = new_message(FETCH);
    m->unit = t->fetches = (int)unit;
    m->number = (uint64_t)number_of(t);
    m->have = dome__section_log_end(t->log);
    send_to(t, home_of(unit), m);
    return false;
}

static void write_unit(task *t, unsigned unit)
{
    const int self = number_of(t);
    if (written[self] + 1 >= WRITES || !t->entered || !has(t, unit))
        return;
    const uint64_t number = ++written[self];
    const bool private = home_of(unit) == self && !t->shared[unit];
    if (!t->dirty[unit] && !private) {
        memcpy(t->old[unit], t->memory[unit], BYTES);
        t->dirty[unit] = true;
    }
    *place(t, unit, self) = number;
    t->sees[self] = number;
    writes[self][number].unit = unit;
    memcpy(writes[self][number].sees, t->sees, sizeof t->sees);
}

/* The last of the first writes of a task that was to this unit. */
static uint64_t last_write(int writer, unsigned unit, uint64_t first)
{
    while (first > 0 && writes[writer][first].unit != unit)
        first--;
    return first;
}

static void read_unit(task *t, unsigned unit)
{
    if (!has(t, unit))
        return;
    for (int writer = 0; writer < sim.tasks; writer++) {
        const uint64_t value = *place(t, unit, writer);
        sim.wrong |= value < last_write(writer, unit, t->sees[writer]);
        see(t->sees, writes[writer][value].sees);
    }
}

static void leave(task *t)
{
    t->inside = false;
    t->owes = true;
    see(sim.token_sees, t->sees);
    const int next = dome__section_queue_next(&t->queue), any = g_test_rand_int_range(0, sim.tasks);
    if (next >= 0)
        give(t, next);
    else if (any != number_of(t) && g_test_rand_int_range(0, 3) == 0) /* unasked */
        give(t, any);
}

static void run(task *t)
{
    const unsigned unit = (unsigned)g_test_rand_int_range(0, UNITS);
    switch (g_test_rand_int_range(0, 8)) {
    case 0:
    case 1:
    case 2:
        read_unit(t, unit);
        break;
    case 3:
    case 4:
        write_unit(t, unit);
        break;
    default:
        if (t->inside) {
            leave(t);
        } else if (t->here) {
            enter(t);
        } else {
            t->asking = true;
            request(t);
        }
    }
}

/* ---- meetings ---- */

static bool may_meet(void)
{
    for (int k = 0; k < sim.tasks; k++)
        if (sim.of[k].asking || sim.of[k].inside || sim.of[k].fetches >= 0 || sim.of[k].unsettled->len > 0)
            return false;
    return true;
}

static void get_all(task *t)
{
    for (int k = 0; k < sim.tasks; k++) {
        GByteArray *sections = g_byte_array_new();
        put_since(&sim.of[k], dome__section_log_end(t->log), sections);
        g_assert(dome__section_log_hear(t->log, sections->data, sections->len));
        g_byte_array_unref(sections);
    }
    take_in(t);
}

/* What is not published goes to the homes; other copies of these units are old then. */
static void publish_at_meeting(task *t, unsigned unit)
{
    task *home = &sim.of[home_of(unit)];
    for (int writer = 0; t->dirty[unit] && writer < sim.tasks; writer++)
        if (*place(t, unit, writer) != ((uint64_t *)(void *)t->old[unit])[writer])
            *place(home, unit, writer) = *place(t, unit, writer);
}

static void meet(void)
{
    for (int k = 0; k < sim.tasks; k++)
        get_all(&sim.of[k]);
    for (unsigned unit = 0; unit < UNITS; unit++) {
        for (int k = 0; k < sim.tasks; k++)
            publish_at_meeting(&sim.of[k], unit);
        const bool again = g_test_rand_int_range(0, 4) == 0;
        for (int k = 0; k < sim.tasks; k++) {
            task *t = &sim.of[k];
            t->valid[unit] = home_of(unit) == k;
            t->dirty[unit] = false;
            t->shared[unit] &= again;
        }
    }
    for (int k = 0; k < sim.tasks; k++) {
        task *t = &sim.of[k];
        for (int other = 0; other < sim.tasks; other++)
            t->sees[other] = written[other];
        dome__section_log_clear(t->log);
        dome__section_queue_clear(&t->queue);
        t->here = k == 0;
        t->requested = t->owes = t->entered = false;
    }
    memset(sim.token_sees, 0, sizeof sim.token_sees);
    sim.meetings++;
}

/* ---- a run ---- */

static void begin(int tasks, mistake mistake)
{
    memset(&sim, 0, sizeof sim);
    memset(written, 0, sizeof written);
    sim.tasks = tasks;
    sim.mistake = mistake;
    for (int k = 0; k < tasks; k++) {
        task *t = &sim.of[k];
        t->log = dome__section_log_new();
        dome__section_queue_begin(&t->queue, k, tasks);
        t->unsettled = g_array_new(FALSE, FALSE, sizeof(message));
        t->fetches = -1;
        t->here = k == 0;
        for (unsigned unit = 0; unit < UNITS; unit++)
            t->valid[unit] = home_of(unit) == k;
        for (int other = 0; other < tasks; other++)
            sim.ways[k][other] = g_queue_new();
    }
}

static void end(void)
{
    for (int k = 0; k < sim.tasks; k++) {
        dome__section_log_free(sim.of[k].log);
        dome__section_queue_end(&sim.of[k].queue);
        g_array_unref(sim.of[k].unsettled);
        for (int other = 0; other < sim.tasks; other++)
            g_queue_free_full(sim.ways[k][other], free_message);
    }
}

/* Those of the token go by two roads: some overtake others. */
static message *next_of(GQueue *way)
{
    const guint k = g_test_rand_bit() ? 0 : (guint)g_test_rand_int_range(0, (gint32)way->length);
    const message *m = g_queue_peek_nth(way, k);
    return m->word == ASK || m->word == TOKEN ? g_queue_pop_nth(way, k) : NULL;
}

static message *first_page(GQueue *way)
{
    for (guint k = 0; k < way->length; k++) {
        const message *m = g_queue_peek_nth(way, k);
        if (m->word == FETCH || m->word == PAGE)
            return g_queue_pop_nth(way, k);
    }
    return NULL;
}

static bool step(void)
{
    const int from = g_test_rand_int_range(0, sim.tasks), to = g_test_rand_int_range(0, sim.tasks);
    task *t = &sim.of[to];
    if (!g_queue_is_empty(sim.ways[from][to]) && g_test_rand_int_range(0, 2)) {
        message *m = next_of(sim.ways[from][to]);
        deliver(t, from, m ? m : first_page(sim.ways[from][to]));
        return true;
    }
    if (g_test_rand_int_range(0, 150) == 0 && may_meet()) {
        meet();
        return true;
    }
    if (t->asking || t->fetches >= 0)
        return false;
    run(t);
    return true;
}

/* Whether nothing wrong is seen, and no task waits for ever. */
static bool is_right(int tasks, mistake mistake)
{
    begin(tasks, mistake);
    unsigned idle = 0;
    for (int k = 0; k < EVENTS && !sim.wrong && idle < 5000; k++)
        idle = step() ? 0 : idle + 1;
    const bool right = !sim.wrong && idle < 5000;
    end();
    return right;
}

static void test_right(void)
{
    for (int k = 0; k < 60; k++)
        g_assert_true(is_right(2 + k % 4, NO_MISTAKE));
}

static void test_mistakes(void)
{
    for (mistake m = NO_MISTAKE + 1; m < MISTAKES; m++) {
        int runs = 0;
        while (runs < 3000 && is_right(2 + runs % 4, m))
            runs++;
        if (runs == 3000)
            g_error("mistake %d is not found", m);
    }
}

/* ---- the log alone ---- */

static void count_parts(void *ctx, uint64_t key, const void *records, size_t bytes)
{
    (void)key, (void)records, (void)bytes;
    ++*(unsigned *)ctx;
}

static dome_section_log *log_of(unsigned sections)
{
    dome_section_log *log = dome__section_log_new();
    for (unsigned k = 0; k < sections; k++) {
        uint8_t now[BYTES] = {0}, then[BYTES] = {0};
        size_t bytes;
        dome_delta *delta = dome__delta_new(1);
        GByteArray *changes = g_byte_array_new();
        now[k % BYTES] = 1;
        dome__delta_find(delta, 0, now, then, BYTES, 0);
        const void *records = dome__delta_records(delta, &bytes);
        dome__section_put(changes, 0, records, bytes);
        dome__section_log_add(log, 0, k == 7, changes);
        g_byte_array_unref(changes);
        dome__delta_free(delta);
    }
    return log;
}

static void visit_nothing(void *ctx, uint64_t key, const void *records, size_t bytes)
{
    (void)ctx, (void)key, (void)records, (void)bytes;
}

static void test_parts(void)
{
    dome_section_log *log = log_of(9), *other = dome__section_log_new();
    GByteArray *parts = g_byte_array_new(), *whole = g_byte_array_new();
    const uint64_t all = dome__section_log_since(log, &(dome_section_range){2, 9, 0, UINT64_MAX}, whole);
    g_assert_cmpuint(all, ==, whole->len);
    for (uint64_t skip = 0; skip < all; skip += 7)
        g_assert_cmpuint(dome__section_log_since(log, &(dome_section_range){2, 9, skip, 7}, parts), ==, all);
    g_assert_cmpmem(parts->data, parts->len, whole->data, whole->len);
    g_assert_false(dome__section_log_hear(other, whole->data, whole->len)); /* sections 1 and 2 are missing */
    g_byte_array_set_size(whole, 0);
    dome__section_log_since(log, &(dome_section_range){0, 9, 0, UINT64_MAX}, whole);
    for (guint cut = 1; cut < whole->len; cut++) {
        dome_section_log *damaged = dome__section_log_new();
        dome__section_log_hear(damaged, whole->data, cut);
        g_assert_cmpuint(dome__section_log_end(damaged), <, 9);
        dome__section_log_free(damaged);
    }
    g_assert_true(dome__section_log_hear(other, whole->data, whole->len));
    g_assert_true(dome__section_log_hear(other, whole->data, whole->len));
    g_assert_cmpuint(dome__section_log_end(other), ==, 9);
    g_assert_false(dome__section_log_has_late(other, 0)); /* it is heard alone */
    dome__section_log_take(other, 1, visit_nothing, NULL);
    g_assert_true(dome__section_log_has_late(other, 0));
    g_assert_false(dome__section_log_has_late(other, 1));
    g_byte_array_unref(parts);
    g_byte_array_unref(whole);
    dome__section_log_free(other);
    dome__section_log_free(log);
}

static void test_merging(void)
{
    dome_section_log *log = log_of(20);
    unsigned parts = 0;
    const uint64_t before = dome__section_log_bytes(log), version = dome__section_log_version(log);
    dome__section_log_merge(log, 20, before);
    g_assert_cmpuint(dome__section_log_version(log), ==, version);
    dome__section_log_merge(log, 5, 0);
    g_assert_cmpuint(dome__section_log_version(log), >, version);
    g_assert_cmpuint(dome__section_log_bytes(log), <, before);
    dome__section_log_behind(log, 0, 5, count_parts, &parts);
    g_assert_cmpuint(parts, ==, 15);
    dome__section_log_behind(log, 0, 0, count_parts, &parts);
    g_assert_cmpuint(parts, ==, 15 + 16);
    dome__section_log_merge(log, 20, 0); /* a late one stays as it is */
    parts = 0;
    dome__section_log_behind(log, 0, 0, count_parts, &parts);
    g_assert_cmpuint(parts, ==, 14);
    g_assert_cmpuint(dome__section_log_end(log), ==, 20);
    dome__section_log_free(log);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sections/parts", test_parts);
    g_test_add_func("/sections/merging", test_merging);
    g_test_add_func("/sections/right", test_right);
    g_test_add_func("/sections/mistakes", test_mistakes);
    return g_test_run();
}
