#include "process/omp_image.h"

#include "process/omp_pages.h"
#include "system/say.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static dome_omp_image image;

static char *page_below(uintptr_t address)
{
    return (char *)(address & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1)); // NOLINT(performance-no-int-to-ptr)
}

static char *page_above(uintptr_t address)
{
    return page_below(address + (uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

/* The program's file is the first. */
static int find(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    dome_omp_image *i = context;
    char *read_only_end = NULL;
    i->fixed = info->dlpi_addr == 0;
    for (int k = 0; k < info->dlpi_phnum; k++)
        if (info->dlpi_phdr[k].p_type == PT_GNU_RELRO)
            read_only_end = page_below(info->dlpi_addr + info->dlpi_phdr[k].p_vaddr + info->dlpi_phdr[k].p_memsz);
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        if (p->p_type != PT_LOAD)
            continue;
        dome_omp_part part = {page_below(info->dlpi_addr + p->p_vaddr), page_above(info->dlpi_addr + p->p_vaddr + p->p_memsz)};
        if (!i->code.begin)
            i->code.begin = part.begin;
        i->code.end = part.end;
        if (!(p->p_flags & PF_W) || i->parts == DOME_OMP_IMAGE_PARTS)
            continue;
        if (read_only_end > part.begin && read_only_end <= part.end)
            part.begin = read_only_end;
        i->file_end[i->parts] = page_above(info->dlpi_addr + p->p_vaddr + p->p_filesz);
        if (part.begin < part.end)
            i->variables[i->parts++] = part;
    }
    return 1;
}

const dome_omp_image *dome__omp_image(void)
{
    if (!image.code.begin)
        dl_iterate_phdr(find, &image);
    return &image;
}

bool dome__omp_image_has_not(const void *code)
{
    const dome_omp_part *file = &dome__omp_image()->code;
    return (const char *)code < file->begin || (const char *)code >= file->end;
}

char *dome__omp_image_contents_end(int part)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const dome_omp_part *p = &dome__omp_image()->variables[part];
    char *from = image.file_end[part] < p->end ? image.file_end[part] : p->end, *end = from;
    uint8_t *touched = dome__omp_pages_touched(from, p->end);
    for (char *at = from; at < p->end; at += page)
        if (dome__omp_page_is(touched, (uint64_t)(at - from) / page) && (at[0] || memcmp(at, at + 1, page - 1) != 0))
            end = at + page;
    g_free(touched);
    return end;
}

/* ---- constructors ---- */

static ElfW(Dyn) * dynamic_section(void)
{
    extern struct r_debug _r_debug;
    return _r_debug.r_map->l_ld;
}

static uintptr_t entry_of(ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = dynamic_section(); d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag)
            return d->d_un.d_val;
    return 0;
}

typedef void constructor(int argc, char **argv, char **environment);

static void run_array(ElfW(Sxword) array, ElfW(Sxword) bytes, int argc, char **argv, char **environment)
{
    constructor *const *functions = (constructor *const *)entry_of(array); // NOLINT(performance-no-int-to-ptr)
    for (size_t k = 0; functions && k < entry_of(bytes) / sizeof *functions; k++)
        functions[k](argc, argv, environment);
}

/* What they print is task 0's to print. Returns a descriptor of the standard output; -1: it is closed. */
static int hush(void)
{
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept >= 0 && (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0))
        dome__say("what the program's constructors print may appear more than once: %s", strerror(errno));
    if (nowhere >= 0)
        close(nowhere);
    return kept;
}

static void unhush(int kept)
{
    fflush(stdout);
    if (kept < 0)
        return;
    if (dup2(kept, STDOUT_FILENO) < 0)
        dome__say("the standard output is lost: %s", strerror(errno));
    close(kept);
}

void dome__omp_image_construct(int argc, char **argv, char **environment)
{
    const dome_omp_image *i = dome__omp_image();
    dome_omp_pages *before[DOME_OMP_IMAGE_PARTS];
    for (int k = 0; k < i->parts; k++)
        before[k] = dome__omp_pages_keep(i->variables[k].begin, i->variables[k].end);
    const int kept = hush();
    run_array(DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ, argc, argv, environment);
    const uintptr_t init = entry_of(DT_INIT);
    if (init)
        ((constructor *)init)(argc, argv, environment); // NOLINT(performance-no-int-to-ptr)
    run_array(DT_INIT_ARRAY, DT_INIT_ARRAYSZ, argc, argv, environment);
    unhush(kept);
    for (int k = 0; k < i->parts; k++)
        dome__omp_pages_restore(before[k]);
}
