#include "wire/inquiry.h"

/* ---- a task's side ---- */

static uint32_t count_of(const uint32_t *counts, int rank, int channel)
{
    return counts ? __atomic_load_n(&counts[(size_t)rank * DOME_CHANNELS + (size_t)channel], __ATOMIC_RELAXED) : 0;
}

static bool is_pair(int size, uint32_t rank, uint32_t channel)
{
    return rank < (uint32_t)size && channel < DOME_CHANNELS;
}

static void put(GArray *numbers, uint32_t number)
{
    g_array_append_val(numbers, number);
}

/* A wait: its word, then how many such messages have been taken, from one task or by rank. */
static void put_wait(GArray *answer, const dome_transport *t, uint32_t waits)
{
    const int rank = DOME_WAITS_RANK(waits), channel = DOME_WAITS_CHANNEL(waits);
    put(answer, waits);
    for (int r = rank < 0 ? 0 : rank; channel < DOME_CHANNELS && r < (rank < 0 ? t->group.size : rank + 1); r++)
        put(answer, count_of(t->account.taken, r, channel));
}

GArray *dome__inquiry_waits(const dome_transport *t)
{
    GArray *answer = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    put_wait(answer, t, __atomic_load_n(&t->account.waiting, __ATOMIC_RELAXED));
    for (int k = 0; k < DOME_AHEAD_WAITS; k++) {
        const uint32_t waits = __atomic_load_n(&t->account.ahead_waits[k], __ATOMIC_RELAXED);
        if (waits)
            put_wait(answer, t, waits);
    }
    return answer;
}

GArray *dome__inquiry_given(const dome_transport *t, const GArray *pairs)
{
    GArray *answer = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (guint k = 0; k + 1 < pairs->len; k += 2) {
        const uint32_t rank = g_array_index(pairs, uint32_t, k), channel = g_array_index(pairs, uint32_t, k + 1);
        put(answer, is_pair(t->group.size, rank, channel) ? count_of(t->account.given, (int)rank, (int)channel) : 0);
    }
    return answer;
}

/* ---- the hub's side ---- */

typedef struct source {
    GArray *pairs; /* what the task is asked for; NULL: nothing */
    GArray *taken; /* how many of these messages the other tasks have taken */
    bool answered;
} source;

struct dome_inquiry {
    int size;
    bool *asked, *answered; /* by rank: the first question */
    int missing;            /* answers to it */
    source *sources;        /* by rank */
    int silent;             /* sources that have not answered */
    bool moves;
};

dome_inquiry *dome__inquiry_new(int size, const bool *asked)
{
    dome_inquiry *i = g_new0(dome_inquiry, 1);
    i->size = size;
    i->asked = g_memdup2(asked, (gsize)size * sizeof *asked);
    i->answered = g_new0(bool, size);
    i->sources = g_new0(source, size);
    for (int r = 0; r < size; r++)
        i->missing += asked[r];
    return i;
}

void dome__inquiry_free(dome_inquiry *i)
{
    if (!i)
        return;
    for (int r = 0; r < i->size; r++) {
        g_clear_pointer(&i->sources[r].pairs, g_array_unref);
        g_clear_pointer(&i->sources[r].taken, g_array_unref);
    }
    g_free(i->sources);
    g_free(i->answered);
    g_free(i->asked);
    g_free(i);
}

dome_inquiry_state dome__inquiry_state(const dome_inquiry *i)
{
    if (i->moves)
        return DOME_INQUIRY_MOVES;
    return i->missing ? DOME_INQUIRY_WAITS : i->silent ? DOME_INQUIRY_GIVEN : DOME_INQUIRY_FOR_EVER;
}

bool dome__inquiry_is_asked(const dome_inquiry *i, int rank)
{
    return rank >= 0 && rank < i->size && i->asked[rank];
}

/* A task that is not of this inquiry, which may do what it wants, is asked as well. */
static void ask(dome_inquiry *i, int of, int receiver, int channel, uint32_t taken)
{
    source *s = &i->sources[of];
    const uint32_t pair[] = {(uint32_t)receiver, (uint32_t)channel};
    if (!s->pairs) {
        s->pairs = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        s->taken = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        i->silent++;
    }
    g_array_append_vals(s->pairs, pair, G_N_ELEMENTS(pair));
    g_array_append_val(s->taken, taken);
}

/* Takes one wait of an answer, which begins at k. Returns where the next one begins; 0: that is no wait from which anything
 * follows. A service is such a one: a thread that waits for nothing answers, so the answer is under way. */
static guint take_wait(dome_inquiry *i, int rank, const GArray *answer, guint k)
{
    const uint32_t waits = g_array_index(answer, uint32_t, k++);
    const int from = DOME_WAITS_RANK(waits), channel = DOME_WAITS_CHANNEL(waits);
    if (waits == 0 || channel == DOME_WAITS_TO_SEND || channel >= DOME_WAITS_SERVICE || from >= i->size)
        return 0;
    for (int r = from < 0 ? 0 : from; channel < DOME_CHANNELS && r < (from < 0 ? i->size : from + 1); r++) {
        if (k == answer->len)
            return 0;
        if (r != rank)
            ask(i, r, rank, channel, g_array_index(answer, uint32_t, k));
        k++;
    }
    return k;
}

void dome__inquiry_take_waits(dome_inquiry *i, int rank, const GArray *answer)
{
    if (!dome__inquiry_is_asked(i, rank) || i->answered[rank])
        return;
    i->answered[rank] = true;
    i->missing--;
    guint k = 0;
    do {
        k = answer->len ? take_wait(i, rank, answer, k) : 0;
        i->moves |= k == 0;
    } while (k > 0 && k < answer->len);
}

const GArray *dome__inquiry_pairs(const dome_inquiry *i, int rank)
{
    return i->sources[rank].pairs;
}

void dome__inquiry_take_given(dome_inquiry *i, int rank, const GArray *answer)
{
    source *s = rank >= 0 && rank < i->size ? &i->sources[rank] : NULL;
    if (!s || !s->pairs || s->answered)
        return;
    s->answered = true;
    i->silent--;
    i->moves |= answer->len != s->taken->len;
    for (guint k = 0; k < MIN(answer->len, s->taken->len); k++)
        i->moves |= g_array_index(answer, uint32_t, k) != g_array_index(s->taken, uint32_t, k);
}
