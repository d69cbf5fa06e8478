/* Objects with OpenMP that another compiler has made: their atomic operations and reductions are instructions, which reach one
 * task.
 *
 *     as --defsym dome__by_dome_omp=0 ...      each object that gcc makes for dome-omp: dome_omp.c
 *     __tsan_init                              each that clang makes: clang.c */
#include "dome_omp.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct object {
    const char *bytes;
    gsize length;
    bool calls, ours; /* functions of OpenMP; made by dome-omp */
} object;

/* count things of `size` bytes, or NULL. */
static const void *part(const object *o, uint64_t offset, uint64_t count, uint64_t size)
{
    return offset > o->length || count > (o->length - offset) / size ? NULL : o->bytes + offset;
}

static const char *text_at(const object *o, const Elf64_Shdr *strings, uint64_t offset)
{
    const char *text = part(o, strings->sh_offset, strings->sh_size, 1);
    return text && offset < strings->sh_size && memchr(text + offset, 0, strings->sh_size - offset) ? text + offset : "";
}

static void look_at_names(object *o, const Elf64_Shdr *sections, unsigned n, const Elf64_Shdr *table)
{
    const uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbols = part(o, table->sh_offset, count, sizeof *symbols);
    for (uint64_t k = 0; symbols && table->sh_link < n && k < count; k++) {
        const char *name = text_at(o, &sections[table->sh_link], symbols[k].st_name);
        o->ours = o->ours || strcmp(name, DOME_OMP_MARK) == 0 || strcmp(name, "__tsan_init") == 0;
        o->calls = o->calls ||
                   (symbols[k].st_shndx == SHN_UNDEF && (g_str_has_prefix(name, "GOMP_") || g_str_has_prefix(name, "__kmpc_")));
    }
}

/* What waits for the link to be compiled names no function, but has its options. */
static void look_at_options(object *o, const Elf64_Shdr *options)
{
    const char *text = part(o, options->sh_offset, options->sh_size, 1);
    o->calls = o->calls || (text && memmem(text, options->sh_size, "-fopenmp", strlen("-fopenmp")));
}

static bool is_foreign(const char *bytes, gsize length)
{
    object o = {bytes, length, false, false};
    const Elf64_Ehdr *header = part(&o, 0, 1, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    const Elf64_Shdr *sections = part(&o, header->e_shoff, header->e_shnum, sizeof *sections);
    for (unsigned k = 0; sections && k < header->e_shnum; k++) {
        if (sections[k].sh_type == SHT_SYMTAB)
            look_at_names(&o, sections, header->e_shnum, &sections[k]);
        else if (header->e_shstrndx < header->e_shnum &&
                 strcmp(text_at(&o, &sections[header->e_shstrndx], sections[k].sh_name), ".gnu.lto_.opts") == 0)
            look_at_options(&o, &sections[k]);
    }
    return o.calls && !o.ours;
}

/* The members of an archive: a header of 60 bytes, with the length behind 48 of them. */
static bool has_foreign(const char *bytes, gsize length)
{
    enum { MAGIC = 8, HEADER = 60, LENGTH = 48 };
    if (length < MAGIC || memcmp(bytes, "!<arch>\n", MAGIC) != 0)
        return is_foreign(bytes, length);
    for (gsize at = MAGIC; at + HEADER <= length;) {
        const gsize member = strtoul(bytes + at + LENGTH, NULL, 10);
        at += HEADER;
        if (member > length - at)
            return false;
        /* members lie at even places, and what is in them wants to lie at places that 8 divides */
        char *copy = g_memdup2(bytes + at, member);
        const bool foreign = copy && is_foreign(copy, member);
        g_free(copy);
        if (foreign)
            return true;
        at += member + member % 2;
    }
    return false;
}

static void look(const char *program, const char *file)
{
    char *bytes = NULL;
    gsize length = 0;
    if (!g_file_get_contents(file, &bytes, &length, NULL))
        return;
    if (has_foreign(bytes, length))
        fprintf(stderr,
                "dome-omp: %s: %s: made without dome-omp: its reductions and atomic operations are one task's; compile it with "
                "dome-omp\n",
                program, file);
    g_free(bytes);
}

void objects_look(const char *program, char **words)
{
    for (; *words; words++) {
        char *text = NULL, **more = NULL;
        if (g_str_has_suffix(*words, ".o") || g_str_has_suffix(*words, ".a"))
            look(program, *words);
        else if (**words == '@' && g_file_get_contents(*words + 1, &text, NULL, NULL) &&
                 g_shell_parse_argv(text, NULL, &more, NULL))
            objects_look(program, more);
        g_strfreev(more);
        g_free(text);
    }
}
