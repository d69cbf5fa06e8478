/* Rights of pages, faults, and what was written: all that the trackers have in common. */
#include "memory/memory_private.h"

#include "system/fault.h"
#include "system/say.h"
#include "system/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the memories with rights, for the fault handler, which takes no lock to read this ---- */

enum { PLACES = 64 };

typedef struct place {
    _Atomic(char *) data; /* NULL: free. Set last, cleared first */
    _Atomic size_t bytes;
    _Atomic(dome_memory *) memory;
    _Atomic bool released;
} place;

/* Pieces of the table are never freed. */
typedef struct piece {
    place places[PLACES];
    _Atomic(struct piece *) next;
} piece;

static piece table;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER; /* of those who write */

static place *place_of(piece *p, const char *data)
{
    for (int k = 0; k < PLACES; k++)
        if (atomic_load(&p->places[k].data) == data)
            return &p->places[k];
    return NULL;
}

static void cannot_go_on(const char *why)
{
    dome__say_at_once("memory that tasks share cannot be accessed: %s", why);
    abort();
}

/* ---- a process made by fork ---- */

/* Its parent waits until it has copied what it is to have. One fork at a time: the table's lock is held. */
static struct {
    bool copies;
    int ends[2];
} child = {.ends = {-1, -1}};

static void before_fork(void)
{
    pthread_mutex_lock(&table_lock);
    child.copies = false;
    for (piece *p = &table; p; p = p->next)
        for (int k = 0; k < PLACES; k++)
            child.copies |= p->places[k].data && ((dome_memory *)p->places[k].memory)->replaces;
    if (child.copies && pipe2(child.ends, O_CLOEXEC) < 0)
        cannot_go_on(g_strerror(errno));
}

/* A child that ends before it has copied closes its end. */
static void after_fork(void)
{
    char byte;
    if (child.copies) {
        close(child.ends[1]);
        while (read(child.ends[0], &byte, 1) < 0 && errno == EINTR)
            continue;
        close(child.ends[0]);
    }
    pthread_mutex_unlock(&table_lock);
}

/* It does not have the mappings, and must not change its parent's by userfaultfd. */
static void forget_all(void)
{
    for (piece *p = &table; p; p = p->next)
        for (int k = 0; k < PLACES; k++) {
            const dome_memory *memory = p->places[k].data ? p->places[k].memory : NULL;
            if (memory && memory->here) /* it is the child's own */
                mprotect(memory->data, memory->bytes, PROT_READ | PROT_WRITE);
            const char *why = memory && memory->replaces ? dome__memory_copy_here(memory) : NULL;
            if (why)
                cannot_go_on(why);
            atomic_store(&p->places[k].data, NULL);
        }
}

static void begin_child(void)
{
    forget_all();
    if (child.copies) {
        const bool told = write(child.ends[1], "", 1) == 1;
        close(child.ends[0]);
        close(child.ends[1]);
        if (!told)
            cannot_go_on("its parent is gone");
    }
    pthread_mutex_unlock(&table_lock);
}

static void take_care_of_forks(void)
{
    pthread_atfork(before_fork, after_fork, begin_child);
}

/* ---- entering the table, and leaving it ---- */

static void enter(dome_memory *memory)
{
    place *found = NULL;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, take_care_of_forks);
    for (piece *p = &table; !(found = place_of(p, NULL)); p = p->next)
        if (!p->next)
            p->next = g_new0(piece, 1);
    atomic_store(&found->memory, memory);
    atomic_store(&found->bytes, memory->bytes);
    atomic_store(&found->released, false);
    atomic_store(&found->data, memory->data);
}

static place *find_place(const dome_memory *memory)
{
    place *found = NULL;
    for (piece *p = &table; p && !found; p = p->next)
        found = place_of(p, memory->data);
    return found;
}

