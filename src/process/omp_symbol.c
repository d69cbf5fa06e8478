#include "process/omp_symbol.h"

#include "process/omp_arena.h"

#include <elf.h>
#include <glib.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The nearest name at or below the address, in one table. */
static const ElfW(Sym) * nearest(const ElfW(Sym) * symbols, uint64_t n, uintptr_t address)
{
    const ElfW(Sym) *best = NULL;
    for (uint64_t k = 0; k < n; k++) {
        const ElfW(Sym) *s = &symbols[k];
        const int type = ELF64_ST_TYPE(s->st_info);
        if ((type == STT_OBJECT || type == STT_FUNC || type == STT_COMMON) && s->st_value <= address &&
            address < s->st_value + MAX(s->st_size, 1) && (!best || s->st_size < best->st_size))
            best = s;
    }
    return best;
}

static bool lies_in(const ElfW(Shdr) * section, gsize bytes)
{
    return section->sh_offset <= bytes && section->sh_size <= bytes - section->sh_offset;
}

static char *look_up(const char *file, gsize bytes, uintptr_t address)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)file;
    if (bytes < sizeof *head || head->e_shentsize != sizeof(ElfW(Shdr)) || head->e_shoff > bytes ||
        head->e_shnum > (bytes - head->e_shoff) / sizeof(ElfW(Shdr)))
        return NULL;
    const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(file + head->e_shoff);
    for (int k = 0; k < head->e_shnum; k++) {
        const ElfW(Shdr) *table = &sections[k];
        if (table->sh_type != SHT_SYMTAB || !lies_in(table, bytes) || table->sh_link >= head->e_shnum)
            continue;
        const ElfW(Shdr) *texts = &sections[table->sh_link];
        const ElfW(Sym) *s = nearest((const ElfW(Sym) *)(file + table->sh_offset), table->sh_size / sizeof(ElfW(Sym)), address);
        if (!s || !lies_in(texts, bytes) || s->st_name >= texts->sh_size ||
            !memchr(file + texts->sh_offset + s->st_name, 0, texts->sh_size - s->st_name))
            continue;
        const char *name = file + texts->sh_offset + s->st_name;
        return address == s->st_value ? g_strdup(name) : g_strdup_printf("%s+%zu", name, (size_t)(address - s->st_value));
    }
    return NULL;
}

char *dome__omp_symbol(const void *address)
{
    GMappedFile *file = g_mapped_file_new("/proc/self/exe", FALSE, NULL);
    char *name = file ? look_up(g_mapped_file_get_contents(file), g_mapped_file_get_length(file), (uintptr_t)address) : NULL;
    if (file)
        g_mapped_file_unref(file);
    return name ? name : g_strdup_printf("%p", address);
}

char *dome__omp_symbol_of_data(const void *address, const void *(*bytes)(const void *address))
{
    size_t size;
    if ((uintptr_t)address >= DOME_OMP_STACKS)
        return g_strdup_printf("the stack of thread 0, at 0x%" G_GINT64_MODIFIER "x+%zu", (uintptr_t)address & ~(uintptr_t)0xfff,
                               (size_t)((uintptr_t)address & 0xfff));
    if (!dome__omp_arena_has(address))
        return dome__omp_symbol(address);
    const char *block = dome__omp_arena_find(address, bytes, &size);
    if (!block)
        return g_strdup_printf("the heap of thread %u, at %p", dome__omp_arena_of(address), address);
    return g_strdup_printf("a block of %zu bytes of the heap of thread %u, at %p+%zu", size, dome__omp_arena_of(address),
                           (const void *)block, (size_t)((const char *)address - block));
}
