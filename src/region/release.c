#include "region/release.h"

#include "region/release_private.h"
#include "system/bytes.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <malloc.h>

/* ---- a barrier ---- */

/* Units that a task has written: a run, as words. */
typedef struct run {
    uint64_t region, first, count; /* region: with these bits */
} run;

#define RUN_WHOLE   (UINT64_C(1) << 63) /* the writer's copies are valid */
#define RUN_IMPLIED (UINT64_C(1) << 62) /* written, if at all, before another task had a copy */
#define RUN_GIFT    (UINT64_C(1) << 61) /* the changes are sent to nobody if the writer becomes the home */
#define RUN_REGION  (RUN_GIFT - 1)

enum { RUN_WORDS = sizeof(run) / sizeof(uint64_t) };

static GArray *own_runs(const dome_release *r)
{
    GArray *runs = r->room->own_runs;
    g_array_set_size(runs, 0);
    for (guint n = 0; n < r->regions->len; n++) {
        const dome_release_units *u = r->regions->pdata[n];
        if (!u)
            continue;
        dome__release_sort(u->written);
        for (guint k = 0; k < u->written->len; k++) {
            const uint64_t unit = g_array_index(u->written, uint64_t, k);
            const uint64_t region = n | (is_valid(u, unit) ? RUN_WHOLE : 0) | (u->state[unit] & IMPLIED ? RUN_IMPLIED : 0) |
                                    (u->marks[unit] & GIFT ? RUN_GIFT : 0);
            run *last = runs->len ? &g_array_index(runs, run, runs->len - 1) : NULL;
            if (last && last->region == region && last->first + last->count == unit)
                last->count++;
            else
                g_array_append_val(runs, ((run){region, unit, 1}));
        }
    }
    return runs;
}

/* All that was written, by whom. */
typedef struct notices {
    const dome_release *release;
    run *runs;
    uint64_t *counts;        /* words, by rank */
    bool any, pushes;        /* anything was written; a home has readers behind this place */
    bool brings;             /* there are entries */
    bool gives, decided;     /* there are gifts; which homes move is decided */
    const uint8_t **entries; /* by rank (release_early.c) */
    uint64_t *entry_bytes;
    const uint64_t *more; /* runs and entries of those for which there was no room on their cards */
} notices;

/* What each task tells first, its card: the words of its runs, flags, the place, the bytes of entries, the last section that it
 * has; the word of task 0, if there is one; the runs and the entries, if they are few. */
enum { HEAD = 5, EARLY_BYTES = 1536, ROOM = 8 * RUN_WORDS + EARLY_BYTES / 8, CARD = HEAD + DOME_RELEASE_WORDS + ROOM };
enum {
    PUSHES = 1,
    SENDS = 2,
    MOVES = 4,
    MORE = 8,
    FETCHES = 16,
    GIVES = 32
}; /* MORE: runs and entries come with the second exchange;
      FETCHES: the task has fetched many units since the last one;
      GIVES: the task has gifts, so all are to know the runs before anything is published */

static bool sends(const dome_release *r)
{
    for (guint n = 0; n < r->regions->len; n++) {
        const dome_release_units *u = r->regions->pdata[n];
        for (guint k = 0; u && k < u->dirty->len; k++) {
            const uint64_t unit = g_array_index(u->dirty, uint64_t, k);
            if (!is_home(u, unit) && !(u->state[unit] & SENT))
                return true;
        }
    }
    return false;
}

/* Room for so many words. */
static uint64_t *words_of(GArray *room, uint64_t count)
{
    g_array_set_size(room, (guint)count + 1); /* never NULL */
    return (uint64_t *)(void *)room->data;
}

/* What a task brings. */
typedef struct bringing {
    uint64_t card[CARD];
    uint64_t length; /* words of the card */
    GArray *runs;
    GByteArray *entries;
} bringing;

/* Where a card's runs begin. */
static uint64_t runs_at(int rank, bool by_word)
{
    return HEAD + (by_word && rank == 0 ? (uint64_t)DOME_RELEASE_WORDS : 0);
}

static uint64_t longest_card(bool by_word)
{
    return runs_at(0, by_word) + ROOM;
}

static uint64_t words_for(uint64_t bytes)
{
    return (bytes + 7) / 8;
}

