/* What must be equal in all tasks: a text with a line for each thing, and a hash for each page of the program's variables. */
#include "process/omp_image.h"

#include "core/environment.h"
#include "process/omp_pages.h"
#include "process/omp_symbol.h"
#include "program/start.h"
#include "system/checksum.h"
#include "transport/agree.h"

#include <cpuid.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static char *description;
static uint64_t description_hash;

/* ---- as a text ---- */

static void append_build(GString *text, const struct dl_phdr_info *info, const ElfW(Phdr) * p)
{
    const char *note = (const char *)(info->dlpi_addr + p->p_vaddr), *end = note + p->p_memsz; // NOLINT
    while (note + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)note;
        const unsigned char *id = (const unsigned char *)(n + 1) + ((n->n_namesz + 3) & ~3U);
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(n + 1, "GNU", 4) == 0) {
            g_string_append(text, ", build ");
            for (unsigned k = 0; k < n->n_descsz; k++)
                g_string_append_printf(text, "%02x", id[k]);
            return;
        }
        note = (const char *)id + ((n->n_descsz + 3) & ~3U);
    }
}

/* The code stands for the build where the linker has left no note of it. */
static void append_code(GString *text, const struct dl_phdr_info *info)
{
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X && p->p_flags & PF_R)
            g_string_append_printf(text, ", code %016" G_GINT64_MODIFIER "x",
                                   dome__checksum64((const void *)(info->dlpi_addr + p->p_vaddr), p->p_memsz)); // NOLINT
    }
}

static int append_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    GString *text = context;
    const bool is_program = text->len == 0;
    if (!is_program && info->dlpi_addr <= getauxval(AT_SYSINFO_EHDR) && strstr(info->dlpi_name, "vdso"))
        return 0; /* the system's own, which no pointer leads to */
    if (is_program)
        g_string_append(text, "program");
    else
        g_string_append_printf(text, "library %s at %#" G_GINT64_MODIFIER "x", info->dlpi_name, (guint64)info->dlpi_addr);
    const gsize before = text->len;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        if (p->p_type == PT_NOTE)
            append_build(text, info, p);
        else if (p->p_type == PT_TLS)
            g_string_append_printf(text, ", thread-local %zu bytes", (size_t)p->p_memsz);
    }
    if (!strstr(text->str + before, ", build "))
        append_code(text, info);
    g_string_append_c(text, '\n');
    return 0;
}

static void append_machine(GString *text)
{
    unsigned a, b, c, d;
    g_string_append_printf(text, "page size %ld\n", sysconf(_SC_PAGESIZE));
    g_string_append(text, "processor features");
    if (__get_cpuid(1, &a, &b, &c, &d))
        g_string_append_printf(text, " %x %x", c, d);
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        g_string_append_printf(text, " %x %x %x", b, c, d);
    g_string_append_c(text, '\n');
}

void dome__omp_image_describe(void)
{
    GString *text = g_string_new(NULL);
    dl_iterate_phdr(append_object, text);
    append_machine(text);
    description_hash = dome__checksum64(text->str, text->len);
    description = g_string_free(text, FALSE);
}

uint64_t dome__omp_image_hash(void)
{
    return description_hash;
}

/* ---- compared ---- */

static void send(dome_env *env, void *data, uint64_t bytes)
{
    if (dome_bcast(env, 0, DOME_U8, data, bytes))
        dome__start_failed(env, 1, dome_error_message(env));
}

/* Task 0's bytes, on all tasks. bytes: task 0's, and then of the result, which is g_free'd. */
static void *of_first(dome_env *env, const void *mine, uint64_t *bytes)
{
    send(env, bytes, sizeof *bytes);
    char *data = env->rank == 0 ? g_memdup2(mine, *bytes) : g_malloc(*bytes + 1);
    send(env, data, *bytes);
    return data;
}

/* text: why this task cannot run with task 0; NULL: it can. The lowest that cannot ends the program. */
static void settle(dome_env *env, char *text)
{
    int from;
    if (dome__agree_text(env->transport, &text, &from))
        dome__start_failed(env, 1, env->transport->reason);
    if (text && env->rank == from)
        dome__start_failed(env, 1, text);
    if (text)
        dome_barrier(env); /* the hub ends the program meanwhile */
    g_free(text);
}

static const char *line_or_nothing(const char *line)
{
    return line && *line ? line : "nothing";
}