static bool leave(const dome_memory *memory)
{
    bool any = false;
    place *found = find_place(memory);
    if (found)
        atomic_store(&found->data, NULL);
    for (piece *p = &table; p; p = p->next)
        for (int k = 0; k < PLACES; k++)
            any |= atomic_load(&p->places[k].data) != NULL;
    return any;
}

static dome_memory *memory_at(const char *address)
{
    for (piece *p = &table; p; p = p->next)
        for (int k = 0; k < PLACES; k++) {
            place *at = &p->places[k];
            char *data = atomic_load(&at->data);
            size_t bytes = atomic_load(&at->bytes);
            dome_memory *memory = atomic_load(&at->memory);
            if (data && address >= data && address < data + bytes && atomic_load(&at->data) == data)
                return memory;
        }
    return NULL;
}

bool dome__memory_is_ruled(const void *bytes, size_t count)
{
    const char *at = bytes;
    for (piece *p = &table; p; p = p->next)
        for (int k = 0; k < PLACES; k++) {
            const char *data = atomic_load(&p->places[k].data);
            if (data && at < data + atomic_load(&p->places[k].bytes) && data < at + count && !atomic_load(&p->places[k].released))
                return true;
        }
    return false;
}

/* ---- pages ---- */

static void lock(dome_memory *memory, sigset_t *before)
{
    dome__signals_block(before);
    pthread_mutex_lock(&memory->lock);
}

static void unlock(dome_memory *memory, const sigset_t *before)
{
    pthread_mutex_unlock(&memory->lock);
    dome__signals_restore(before);
}

static bool notes_faults(const dome_memory *memory)
{
    return memory->watching && !memory->tracker->written;
}

/* The accesses to a page that the processor lets pass. A page whose first write must be noticed is closed to writes. */
static dome_access wanted(const dome_memory *memory, size_t page)
{
    const page_state *p = &memory->pages[page];
    return p->right == DOME_ACCESS_WRITE && notes_faults(memory) && !p->written ? DOME_ACCESS_READ : (dome_access)p->right;
}

/* Gives pages this access; all of them have had the same one so far. */
static const char *set_run(dome_memory *memory, size_t first, size_t count, dome_access access)
{
    const char *why = memory->tracker->set(memory, first, count, access);
    for (size_t k = first; k < first + count && !why; k++)
        memory->pages[k].open = access;
    return why;
}

static const char *set_pages(dome_memory *memory, size_t first, size_t count)
{
    const size_t end = first + count;
    const char *why = NULL;
    while (first < end && !why) {
        const dome_access access = wanted(memory, first), open = memory->pages[first].open;
        size_t k = first + 1;
        while (k < end && wanted(memory, k) == access && memory->pages[k].open == open)
            k++;
        if (access != open)
            why = set_run(memory, first, k - first, access);
        first = k;
    }
    return why;
}

/* ---- faults ---- */

/* The access has its right, or the page has been closed without its right being taken away. */
static const char *reopen(dome_memory *memory, size_t page, bool write)
{
    page_state *p = &memory->pages[page];
    if (write && notes_faults(memory) && !p->written) {
        p->written = 1;
        g_array_append_val(memory->noted, page);
    }
    if (p->open >= (write ? DOME_ACCESS_WRITE : DOME_ACCESS_READ)) /* as the tracker thinks, but the kernel took the page away */
        p->open = DOME_ACCESS_NONE;
    return set_run(memory, page, 1, wanted(memory, page));
}

/* Rights ended while this access faulted: it is repeated, unless it faults again and again, for another reason. */
static dome_fault_answer mended_before(const char *address)
{
    enum { MOST = 3 };
    static __thread const char *last;
    static __thread int times;
    times = last == address ? times + 1 : 1;
    last = address;
    return times <= MOST ? DOME_FAULT_MENDED : DOME_FAULT_OTHERS;
}