static void make_card(dome_release *r, const dome_release_word *word, bool by_word, bringing *b)
{
    const bool knows = !by_word || r->env->rank == 0;
    uint64_t *card = b->card;
    b->entries = r->room->own_entries;
    g_byte_array_set_size(b->entries, 0);
    pthread_mutex_lock(&r->lock);
    if (r->sections)
        dome__release_take_sections(r);
    dome__release_compare_hot(r, false);
    if (r->sections)
        dome__release_drop_logged(r);
    dome__release_choose_gifts(r);
    dome__release_put_early(r, b->entries, EARLY_BYTES, knows ? &word->place : NULL);
    b->runs = own_runs(r);
    card[0] = b->runs->len * RUN_WORDS;
    card[1] = (knows && g_hash_table_contains(r->pushing, &word->place) ? PUSHES : 0) | (sends(r) ? SENDS : 0) |
              (word->moves && knows ? MOVES : 0) | (r->fetched >= DOME_RELEASE_MANY ? FETCHES : 0) |
              (r->gifts->len > 0 ? GIVES : 0);
    card[2] = word->place;
    card[3] = b->entries->len;
    card[4] = r->sections ? dome__section_log_end(r->sections->log) : 0;
    if (r->sections)
        r->sections->in_barrier = true;
    pthread_mutex_unlock(&r->lock);
    if (by_word && r->env->rank == 0)
        memcpy(card + HEAD, word->words, sizeof word->words);
    b->length = runs_at(r->env->rank, by_word);
    if (card[0] + words_for(card[3]) > ROOM || card[1] & SENDS) {
        card[1] |= MORE;
        return;
    }
    memcpy(card + b->length, b->runs->data, b->runs->len * sizeof(run));
    memcpy(card + b->length + card[0], b->entries->data, b->entries->len);
    b->length += card[0] + words_for(card[3]);
}

/* ---- what came with the cards ---- */

/* Of a task's runs, which are in ascending order: whether it has written the unit. */
static bool has_written(const run *runs, uint64_t count, uint64_t region, uint64_t unit)
{
    uint64_t from = 0;
    for (uint64_t end = count, middle; from < end;) { /* `from` is to be the first run that ends behind the unit */
        middle = from + (end - from) / 2;
        const uint64_t of = runs[middle].region & RUN_REGION;
        if (of < region || (of == region && runs[middle].first + runs[middle].count <= unit))
            from = middle + 1;
        else
            end = middle;
    }
    return from < count && (runs[from].region & RUN_REGION) == region && unit >= runs[from].first &&
           !(runs[from].region & RUN_IMPLIED);
}

static unsigned writers_of(const void *notices, uint64_t key)
{
    const struct notices *n = notices;
    const uint64_t region = key >> UNIT_BITS, unit = key & ((UINT64_C(1) << UNIT_BITS) - 1);
    const run *at = n->runs;
    unsigned writers = 0;
    for (int rank = 0; rank < n->release->env->size; at += n->counts[rank++] / RUN_WORDS)
        writers += has_written(at, n->counts[rank] / RUN_WORDS, region, unit);
    return writers;
}

static void exchange_early(dome_release *r, const notices *n)
{
    pthread_mutex_lock(&r->lock);
    dome__release_take_early(r, &(dome_release_entries){writers_of, n, n->entries, n->entry_bytes});
    pthread_mutex_unlock(&r->lock);
}

/* The runs and entries of those for which there was no room on their cards; this task's have been published. */
static int exchange_more(dome_release *r, const bringing *b, const uint64_t *all, uint64_t length, notices *n)
{
    const uint64_t size = (uint64_t)r->env->size, words = b->runs->len * RUN_WORDS, entries = words_for(b->entries->len);
    uint64_t *counts = words_of(r->room->more_counts, size), total = 0;
    for (uint64_t k = 0; k < size; k++)
        total += counts[k] = all[length * k + 1] & MORE ? all[length * k] + words_for(all[length * k + 3]) : 0;
    uint64_t *own = words_of(r->room->own, words + entries), *more = words_of(r->room->more, total);
    memcpy(own, b->runs->data, words * 8);
    memcpy(own + words, b->entries->data, b->entries->len);
    n->more = more;
    return dome__allgatherv(r->env->transport, DOME_U64, own, counts, more);
}

