#include "process/omp_watch.h"

#include "openmp/team.h"
#include "process/omp_arena.h"
#include "process/omp_heap.h"
#include "process/omp_image.h"
#include "process/omp_symbol.h"
#include "process/tasks_space.h"
#include "program/start.h"
#include "races/races.h"
#include "system/fault.h"

#include <link.h>
#include <string.h>

enum { WATCHED_STACK = 32 << 20 }; /* of main's, with one task */

static struct {
    dome_env *env;
    bool (*map)(char *begin, char *end);
    GArray *parts; /* dome_omp_part: of the heap, before it is watched */
} here;

static void check(const char *why)
{
    if (why)
        dome__start_failed(here.env, 1, g_strdup_printf("races (--dome-omp-races) cannot be looked for: %s", why));
}

static void watch(void *part)
{
    const dome_omp_part *p = part;
    check(dome__omp_races_watch(p->begin, (uint64_t)(p->end - p->begin)));
}

/* ---- what Fortran's library has for itself: its units, which threads lock ---- */

static const char *library_begin, *library_end;

static int find_library(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    (void)bytes, (void)unused;
    if (!strstr(info->dlpi_name, "/libgfortran.so"))
        return 0;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        const char *begin = (const char *)(info->dlpi_addr + p->p_vaddr); // NOLINT(performance-no-int-to-ptr)
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        library_begin = begin;
        library_end = begin + p->p_memsz;
    }
    return 1;
}

/* The library has no large blocks, so one that was its own and is the program's now is small. */
static void given(void *block, size_t bytes, const void *caller)
{
    enum { SMALL = 1 << 15 };
    const bool is_librarys = (const char *)caller >= library_begin && (const char *)caller < library_end;
    if (bytes <= SMALL)
        dome__omp_races_block(block, bytes, is_librarys);
}

/* ---- one task ---- */

static bool map_watched(char *begin, char *end)
{
    dome_omp_part part = {begin, end};
    if (!here.map(begin, end))
        return false;
    if (here.env)
        dome__omp_call_task(watch, &part);
    else
        g_array_append_val(here.parts, part);
    return true;
}

void dome__omp_watch_heap(void)
{
    here.map = dome__omp_arena_map;
    here.parts = g_array_new(FALSE, FALSE, sizeof(dome_omp_part));
    dome__omp_arena_map = map_watched;
    dome__omp_arena_gives_back = false; /* zeros would pass for written */
}

/* The stack for signals stays until the process ends: pages of the others may be closed. */
static void watch_own(char *end)
{
    const dome_omp_image *image = dome__omp_image();
    void *stack;
    check(dome__fault_stack_begin(&stack));
    for (int k = 0; k < image->parts; k++)
        watch((void *)(uintptr_t)&image->variables[k]);
    watch(&(dome_omp_part){end - WATCHED_STACK, end});
    for (guint k = 0; k < here.parts->len; k++)
        watch(&g_array_index(here.parts, dome_omp_part, k));
    dome__omp_tasks.is_shared = dome__omp_races_has;
}

/* ---- several ---- */

static bool is_variable(const char *address)
{
    const dome_omp_image *image = dome__omp_image();
    bool is = false;
    for (int k = 0; k < image->parts; k++)
        is |= address >= image->variables[k].begin && address < image->variables[k].end;
    return is;
}

/* Not the memory of the runtime. */
static void watch_space(const dome_space *space)
{
    dome_space_memory part;
    for (unsigned k = 0; dome__space_part(space, k, &part); k++)
        if (is_variable(part.address) || (uintptr_t)part.address >= DOME_OMP_HEAP)
            check(dome__omp_races_watch_part(k));
}

void dome__omp_watch_begin(dome_env *env, char *stack_end)
{
    dome_space *space = dome__omp_space();
    here.env = env;
    check(dome__omp_races_begin(&(dome_omp_races_setup){.env = env,
                                                        .space = space,
                                                        .is_error = env->options.omp_races == DOME_RACES_ERROR,
                                                        .name = dome__omp_symbol_of_data,
                                                        .function = dome__omp_symbol}));
    if (space)
        watch_space(space);
    else
        watch_own(stack_end);
    dl_iterate_phdr(find_library, NULL);
    if (library_begin)
        dome__omp_block_given = given;
}