static dome_fault_answer answer_fault(const dome_fault *fault, void *unused)
{
    (void)unused;
    dome_memory *memory = memory_at(fault->address);
    if (!memory)
        return DOME_FAULT_OTHERS;
    const char *why = NULL;
    const size_t page = (size_t)(fault->address - memory->data) / memory->page;
    sigset_t before;
    lock(memory, &before);
    const dome_access right = memory->pages[page].right;
    /* where the machine does not tell, the access is a read first, and a write if it faults again */
    const bool write = fault->kind == DOME_FAULT_WRITE || (fault->kind == DOME_FAULT_UNKNOWN && right != DOME_ACCESS_NONE &&
                                                           memory->pages[page].open != DOME_ACCESS_NONE);
    if (memory->released) {
        unlock(memory, &before);
        return mended_before(fault->address);
    }
    const bool allowed = right >= (write ? DOME_ACCESS_WRITE : DOME_ACCESS_READ);
    if (allowed && write && memory->on_write && notes_faults(memory) && !memory->pages[page].written) {
        unlock(memory, &before); /* it may wait for what others hold while they give rights */
        memory->on_write(memory->on_write_context, page);
        lock(memory, &before);
    }
    if (allowed)
        why = reopen(memory, page, write);
    unlock(memory, &before);
    if (why)
        cannot_go_on(why);
    if (!allowed)
        memory->handler(memory->context, (size_t)(fault->address - memory->data), write);
    return DOME_FAULT_MENDED;
}

/* ---- beginning and ending ---- */

/* Before the first page is closed: another thread may use the memory by now. */
static void answer_from_now(dome_memory *memory)
{
    pthread_mutex_lock(&table_lock);
    enter(memory);
    dome__fault_on(DOME_FAULT_OF_MEMORY, answer_fault, NULL);
    pthread_mutex_unlock(&table_lock);
}

static const char *begin(dome_memory *memory, bool rights)
{
    const char *why = NULL;
    /* userfaultfd gives rights to shared memory alone */
    const dome_tracker *tracker = memory->here ? &dome__tracker_protect : dome__tracker_choose(rights, &why);
    if (!tracker)
        return why;
    const dome_access access = rights ? DOME_ACCESS_NONE : DOME_ACCESS_WRITE;
    const size_t pages = memory->bytes / memory->page;
    if (!memory->here)
        madvise(memory->data, memory->bytes, MADV_NOHUGEPAGE); /* a kernel without huge pages refuses, and does not need it */
    memory->pages = g_new0(page_state, pages);
    for (size_t k = 0; k < pages && access; k++) /* a page that is never touched costs nothing here */
        memory->pages[k] = (page_state){.right = access, .open = access};
    pthread_mutex_init(&memory->lock, NULL);
    memory->tracker = tracker;
    memory->rights = rights;
    sigset_t before;
    lock(memory, &before);
    if (tracker->set)
        answer_from_now(memory);
    why = tracker->begin(memory, rights);
    unlock(memory, &before);
    if (!why)
        return NULL;
    dome__memory_end_rights(memory);
    return why;
}

void dome__memory_end_rights(dome_memory *memory)
{
    if (!memory->tracker)
        return;
    if (memory->tracker->set) {
        pthread_mutex_lock(&table_lock);
        if (!leave(memory))
            dome__fault_off(DOME_FAULT_OF_MEMORY);
        pthread_mutex_unlock(&table_lock);
    }
    if (memory->tracker->end)
        memory->tracker->end(memory);
    pthread_mutex_destroy(&memory->lock);
    g_clear_pointer(&memory->pages, g_free);
    g_clear_pointer(&memory->noted, g_array_unref);
    memory->tracker = NULL;
}

const char *dome__memory_on_fault(dome_memory *memory, dome_memory_handler *handler, void *context)
{
    if (memory->tracker)
        return "it is tracked already";
    memory->handler = handler;
    memory->context = context;
    return begin(memory, true);
}