/* Where each task's runs and entries are. */
static void find_parts(const dome_release *r, const uint64_t *all, bool by_word, notices *n)
{
    const uint64_t length = longest_card(by_word);
    uint64_t *to = (uint64_t *)(void *)n->runs;
    const uint64_t *more = n->more;
    for (uint64_t k = 0; k < (uint64_t)r->env->size; to += n->counts[k++]) {
        const uint64_t *card = all + length * k;
        const bool on_card = !(card[1] & MORE);
        const uint64_t *from = on_card ? card + runs_at((int)k, by_word) : more;
        memcpy(to, from, card[0] * sizeof *to);
        n->entries[k] = (const uint8_t *)(from + card[0]);
        n->entry_bytes[k] = card[3];
        more += on_card ? 0 : card[0] + words_for(card[3]);
    }
}

/* Before anything else of this barrier comes to a task it has all sections. */
static int know_all_sections(dome_release *r, const uint64_t *all, uint64_t length)
{
    uint64_t last = 0;
    bool lacks = false;
    int who = 0;
    for (int rank = 0; rank < r->env->size; rank++)
        if (all[length * (uint64_t)rank + 4] > last)
            last = all[length * (uint64_t)(who = rank) + 4];
    for (int rank = 0; rank < r->env->size; rank++)
        lacks |= all[length * (uint64_t)rank + 4] < last;
    return lacks ? dome__release_catch_up(r, who, last) : DOME_OK;
}

typedef void (*on_unit)(dome_release_units *u, uint64_t unit, int writer, void *ctx);
typedef void (*on_run)(dome_release_units *u, const run *units, int writer, void *ctx);

static void each_run(const dome_release *r, const notices *n, on_run call, void *ctx)
{
    const run *at = n->runs;
    for (int writer = 0; writer < r->env->size; writer++)
        for (uint64_t k = 0; k < n->counts[writer] / RUN_WORDS; k++, at++)
            call(r->regions->pdata[at->region & RUN_REGION], at, writer, ctx);
}

static void each(const dome_release *r, const notices *n, on_unit call, void *ctx)
{
    const run *at = n->runs;
    for (int writer = 0; writer < r->env->size; writer++)
        for (uint64_t k = 0; k < n->counts[writer] / RUN_WORDS; k++, at++)
            for (uint64_t j = 0; j < at->count; j++)
                call(r->regions->pdata[at->region & RUN_REGION], at->first + j, writer, ctx);
}

/* Tells one interval from another that ends at the same place: where the longest run of units begins that was written. */
static uint64_t longest_run(const dome_release *r, const notices *n)
{
    const run *at = n->runs, *longest = at;
    uint64_t count = 0;
    for (int rank = 0; rank < r->env->size; rank++)
        count += n->counts[rank] / RUN_WORDS;
    for (uint64_t k = 0; k < count; k++)
        longest = at[k].count > longest->count ? at + k : longest;
    return (longest->region & RUN_REGION) << UNIT_BITS | longest->first;
}

/* Two intervals, because what one task does between two regions mostly tells nothing. */
static void note_way(dome_release *r, uint64_t longest)
{
    r->alike.written[1] = r->alike.written[0];
    r->alike.written[0] = longest;
}

/* ---- which homes move ---- */

static void note_writer(dome_release_units *u, const run *units, int writer, void *ctx)
{
    (void)ctx;
    if (!u->writers || units->region & RUN_IMPLIED)
        return;
    for (uint64_t k = units->first; k < units->first + units->count; k++)
        u->writers[k] = u->writers[k] == 0 && units->region & RUN_WHOLE ? writer + 1 : SEVERAL;
}

/* Whether the unit that this task has written alone gets it as its home. */
static bool moves_to(dome_release_units *u, uint64_t unit, int writer)
{
    dome_release_trend *t = &u->trends[unit];
    const bool moves = dome__release_would_move(u, unit, writer);
    t->streak = (uint8_t)dome__release_streak(t, writer);
    t->writer = (uint16_t)(writer + 1);
    dome__release_note_owner(u, unit, writer);
    return moves;
}

/* `writers` of units that do not move is SEVERAL then. */
static void decide(dome_release_units *u, const run *units, int writer, void *ctx)
{
    (void)ctx;
    if (!u->writers || units->region & RUN_IMPLIED)
        return;
    for (uint64_t k = units->first; k < units->first + units->count; k++) {
        const bool alone = u->writers[k] == writer + 1;
        if (!alone && u->writers[k] == SEVERAL && u->trends[k].writer) {
            u->trends[k].writer = 0;
            dome__release_note_owner(u, k, SEVERAL);
        } else if (!alone || !moves_to(u, k, writer))
            u->writers[k] = SEVERAL;
    }
}

