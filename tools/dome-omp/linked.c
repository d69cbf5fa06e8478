/* What a linked program has that tasks cannot keep equal. */
#include "dome_omp.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

typedef struct program {
    const char *name, *bytes;
    gsize length;
    const char *strings; /* of dynamic symbols */
    gsize strings_length;
    const Elf64_Sym *symbols;
    const Elf64_Dyn *entries;
    uint64_t nsymbols, nentries;
} program;

/* count things of `size` bytes; NULL: they are not in the file. */
static const void *part(const program *p, uint64_t offset, uint64_t count, uint64_t size)
{
    if (offset > p->length || (size && count > (p->length - offset) / size))
        return NULL;
    return p->bytes + offset;
}

static const char *string_at(const program *p, uint64_t offset)
{
    return p->strings && offset < p->strings_length && memchr(p->strings + offset, 0, p->strings_length - offset)
               ? p->strings + offset
               : "";
}

static const Elf64_Shdr *section_of(const program *p, const Elf64_Ehdr *header, uint32_t type)
{
    const Elf64_Shdr *all = part(p, header->e_shoff, header->e_shnum, sizeof *all);
    for (unsigned i = 0; all && i < header->e_shnum; i++)
        if (all[i].sh_type == type)
            return &all[i];
    return NULL;
}

static void say(const program *p, const char *what, const char *consequence)
{
    fprintf(stderr, "dome-omp: %s: %s: %s\n", p->name, what, consequence);
}

/* Functions that make what other tasks do not have. */
static void look_at_symbols(const program *p)
{
    static const struct {
        const char *name, *consequence;
    } known[] = {
        {"pthread_create", "its threads run on one task, and what they write is not published"},
        {"thrd_create", "its threads run on one task, and what they write is not published"},
        {"fork", "the child is no task; it may call exec, nothing of OpenMP"},
        {"shmat", "memory that processes of one host share is not kept equal between tasks"},
        {"shm_open", "memory that processes of one host share is not kept equal between tasks"},
        {"dlopen", "data of a library that is loaded later is not kept equal between tasks"},
    };
    for (uint64_t i = 0; i < p->nsymbols; i++)
        for (unsigned k = 0; k < G_N_ELEMENTS(known); k++)
            if (p->symbols[i].st_shndx == SHN_UNDEF && strcmp(string_at(p, p->symbols[i].st_name), known[k].name) == 0)
                say(p, known[k].name, known[k].consequence);
}

/* The library of OpenMP, other than Dome's, that the file needs; NULL: none. */
static const char *other_openmp(const program *p)
{
    static const char *const other[] = {"libgomp.so", "libomp.so", "libomp5.so", "libiomp5.so"};
    for (uint64_t i = 0; i < p->nentries && p->entries[i].d_tag != DT_NULL; i++) {
        const char *name = p->entries[i].d_tag == DT_NEEDED ? string_at(p, p->entries[i].d_un.d_val) : "";
        for (unsigned k = 0; k < G_N_ELEMENTS(other); k++)
            if (g_str_has_prefix(name, other[k]))
                return name;
    }
    return NULL;
}

/* Where the loader is not Dome's, libraries lie elsewhere on each task, and what was copied from them into the program differs.
 */
static void look_at_copies(const program *p, const Elf64_Ehdr *header, const Elf64_Sym *symbols, uint64_t count)
{
    const Elf64_Shdr *all = part(p, header->e_shoff, header->e_shnum, sizeof *all);
    for (unsigned i = 0; all && i < header->e_shnum; i++) {
        const uint64_t n = all[i].sh_size / sizeof(Elf64_Rela);
        const Elf64_Rela *rela = all[i].sh_type == SHT_RELA ? part(p, all[i].sh_offset, n, sizeof *rela) : NULL;
        for (uint64_t k = 0; rela && k < n; k++) {
            const uint64_t symbol = ELF64_R_SYM(rela[k].r_info);
            if (ELF64_R_TYPE(rela[k].r_info) == R_X86_64_COPY && symbol < count)
                say(p, string_at(p, symbols[symbol].st_name),
                    "a copy from a library, which may point to other places on other tasks");
        }
    }
}

