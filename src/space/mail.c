#include "space/mail.h"

#include <glib.h>

#include <stdatomic.h>
#include <string.h>

enum { LINE = 128, LETTERS = 4, LETTER_BYTES = 1020 };

typedef struct letter {
    uint32_t bytes;
    uint8_t message[LETTER_BYTES];
} letter;

/* From one task to another. Counts wrap. */
typedef struct box {
    _Alignas(LINE) atomic_uint put;
    _Alignas(LINE) atomic_uint taken;
    _Alignas(LINE) letter letters[LETTERS];
} box;

/* A task of the host. */
typedef struct place {
    _Alignas(LINE) atomic_uint state; /* dome_mail_state */
    _Alignas(LINE) atomic_uint come;  /* so many messages were put for it */
    atomic_bool defers;               /* it defers news */
} place;

struct dome_mail {
    dome_memory *memory;
    unsigned task, tasks;
    bool all;     /* the program's tasks are all on this host */
    int *ranks;   /* by task */
    int *task_of; /* by rank; -1: it is on another host */
    place *places;
    box *boxes;
    atomic_uint seen; /* of those that have come: looked at without a lock, too */
};

static box *box_of(const dome_mail *m, unsigned from, unsigned to)
{
    return &m->boxes[from * m->tasks + to];
}

uint64_t dome__mail_bytes(unsigned tasks)
{
    return tasks * sizeof(place) + (uint64_t)tasks * tasks * sizeof(box);
}

dome_mail *dome__mail_new(const dome_mail_setup *setup)
{
    dome_mail *m = g_new0(dome_mail, 1);
    m->memory = setup->memory;
    m->task = setup->task;
    m->tasks = setup->tasks;
    m->all = setup->tasks == (unsigned)setup->size;
    m->ranks = g_memdup2(setup->ranks, setup->tasks * sizeof *setup->ranks);
    m->places = dome__memory_alias(setup->memory);
    m->boxes = (box *)(void *)(m->places + setup->tasks);
    m->task_of = g_new(int, setup->size);
    for (int rank = 0; rank < setup->size; rank++)
        m->task_of[rank] = -1;
    for (unsigned k = 0; k < setup->tasks; k++)
        m->task_of[setup->ranks[k]] = (int)k;
    return m;
}

void dome__mail_free(dome_mail *mail)
{
    if (!mail)
        return;
    dome__memory_free(mail->memory);
    g_free(mail->ranks);
    g_free(mail->task_of);
    g_free(mail);
}

dome_mail_state dome__mail_put(dome_mail *mail, int rank, const void *message, size_t bytes)
{
    const int to = mail ? mail->task_of[rank] : -1;
    if (to < 0 || bytes > LETTER_BYTES)
        return DOME_MAIL_REFUSED;
    box *b = box_of(mail, mail->task, (unsigned)to);
    const unsigned put = atomic_load_explicit(&b->put, memory_order_relaxed);
    if (put - atomic_load_explicit(&b->taken, memory_order_acquire) == LETTERS)
        return DOME_MAIL_REFUSED;
    letter *l = &b->letters[put % LETTERS];
    l->bytes = (uint32_t)bytes;
    memcpy(l->message, message, bytes);
    atomic_store_explicit(&b->put, put + 1, memory_order_release);
    atomic_fetch_add(&mail->places[to].come, 1);
    return (dome_mail_state)atomic_load(&mail->places[to].state);
}

void dome__mail_watch(dome_mail *mail, dome_mail_state state)
{
    if (mail)
        atomic_store(&mail->places[mail->task].state, (unsigned)state);
}

/* Both steps are sequentially consistent: this task sees that another one sleeps, or that one sees that this task defers. */
bool dome__mail_defer(dome_mail *mail)
{
    if (!mail || !mail->all)
        return false;
    bool asleep = false;
    atomic_store(&mail->places[mail->task].defers, true);
    for (unsigned k = 0; k < mail->tasks; k++)
        asleep |= atomic_load(&mail->places[k].state) == DOME_MAIL_SLEEPS;
    if (asleep)
        atomic_store(&mail->places[mail->task].defers, false);
    return !asleep;
}

void dome__mail_deferred(dome_mail *mail)
{
    if (mail)
        atomic_store_explicit(&mail->places[mail->task].defers, false, memory_order_release);
}

int dome__mail_deferrer(const dome_mail *mail)
{
    for (unsigned k = 0; mail && k < mail->tasks; k++)
        if (k != mail->task && atomic_load(&mail->places[k].defers))
            return mail->ranks[k];
    return -1;
}

bool dome__mail_waits(const dome_mail *mail)
{
    return mail && atomic_load(&mail->places[mail->task].come) != atomic_load_explicit(&mail->seen, memory_order_relaxed);
}

/* Those of one task. */
static bool take_from(const dome_mail *m, unsigned from, dome_mail_take *take, void *ctx)
{
    box *b = box_of(m, from, m->task);
    const unsigned put = atomic_load_explicit(&b->put, memory_order_acquire);
    unsigned taken = atomic_load_explicit(&b->taken, memory_order_relaxed);
    const bool any = taken != put;
    while (taken != put) {
        const letter *l = &b->letters[taken % LETTERS];
        take(ctx, m->ranks[from], l->message, MIN(l->bytes, LETTER_BYTES));
        atomic_store_explicit(&b->taken, ++taken, memory_order_release);
    }
    return any;
}

bool dome__mail_take(dome_mail *mail, dome_mail_take *take, void *ctx)
{
    bool any = false;
    while (dome__mail_waits(mail)) {
        atomic_store_explicit(&mail->seen, atomic_load(&mail->places[mail->task].come), memory_order_relaxed);
        for (unsigned from = 0; from < mail->tasks; from++)
            any |= from != mail->task && take_from(mail, from, take, ctx);
    }
    return any;
}