/* A gift that others have written, too, is sent like other units. What was before does not count at its home: the home has not
 * what was changed, so it must not push. */
static void decide_gift(dome_release_units *u, const run *units, int writer, void *ctx)
{
    const bool mine = writer == u->setup.release->env->rank;
    (void)ctx;
    if (!(units->region & RUN_GIFT))
        return;
    for (uint64_t k = units->first; k < units->first + units->count; k++) {
        if (u->writers[k] != writer + 1)
            u->marks[k] = (uint8_t)((u->marks[k] & ~GIFT) | REFUSED);
        else if (!mine)
            u->state[k] &= (uint32_t)~KEPT;
    }
}

static void refuse_gifts(dome_release *r)
{
    for (guint k = 0; k < r->gifts->len; k++) {
        uint64_t unit;
        const dome_release_units *u = units_of(r, g_array_index(r->gifts, uint64_t, k), &unit);
        u->marks[unit] &= (uint8_t)~GIFT;
    }
}

static void decide_homes(const dome_release *r, notices *n)
{
    if (!n->decided) {
        each_run(r, n, note_writer, NULL);
        each_run(r, n, decide, NULL);
    }
    n->decided = true;
}

static void publish_all(const dome_release *r)
{
    for (guint k = 0; k < r->regions->len; k++)
        if (r->regions->pdata[k])
            dome__release_publish(r->regions->pdata[k], DELTA);
}

/* All tasks learn which units each task has written before any task publishes some: a gift is not published. */
static int exchange_with_gifts(dome_release *r, const bringing *b, const uint64_t *all, bool by_word, notices *n)
{
    int status = exchange_more(r, b, all, longest_card(by_word), n);
    if (status != DOME_OK)
        return status;
    n->gives = true;
    find_parts(r, all, by_word, n);
    pthread_mutex_lock(&r->lock);
    decide_homes(r, n);
    each_run(r, n, decide_gift, NULL);
    pthread_mutex_unlock(&r->lock);
    publish_all(r);
    return dome__barrier(r->env->transport);
}

/* All tasks have stopped when the cards are there. What they have written for other homes is there with the second exchange,
 * which is left out if there is no need for it. */
static int exchange(dome_release *r, dome_release_word *word, bool by_word, notices *n)
{
    dome_env *env = r->env;
    const uint64_t size = (uint64_t)env->size, length = longest_card(by_word);
    uint64_t *all = words_of(r->room->cards, length * size), words = 0, flags = 0;
    bringing b;
    make_card(r, word, by_word, &b);
    int status = dome__allgather_some(env->transport, DOME_U64, b.card, b.length, length, all);
    if (status != DOME_OK)
        return status;
    n->counts = words_of(r->room->counts, size);
    n->entry_bytes = words_of(r->room->entry_bytes, size);
    g_array_set_size(r->room->entries, (guint)size);
    n->entries = (const uint8_t **)(void *)r->room->entries->data;
    for (uint64_t k = 0; k < size; k++) {
        words += n->counts[k] = all[length * k];
        flags |= all[length * k + 1];
        n->brings |= all[length * k + 3] > 0;
    }
    r->alike.next = all[2];
    r->alike.fetches = flags & FETCHES;
    if (by_word) {
        word->moves = all[1] & MOVES;
        word->place = all[2];
        memcpy(word->words, all + HEAD, sizeof word->words);
    }
    status = know_all_sections(r, all, length);
    n->any = words > 0;
    n->pushes = flags & PUSHES;
    n->runs = (run *)(void *)words_of(r->room->runs, words);
    const bool gives = flags & GIVES && word->moves;
    if (status == DOME_OK && gives) {
        status = exchange_with_gifts(r, &b, all, by_word, n);
    } else if (status == DOME_OK && n->any) {
        refuse_gifts(r);
        publish_all(r);
    }
    if (status == DOME_OK && !gives && flags & MORE)
        status = exchange_more(r, &b, all, length, n);
    if (status == DOME_OK && !gives && (n->any || n->brings))
        find_parts(r, all, by_word, n);
    if (status == DOME_OK && (n->any || n->brings))
        exchange_early(r, n);
    return status;
}