const char *dome__memory_allow(dome_memory *memory, size_t first, size_t count, dome_access access)
{
    sigset_t before;
    if (!memory->rights)
        return "it has no rights";
    lock(memory, &before);
    for (size_t k = first; k < first + count; k++)
        memory->pages[k].right = access;
    memory->given_first = memory->given_end ? MIN(memory->given_first, first) : first;
    memory->given_end = MAX(memory->given_end, first + count);
    const char *why = memory->released ? NULL : set_pages(memory, first, count);
    unlock(memory, &before);
    return why;
}

void dome__memory_allow_surely(dome_memory *memory, size_t first, size_t count, dome_access access)
{
    const char *why = dome__memory_allow(memory, first, count, access);
    if (why)
        cannot_go_on(why);
}

void dome__memory_release(dome_memory *memory)
{
    sigset_t before;
    lock(memory, &before);
    const char *why = memory->tracker->release(memory);
    memory->released = true;
    unlock(memory, &before);
    if (why)
        cannot_go_on(why);
    pthread_mutex_lock(&table_lock);
    place *found = find_place(memory);
    if (found)
        atomic_store(&found->released, true);
    pthread_mutex_unlock(&table_lock);
}

dome_access dome__memory_right(dome_memory *memory, size_t page)
{
    sigset_t before;
    if (!memory->tracker)
        return DOME_ACCESS_WRITE;
    lock(memory, &before);
    dome_access right = memory->pages[page].right;
    unlock(memory, &before);
    return right;
}

bool dome__memory_has(const dome_memory *memory, size_t first, size_t count, dome_access access)
{
    size_t k = first;
    while (k < first + count && memory->pages[k].right == access)
        k++;
    return k == first + count;
}

const char *dome__memory_tracker(const dome_memory *memory)
{
    return memory->tracker ? memory->tracker->name : "none";
}

/* ---- what was written ---- */

const char *dome__memory_watch(dome_memory *memory)
{
    const char *why = memory->tracker ? NULL : begin(memory, false);
    if (why)
        return why;
    sigset_t before;
    lock(memory, &before);
    memory->watching = true;
    memory->noted = g_array_new(FALSE, FALSE, sizeof(size_t));
    const size_t first = memory->rights ? memory->given_first : 0;
    const size_t end = memory->rights ? memory->given_end : memory->bytes / memory->page;
    if (notes_faults(memory))
        why = set_pages(memory, first, end - first);
    unlock(memory, &before);
    return why;
}

void dome__memory_on_write(dome_memory *memory, dome_memory_first *first, void *context)
{
    memory->on_write = first;
    memory->on_write_context = context;
}

static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Takes the written pages from the list. */
static GArray *take_noted(dome_memory *memory)
{
    sigset_t before;
    GArray *fresh = g_array_new(FALSE, FALSE, sizeof(size_t));
    lock(memory, &before);
    GArray *noted = memory->noted;
    memory->noted = fresh;
    unlock(memory, &before);
    g_array_sort(noted, by_number);
    return noted;
}

/* From now on the first write to these is noticed. */
static const char *close_run(dome_memory *memory, size_t first, size_t count)
{
    sigset_t before;
    lock(memory, &before);
    for (size_t k = first; k < first + count; k++)
        memory->pages[k].written = 0;
    const char *why = set_pages(memory, first, count);
    unlock(memory, &before);
    return why;
}

const char *dome__memory_written(dome_memory *memory, dome_memory_visit *visit, void *context)
{
    const char *why = NULL;
    if (memory->tracker->written)
        return memory->tracker->written(memory, visit, context);
    GArray *noted = take_noted(memory);
    const size_t *pages = (const size_t *)(const void *)noted->data;
    for (guint k = 0, end; k < noted->len && !why; k = end) {
        for (end = k + 1; end < noted->len && pages[end] == pages[k] + (end - k);)
            end++;
        why = close_run(memory, pages[k], end - k);
        if (!why)
            visit(context, pages[k], end - k);
    }
    g_array_unref(noted);
    return why;
}
