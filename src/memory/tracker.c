#include "memory/tracker.h"

#include "memory/memory_private.h"
#include "system/environment_variables.h"

#include <glib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- compare: it notices nothing; its user compares all pages with a copy ---- */

static const char *compare_begin(dome_memory *memory, bool rights)
{
    (void)memory;
    return rights ? "compare does not stop accesses" : NULL;
}

static const char *compare_written(dome_memory *memory, dome_memory_visit *visit, void *context)
{
    visit(context, 0, memory->bytes / memory->page);
    return NULL;
}

const dome_tracker dome__tracker_compare = {
    .name = "compare",
    .how = "every page may have been written (every system)",
    .begin = compare_begin,
    .written = compare_written,
};

/* ---- the table ---- */

static const dome_tracker *const rows[] = {&dome__tracker_async, &dome__tracker_fault, &dome__tracker_protect,
                                           &dome__tracker_compare};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *missing[ROWS]; /* why this machine has it not */
static const dome_tracker *forced;
static bool unknown; /* DOME_TRACKER names no row */
static pthread_once_t tried = PTHREAD_ONCE_INIT;

static void note_page(void *context, size_t first, size_t count)
{
    size_t *pages = context;
    for (size_t k = first; k < first + count; k++)
        pages[0] |= (size_t)1 << k;
}

/* Uses the tracker on two pages, in the ways that do not fault. */
static const char *try_watching(const dome_tracker *tracker, dome_memory *memory)
{
    size_t pages = 0;
    const char *why = tracker->begin(memory, false);
    if (why || !tracker->written)
        return why;
    memory->data[memory->page] = 1;
    why = tracker->written(memory, note_page, &pages);
    return why ? why : tracker->watches && pages != 2 ? "the kernel does not find the pages that were written" : NULL;
}

static const char *try_rights(const dome_tracker *tracker, dome_memory *memory)
{
    const char *why = tracker->begin(memory, true);
    for (int access = DOME_ACCESS_WRITE; access >= 0 && !why; access--) {
        why = tracker->set(memory, 0, 2, DOME_ACCESS_READ);
        memory->pages[0].open = memory->pages[1].open = DOME_ACCESS_READ;
        if (!why)
            why = tracker->set(memory, 0, 2, (dome_access)access);
        memory->pages[0].open = memory->pages[1].open = (unsigned)access & 3;
    }
    return why;
}

static const char *try_row(const dome_tracker *tracker)
{
    const char *why = NULL;
    dome_memory *memory = dome__memory_new("dome-trial", 1, &why), *two = NULL;
    if (memory)
        two = dome__memory_new("dome-trial", 2 * dome__memory_page(memory), &why);
    dome__memory_free(memory);
    if (!two)
        return why;
    page_state pages[2] = {0};
    two->pages = pages;
    two->rights = tracker->rights;
    why = tracker->rights ? try_rights(tracker, two) : try_watching(tracker, two);
    if (tracker->end)
        tracker->end(two);
    two->pages = NULL;
    dome__memory_free(two);
    return why;
}

static int row_of(const char *name)
{
    for (int k = 0; k < ROWS; k++)
        if (strcmp(rows[k]->name, name) == 0)
            return k;
    return -1;
}

static void force_by_variable(void)
{
    const char *name = getenv(DOME_VARIABLE_TRACKER);
    int k = name ? row_of(name) : -1;
    forced = k >= 0 && !missing[k] ? rows[k] : NULL;
    unknown = name && *name && k < 0;
}

static void try_all(void)
{
    for (int k = 0; k < ROWS; k++)
        missing[k] = try_row(rows[k]);
    force_by_variable();
}

const dome_tracker *dome__tracker_row(unsigned k, const char **why)
{
    pthread_once(&tried, try_all);
    *why = k < ROWS ? missing[k] : NULL;
    return k < ROWS ? rows[k] : NULL;
}

bool dome__tracker_force(const char *name)
{
    pthread_once(&tried, try_all);
    int k = row_of(name);
    if (strcmp(name, "auto") == 0)
        force_by_variable();
    else if (k < 0 || missing[k])
        return false;
    else
        forced = rows[k];
    return true;
}

const dome_tracker *dome__tracker_choose(bool rights, const char **why)
{
    pthread_once(&tried, try_all);
    if (unknown) {
        *why = DOME_VARIABLE_TRACKER " names no tracker: unset it, or use async, fault, protect or compare";
        return NULL;
    }
    int first = forced ? row_of(forced->name) : 0;
    for (int k = first; k < ROWS; k++)
        if (!missing[k] && (!rights || rows[k]->rights))
            return rows[k];
    *why = "nothing here can keep pages from being read and written";
    return NULL;
}