/* Units to be pushed, by the reader. */
typedef struct pushing {
    uint64_t place;
    GHashTable *by_reader; /* GArray of unit by rank + 1 */
} pushing;

static void plan_push(dome_release_units *u, uint64_t unit, int writer, void *ctx)
{
    const pushing *p = ctx;
    (void)writer;
    const GArray *readers = is_home(u, unit) ? dome__release_readers_of(u, unit) : NULL;
    for (guint k = 0; readers && k < readers->len; k++) {
        const reader *r = &g_array_index(readers, reader, k);
        if (r->place != p->place || r->middle || !(u->state[unit] & KEPT) || u->state[unit] & SENT)
            continue;
        GArray *units = g_hash_table_lookup(p->by_reader, GINT_TO_POINTER(r->rank + 1));
        if (!units) {
            units = g_array_new(FALSE, FALSE, sizeof(uint64_t));
            g_hash_table_insert(p->by_reader, GINT_TO_POINTER(r->rank + 1), units);
        }
        const uint64_t key = key_of(u, unit);
        g_array_append_val(units, key);
    }
}

static void push_to(const dome_release *r, int rank, GArray *keys)
{
    dome__release_sort_once(keys);
    for (guint k = 0; k < keys->len;) {
        const uint64_t region = g_array_index(keys, uint64_t, k) >> UNIT_BITS;
        guint end = k;
        for (; end < keys->len && g_array_index(keys, uint64_t, end) >> UNIT_BITS == region; end++)
            g_array_index(keys, uint64_t, end) &= (UINT64_C(1) << UNIT_BITS) - 1;
        dome__release_send(r->regions->pdata[region], rank, PUSH, &g_array_index(keys, uint64_t, k), end - k);
        k = end;
    }
}

static void push(dome_release *r, uint64_t place, const notices *n)
{
    if (!g_hash_table_contains(r->places, &place))
        return;
    pushing p = {place, g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref)};
    GHashTableIter at;
    gpointer rank, units;
    pthread_mutex_lock(&r->lock);
    each(r, n, plan_push, &p);
    dome__release_note_pushing(r, place, g_hash_table_size(p.by_reader) > 0);
    pthread_mutex_unlock(&r->lock);
    g_hash_table_iter_init(&at, p.by_reader);
    while (n->pushes && g_hash_table_iter_next(&at, &rank, &units))
        push_to(r, GPOINTER_TO_INT(rank) - 1, units);
    g_hash_table_unref(p.by_reader);
}

/* Copies that were not pushed are old; the home's is complete. */
static void end_unit(dome_release_units *u, uint64_t unit, int writer)
{
    GArray *readers = is_home(u, unit) ? dome__release_readers_of(u, unit) : NULL;
    u->state[unit] &= (uint32_t)~KEPT;
    for (guint k = 0; readers && k < readers->len; k++)
        g_array_index(readers, reader, k).middle = false;
    if (is_home(u, unit) && writer != u->setup.release->env->rank)
        u->state[unit] |= OTHERS;
    if (is_home(u, unit) || writer == u->setup.release->env->rank || u->state[unit] & EARLY)
        return;
    if (u->state[unit] & ARRIVED)
        u->state[unit] |= u->state[unit] & PINNED ? 0 : UNTOUCHED;
    else
        u->state[unit] &= (uint32_t) ~(VALID | UNTOUCHED | MISSED);
}

/* Others' copies lose their rights by runs: each is a system call. */
static void end_run(dome_release_units *u, const run *units, int writer, void *ctx)
{
    const uint64_t end = units->first + units->count;
    (void)ctx;
    if (units->region & RUN_IMPLIED && writer != u->setup.release->env->rank)
        return; /* all copies have it */
    for (uint64_t k = units->first, from = k; k <= end; k++) {
        const bool closes =
            k < end && writer != u->setup.release->env->rank && !is_home(u, k) && u->state[k] & VALID && !(u->state[k] & EARLY);
        if (!closes && from < k)
            dome__release_close(u, from, k - from);
        from = closes ? from : k + 1;
        if (k < end)
            end_unit(u, k, writer);
    }
}

static void forget_marks(dome_release_units *u, uint64_t unit, int writer, void *ctx)
{
    (void)writer, (void)ctx;
    u->state[unit] &= (uint32_t) ~(ARRIVED | OTHERS | SENT | EARLY | TOLD | CLEAN);
}

/* ---- homes that move ---- */