static void compare_texts(dome_env *env)
{
    uint64_t bytes = strlen(description) + 1;
    char *first = of_first(env, description, &bytes), *text = NULL;
    char **theirs = g_strsplit(first, "\n", -1), **mine = g_strsplit(description, "\n", -1);
    int k = 0;
    while (theirs[k] && mine[k] && strcmp(theirs[k], mine[k]) == 0)
        k++;
    if (theirs[k] || mine[k])
        text = g_strdup_printf("the tasks of an OpenMP program must be the same file with the same libraries at the same "
                               "addresses: task %d on host %s has \"%s\", and task 0 on host %s has \"%s\"",
                               env->rank, env->hosts[env->rank], line_or_nothing(mine[k]), env->hosts[0],
                               line_or_nothing(theirs[k]));
    settle(env, text);
    g_strfreev(theirs);
    g_strfreev(mine);
    g_free(first);
}

typedef struct page_hash {
    uint64_t address, hash;
} page_hash;

static bool is_zero(const char *page, size_t bytes)
{
    return page[0] == 0 && memcmp(page, page + 1, bytes - 1) == 0;
}

/* Of pages that are not all zero. */
static GArray *hash_variables(uint64_t page)
{
    const dome_omp_image *i = dome__omp_image();
    GArray *hashes = g_array_new(FALSE, FALSE, sizeof(page_hash));
    for (int k = 0; k < i->parts; k++) {
        const dome_omp_part *part = &i->variables[k];
        uint8_t *touched = dome__omp_pages_touched(part->begin, part->end);
        for (char *p = part->begin; p < part->end; p += page) {
            const bool in_file = p < i->file_end[k];
            if ((!in_file && !dome__omp_page_is(touched, (uint64_t)(p - part->begin) / page)) || is_zero(p, page))
                continue;
            const page_hash h = {(uintptr_t)p, dome__checksum64(p, page)};
            g_array_append_val(hashes, h);
        }
        g_free(touched);
    }
    return hashes;
}

/* The first page that differs; 0: none does. */
static uint64_t first_difference(const page_hash *a, uint64_t na, const page_hash *b, uint64_t nb)
{
    uint64_t k = 0;
    while (k < na && k < nb && a[k].address == b[k].address && a[k].hash == b[k].hash)
        k++;
    if (k == na && k == nb)
        return 0;
    return MIN(k < na ? a[k].address : UINT64_MAX, k < nb ? b[k].address : UINT64_MAX);
}

/* Ends the program. first: the page as task 0 has it. */
static void name_word(dome_env *env, const uint64_t *first, uint64_t page, uint64_t bytes)
{
    const uint64_t *mine = (const uint64_t *)page; // NOLINT(performance-no-int-to-ptr)
    uint64_t k = 0;
    while (k + 1 < bytes / sizeof *mine && mine[k] == first[k])
        k++;
    char *name = dome__omp_symbol(&mine[k]);
    dome__start_failed(env, 1,
                       g_strdup_printf("%s differs before main: it is %#" G_GINT64_MODIFIER "x in task %d on host %s, and "
                                       "%#" G_GINT64_MODIFIER "x in task 0; use dome-omp to compile the program",
                                       name, mine[k], env->rank, env->hosts[env->rank], first[k]));
}

static void compare_variables(dome_env *env)
{
    const uint64_t bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    GArray *mine = hash_variables(bytes);
    uint64_t size = mine->len * sizeof(page_hash);
    page_hash *first = of_first(env, mine->data, &size);
    const uint64_t page = first_difference(first, size / sizeof *first, (page_hash *)mine->data, mine->len);
    char *text = page ? g_strdup_printf("%" G_GINT64_MODIFIER "x", page) : NULL;
    int from;
    if (dome__agree_text(env->transport, &text, &from))
        dome__start_failed(env, 1, env->transport->reason);
    if (text) {
        const uint64_t agreed = g_ascii_strtoull(text, NULL, 16);
        size = bytes;
        uint64_t *theirs = of_first(env, (const void *)agreed, &size); // NOLINT(performance-no-int-to-ptr)
        if (env->rank == from)
            name_word(env, theirs, agreed, bytes);
        dome_barrier(env); /* the hub ends the program meanwhile */
    }
    g_array_free(mine, TRUE);
    g_free(first);
}

void dome__omp_image_compare(dome_env *env)
{
    if (env->size > 1) {
        settle(env, dome__omp_image()->fixed ? NULL
                                             : g_strdup("an OpenMP program over tasks must be linked with -no-pie: use "
                                                        "dome-omp to compile it"));
        compare_texts(env);
        compare_variables(env);
    }
    g_clear_pointer(&description, g_free);
}