static bool has_own_loader(const program *p, const Elf64_Ehdr *header)
{
    const Elf64_Phdr *all = part(p, header->e_phoff, header->e_phnum, sizeof *all);
    for (unsigned i = 0; all && i < header->e_phnum; i++) {
        const char *name = all[i].p_type == PT_INTERP ? part(p, all[i].p_offset, all[i].p_filesz, 1) : NULL;
        if (name && memmem(name, all[i].p_filesz, "/dome-ld", sizeof "/dome-ld"))
            return true;
    }
    return false;
}

/* False: it is no file of this kind, or has no dynamic section. */
static bool read_program(program *p, char **bytes)
{
    if (!g_file_get_contents(p->name, bytes, &p->length, NULL))
        return false; /* -o /dev/null */
    p->bytes = *bytes;
    const Elf64_Ehdr *header = part(p, 0, 1, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    const Elf64_Shdr *table = section_of(p, header, SHT_DYNSYM), *dynamic = section_of(p, header, SHT_DYNAMIC);
    const Elf64_Shdr *sections = part(p, header->e_shoff, header->e_shnum, sizeof *sections);
    if (!table || !dynamic || table->sh_link >= header->e_shnum)
        return false;
    p->nsymbols = table->sh_size / sizeof(Elf64_Sym), p->nentries = dynamic->sh_size / sizeof(Elf64_Dyn);
    p->symbols = part(p, table->sh_offset, p->nsymbols, sizeof *p->symbols);
    p->entries = part(p, dynamic->sh_offset, p->nentries, sizeof *p->entries);
    p->strings_length = sections[table->sh_link].sh_size;
    p->strings = part(p, sections[table->sh_link].sh_offset, p->strings_length, 1);
    return p->symbols && p->entries;
}

/* What ld.so will load: lines "name => file (address)", or "file (address)". The file of a line, or NULL. */
static char *file_of(char *line)
{
    char *arrow = strstr(line, " => "), *file = arrow ? arrow + 4 : g_strchug(line), *end = strrchr(line, '(');
    if (!end || end < file + 2 || !strchr(file, '/'))
        return NULL;
    end[-1] = 0;
    return file;
}

/* Libraries that call an OpenMP library: they get Dome's, which is loaded before. folders: where the linker has looked, by ':'.
 */
static void look_at_libraries(const program *p, const char *folders)
{
    char *command[] = {"/lib64/ld-linux-x86-64.so.2", "--list", "--library-path", (char *)folders, NULL, NULL}, *list = NULL;
    char *program_path = g_canonicalize_filename(p->name, NULL);
    command[4] = program_path;
    if (!g_spawn_sync(NULL, command, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &list, NULL, NULL, NULL))
        list = g_strdup("");
    char **lines = g_strsplit(list, "\n", -1);
    for (char **l = lines; *l; l++) {
        program library = {.name = file_of(*l)};
        char *bytes = NULL, *name = library.name ? g_path_get_basename(library.name) : NULL;
        if (name && !g_str_has_prefix(name, "libdome-omp.so") && read_program(&library, &bytes) && other_openmp(&library))
            say(p, name,
                "a library that uses OpenMP: its regions have one thread, and what it keeps is each task's own; link its "
                "objects, made by dome-omp, in its place");
        g_free(bytes);
        g_free(name);
    }
    g_strfreev(lines);
    g_free(list);
    g_free(program_path);
}

void linked_look(const char *name, const char *folders)
{
    char *bytes = NULL;
    program p = {.name = name};
    if (read_program(&p, &bytes)) {
        const char *other = other_openmp(&p);
        if (other)
            say(&p, other, "a second library of OpenMP is linked; link without it");
        look_at_libraries(&p, folders);
        look_at_symbols(&p);
        const Elf64_Ehdr *header = part(&p, 0, 1, sizeof *header);
        if (!has_own_loader(&p, header))
            look_at_copies(&p, header, p.symbols, p.nsymbols);
    }
    g_free(bytes);
}