/* Neither the home that was nor the new one needs what a unit was before. By runs: each is a system call. */
static void free_old(dome_release_units *u, const run *units, int writer, void *ctx)
{
    const uint64_t end = units->first + units->count;
    const bool mine = writer == u->setup.release->env->rank;
    (void)ctx;
    if (!u->writers)
        return;
    for (uint64_t k = units->first, from = k; k <= end; k++) {
        const bool frees = k < end && u->writers[k] == writer + 1 && (mine || is_home(u, k)) && !(u->state[k] & (DIRTY | KEPT));
        if (!frees && from < k)
            dome__release_free_old(u, from, k - from);
        from = frees ? from : k + 1;
    }
}

static void note_home(dome_release_units *u, uint64_t unit, int home)
{
    u->homes[unit] = home + 1;
    u->trends[unit].moved = (uint8_t)MIN(u->trends[unit].moved + 1, DOME_RELEASE_STREAK);
    u->moved_first = u->moved_end ? MIN(u->moved_first, unit) : unit;
    u->moved_end = MAX(u->moved_end, unit + 1);
}

/* The home that was keeps its copy until the new one writes; the new one knows of no readers. */
static void move_unit(dome_release_units *u, uint64_t unit, int writer, void *ctx)
{
    (void)ctx;
    if (!u->writers || u->writers[unit] != writer + 1)
        return;
    if (is_home(u, unit)) {
        dome__release_readers_end(u, unit);
        u->state[unit] = (uint32_t)(VALID | (u->state[unit] & (PINNED | HOT)));
    }
    if (writer == u->setup.release->env->rank)
        u->state[unit] |= VALID | SHARED;
    note_home(u, unit, writer);
}

static void forget_writer(dome_release_units *u, uint64_t unit, int writer, void *ctx)
{
    (void)writer, (void)ctx;
    if (u->writers)
        u->writers[unit] = 0;
}

/* Nobody else has a copy that is right: the unit is its new home's alone. */
static void give_unit(dome_release_units *u, uint64_t unit, int writer)
{
    dome__release_readers_end(u, unit);
    u->state[unit] &= PINNED | HOT;
    u->changed[unit] = 0;
    u->marks[unit] &= (uint8_t)~GIFT;
    note_home(u, unit, writer);
    u->writers[unit] = SEVERAL; /* it has moved */
}

/* By runs: each is a system call. */
static void give_units(dome_release_units *u, const run *units, int writer, void *ctx)
{
    const uint64_t end = units->first + units->count;
    const bool mine = writer == u->setup.release->env->rank;
    (void)ctx;
    if (!(units->region & RUN_GIFT))
        return;
    for (uint64_t k = units->first, from = k; k <= end; k++) {
        const bool gives = k < end && u->writers[k] == writer + 1;
        if (!gives && from < k && mine)
            dome__release_allow(u, from, k - from, DOME_ACCESS_WRITE);
        else if (!gives && from < k)
            dome__release_close(u, from, k - from);
        from = gives ? from : k + 1;
        if (gives)
            give_unit(u, k, writer);
    }
}

static void move_homes(const dome_release *r, notices *n)
{
    decide_homes(r, n);
    each_run(r, n, free_old, NULL);
    if (n->gives)
        each_run(r, n, give_units, NULL);
    each(r, n, move_unit, NULL);
    each(r, n, forget_writer, NULL);
}

/* A unit of which only its home has a copy now, which has written it alone, may be written on without a word. */
static bool becomes_private(dome_release_units *u, uint64_t unit)
{
    const GArray *readers = dome__release_readers_of(u, unit);
    u->state[unit] &= (uint32_t) ~(WRITTEN | IMPLIED);
    if (!is_home(u, unit) || u->state[unit] & OTHERS || (readers && readers->len > 0))
        return false;
    u->state[unit] &= (uint32_t)~SHARED;
    return true;
}

static void end_written(dome_release_units *u)
{
    if (u->written->len == 0)
        return;
    GArray *private = g_array_new(FALSE, FALSE, sizeof(uint64_t)), *done = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint k = 0; k < u->written->len; k++) {
        const uint64_t unit = g_array_index(u->written, uint64_t, k);
        if (becomes_private(u, unit))
            g_array_append_val(private, unit);
        if (!(u->state[unit] & (DIRTY | KEPT)))
            g_array_append_val(done, unit);
    }
    dome__release_allow_all(u, private, DOME_ACCESS_WRITE);
    dome__release_free_many(u, done);
    g_array_set_size(u->written, 0);
    g_array_unref(private);
    g_array_unref(done);
}

