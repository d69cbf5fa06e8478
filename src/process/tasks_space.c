/* What the runtime asks of other tasks, by memory that tasks keep equal (space/space.h). */
#include "process/tasks_space.h"

#include "program/start.h"
#include "races/races.h"

#include <link.h>
#include <string.h>

/* The first word of a fork, behind which are the caller's. */
enum { ENDS, BEGINS };
_Static_assert((int)DOME_OMP_FORK_WORDS < (int)DOME_RELEASE_WORDS, "a fork goes with the word of a meeting");

/* Of locks, orders and the like: below the heap (places.h). */
#define BLOCK       ((void *)(uintptr_t)0x1ff000000000)
#define BLOCK_BYTES ((uint64_t)1 << 16)

static dome_space *space;
static dome_env *tasks_env;

/* Memory would not agree, and results would be wrong without a word. */
static void check(int status)
{
    if (status != DOME_OK)
        dome__start_failed(tasks_env, 1, dome_error_message(tasks_env));
}

/* The frame that begins regions is task 0's: it writes there between regions, even if another task is the first in a region. */
static void keep_frame(const dome_omp_fork *fork)
{
    dome__space_stay(space, (const void *)(uintptr_t)fork->words[DOME_OMP_FORK_DATA]); // NOLINT(performance-no-int-to-ptr)
}

static void fork_tasks(const dome_omp_fork *fork)
{
    dome_release_word word = {.place = fork->place, .words = {BEGINS}};
    memcpy(word.words + 1, fork->words, sizeof fork->words);
    check(dome__space_meet_by(space, &word));
    keep_frame(fork);
}

static void end(void)
{
    if (dome__omp_tasks.rank == 0)
        check(dome__space_meet_by(space, &(dome_release_word){.words = {ENDS}}));
    dome__omp_races_end();
    g_clear_pointer(&space, dome__space_free);
}

static bool await_fork(dome_omp_fork *fork)
{
    dome_release_word word = {0};
    check(dome__space_meet_by(space, &word));
    if (word.words[0] != BEGINS) {
        end();
        return false;
    }
    fork->place = word.place;
    memcpy(fork->words, word.words + 1, sizeof fork->words);
    keep_frame(fork);
    return true;
}

static void meet(uint64_t place)
{
    check(dome__space_meet(space, place, true));
}

static void enter(void)
{
    check(dome__space_enter(space));
}

static void leave(const dome_omp_telling *telling)
{
    dome__space_leave_for(space, &(dome_space_telling){telling->whom, telling->if_written, telling->next});
}

static bool defer(void)
{
    return dome__space_defer(space);
}

static uint64_t told(void)
{
    return dome__space_told(space);
}

static void await_telling(uint64_t seen)
{
    check(dome__space_await(space, seen));
}

static bool is_shared(const void *address)
{
    return dome__space_has(space, address);
}

/* ---- variables of libraries in the program's memory ---- */

/* The loader has copied them there because the program names them: stdout, environ. Threads of the library read them, too. */
static int pin_copies(struct dl_phdr_info *program, size_t bytes, void *unused)
{
    const ElfW(Dyn) *at = NULL;
    const ElfW(Rela) *relocations = NULL;
    const ElfW(Sym) *symbols = NULL;
    uint64_t count = 0;
    (void)bytes, (void)unused;
    for (int k = 0; k < program->dlpi_phnum; k++)
        if (program->dlpi_phdr[k].p_type == PT_DYNAMIC)
            at = (const void *)(program->dlpi_addr + program->dlpi_phdr[k].p_vaddr);
    for (; at && at->d_tag != DT_NULL; at++) {
        if (at->d_tag == DT_RELA)
            relocations = (const void *)at->d_un.d_ptr;
        if (at->d_tag == DT_SYMTAB)
            symbols = (const void *)at->d_un.d_ptr;
        if (at->d_tag == DT_RELASZ)
            count = at->d_un.d_val / sizeof *relocations;
    }
    for (uint64_t k = 0; relocations && symbols && k < count; k++)
        if (ELF64_R_TYPE(relocations[k].r_info) == R_X86_64_COPY)
            dome__space_pin(space, (const void *)(program->dlpi_addr + relocations[k].r_offset),
                            symbols[ELF64_R_SYM(relocations[k].r_info)].st_size);
    return 1; /* the program is the first one */
}

dome_status dome__omp_tasks_begin(dome_env *env, const dome_space_range *ranges, unsigned count)
{
    if (env->size == 1)
        return DOME_OK;
    tasks_env = env;
    space = dome__space_new(env);
    if (!space)
        return dome_error_status(env);
    const dome_space_range block = {"block of the OpenMP runtime", BLOCK, BLOCK_BYTES, .keep = false, .home = 0};
    dome_status status = dome__space_add(space, &block, 1);
    if (status == DOME_OK)
        status = dome__space_add(space, ranges, count);
    if (status != DOME_OK)
        return status;
    dl_iterate_phdr(pin_copies, NULL);
    dome__omp_tasks = (dome_omp_tasks){.rank = env->rank,
                                       .size = env->size,
                                       .fork = fork_tasks,
                                       .await_fork = await_fork,
                                       .end = end,
                                       .meet = meet,
                                       .first = dome__omp_first_even,
                                       .enter = enter,
                                       .leave = leave,
                                       .defer = defer,
                                       .told = told,
                                       .await = await_telling,
                                       .shared = BLOCK,
                                       .shared_bytes = BLOCK_BYTES,
                                       .is_shared = is_shared};
    return DOME_OK;
}

dome_space *dome__omp_space(void)
{
    return space;
}

void dome__omp_want(const void *address, uint64_t bytes, bool write)
{
    if (space)
        dome__space_want(space, address, bytes, write);
}

void dome__omp_collect(void)
{
    if (space)
        dome__space_collect(space);
}