static void end_interval(dome_release *r, notices *n, bool moves)
{
    each_run(r, n, end_run, NULL);
    for (guint k = 0; k < r->regions->len; k++)
        if (r->regions->pdata[k])
            end_written(r->regions->pdata[k]);
    each(r, n, forget_marks, NULL);
    if (moves)
        move_homes(r, n);
    g_hash_table_remove_all(r->known);
    g_array_set_size(r->published, 0);
    r->epoch++;
}

/* Messages of many units have taken memory that may not be needed soon. */
static void give_back_memory(const dome_release *r, const notices *n, guint fetched)
{
    enum { MANY = 1 << 12 };
    uint64_t units = fetched;
    const run *at = n->runs;
    for (int rank = 0; n->any && rank < r->env->size; rank++)
        for (uint64_t k = 0; k < n->counts[rank] / RUN_WORDS; k++)
            units += (at++)->count;
    if (units >= MANY)
        malloc_trim(0);
}

static int meet(dome_release *r, dome_release_word *word, bool by_word)
{
    notices n = {.release = r};
    const guint fetched = r->fetched;
    int status = exchange(r, word, by_word, &n);
    if (status == DOME_OK && n.any)
        push(r, word->place, &n);
    if (status == DOME_OK && n.any && n.pushes)
        status = dome__barrier(r->env->transport);
    pthread_mutex_lock(&r->lock);
    if (status == DOME_OK && n.any)
        end_interval(r, &n, word->moves);
    dome__release_learn(r);
    r->alike.place = r->alike.next;
    if (status == DOME_OK && n.any)
        note_way(r, longest_run(r, &n));
    if (r->sections) {
        r->sections->in_barrier = r->sections->entered = false;
        dome__release_clear_sections(r);
    }
    r->place = word->place;
    r->meets++;
    dome__release_answer_waiting(r);
    pthread_mutex_unlock(&r->lock);
    if (status == DOME_OK)
        give_back_memory(r, &n, fetched);
    return status ? dome__fail_transport(r->env, status) : DOME_OK;
}

int dome__release_meet(dome_release *release, uint64_t place)
{
    const int status = dome__release_meet_at(release, place, false);
    return status ? status : dome__release_go_on(release);
}

int dome__release_meet_at(dome_release *release, uint64_t place, bool moves)
{
    return meet(release, &(dome_release_word){.place = place, .moves = moves}, false);
}

int dome__release_meet_by(dome_release *release, dome_release_word *word)
{
    return meet(release, word, true);
}

int dome__release_go_on(dome_release *release)
{
    int status = dome__release_move_ahead(release);
    if (status == DOME_OK)
        status = dome__release_fetch_ahead(release);
    if (status != DOME_OK)
        return dome__fail_transport(release->env, status);
    pthread_mutex_lock(&release->lock);
    dome__release_keep_hot(release);
    pthread_mutex_unlock(&release->lock);
    dome__release_refresh(release);
    return DOME_OK;
}

/* ---- locks ---- */

static void cool(dome_release *r)
{
    pthread_mutex_lock(&r->lock);
    dome__release_compare_hot(r, true);
    pthread_mutex_unlock(&r->lock);
}

/* What a lock carries: the epoch, then keys of units. */
enum { EPOCH = 8, KEY = 8 };

static void know(dome_release *r, uint64_t key)
{
    const gint64 word = (gint64)key;
    g_hash_table_add(r->known, g_memdup2(&word, sizeof word));
}

GByteArray *dome__release_give(dome_release *release)
{
    dome_release *r = release;
    GByteArray *carried = g_byte_array_new();
    uint8_t word[KEY];
    cool(r);
    for (guint n = 0; n < r->regions->len; n++) {
        dome_release_units *u = r->regions->pdata[n];
        if (!u)
            continue;
        dome__release_publish(u, CHANGE);
        pthread_mutex_lock(&r->lock);
        for (guint k = 0; k < u->written->len; k++)
            know(r, key_of(u, g_array_index(u->written, uint64_t, k)));
        pthread_mutex_unlock(&r->lock);
    }
    dome__put_u64(word, r->epoch);
    g_byte_array_append(carried, word, EPOCH);
    GHashTableIter at;
    gpointer key;
    g_hash_table_iter_init(&at, r->known);
    while (g_hash_table_iter_next(&at, &key, NULL)) {
        dome__put_u64(word, (uint64_t) * (const gint64 *)key);
        g_byte_array_append(carried, word, KEY);
    }
    return carried;
}

/* A unit that this task is writing is published first: its changes must not be lost with the copy. */
static void drop_unit(dome_release *r, uint64_t key)
{
    const uint64_t region = key >> UNIT_BITS, unit = key & ((UINT64_C(1) << UNIT_BITS) - 1);
    dome_release_units *u = region < r->regions->len ? r->regions->pdata[region] : NULL;
    if (!u || unit >= u->setup.units || is_home(u, unit))
        return;
    if (u->state[unit] & DIRTY)
        dome__release_publish(u, CHANGE);
    pthread_mutex_lock(&r->lock);
    dome__release_drop(u, unit, 1);
    pthread_mutex_unlock(&r->lock);
}

void dome__release_take(dome_release *release, const void *carried, size_t bytes)
{
    const uint8_t *at = carried;
    if (bytes < EPOCH || dome__get_u64(at) != release->epoch) /* a barrier was since */
        return;
    for (size_t k = EPOCH; k + KEY <= bytes; k += KEY) {
        know(release, dome__get_u64(at + k));
        drop_unit(release, dome__get_u64(at + k));
    }
}

/* ---- who watches ---- */

void dome__release_units_mirror(dome_release_units *units, void *mirror)
{
    pthread_mutex_lock(&units->setup.release->lock);
    units->mirror = mirror;
    pthread_mutex_unlock(&units->setup.release->lock);
}

void dome__release_hold(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
}

void dome__release_let_go(dome_release *release)
{
    pthread_mutex_unlock(&release->lock);
}

/* ---- beginning and end ---- */

static dome_release_room *room_new(void)
{
    dome_release_room *room = g_new0(dome_release_room, 1);
    GArray **words[] = {&room->cards, &room->runs, &room->counts,     &room->entry_bytes,
                        &room->own,   &room->more, &room->more_counts};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        *words[k] = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    room->own_runs = g_array_new(FALSE, FALSE, sizeof(run));
    room->entries = g_array_new(FALSE, FALSE, sizeof(const uint8_t *));
    room->own_entries = g_byte_array_new();
    return room;
}

static void room_free(dome_release_room *room)
{
    GArray *arrays[] = {room->cards, room->runs,        room->counts,   room->entry_bytes, room->own,
                        room->more,  room->more_counts, room->own_runs, room->entries,     room->parts};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        g_array_unref(arrays[k]);
    g_byte_array_unref(room->own_entries);
    g_free(room);
}

dome_release *dome__release_new(dome_env *env)
{
    dome_release *r = g_new0(dome_release, 1);
    r->room = room_new();
    dome__release_early_begin(r);
    r->env = env;
    r->peer = env->peer;
    r->regions = g_ptr_array_new();
    r->waiting = g_array_new(FALSE, FALSE, sizeof(waiting_fetch));
    r->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    r->deltas = g_array_new(FALSE, FALSE, sizeof(waiting_delta));
    r->published = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    r->early = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    r->gifts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    r->hot = g_array_new(FALSE, FALSE, sizeof(hot_unit));
    r->forgotten = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    dome__release_places_begin(r);
    r->pushing = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    r->places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    pthread_mutex_init(&r->lock, NULL);
    dome__peer_on(r->peer, DOME_PEER_RELEASE, dome__release_take_message, r);
    return r;
}

void dome__release_free(dome_release *release)
{
    if (!release)
        return;
    g_ptr_array_unref(release->regions);
    room_free(release->room);
    for (guint k = 0; k < release->waiting->len; k++)
        g_array_unref(g_array_index(release->waiting, waiting_fetch, k).which);
    g_array_unref(release->waiting);
    g_hash_table_unref(release->known);
    g_array_unref(release->deltas);
    g_hash_table_unref(release->places);
    g_array_unref(release->published);
    g_array_unref(release->early);
    g_array_unref(release->gifts);
    g_array_unref(release->hot);
    g_array_unref(release->forgotten);
    dome__release_places_end(release);
    g_hash_table_unref(release->pushing);
    dome__release_sections_end(release);
    pthread_mutex_destroy(&release->lock);
    g_free(release);
}
