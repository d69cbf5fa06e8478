#include "process/omp_libraries.h"

#include "process/omp_next.h"
#include "system/say.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };

typedef struct library {
    const struct link_map *map;
    const char *begin, *end;
} library;

static library libraries[MOST];
static int count, of_c; /* how many; which is the C library */

static const char *texts_of(const struct link_map *map)
{
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            /* ld.so has made it an address, but not that of the system's own library */
            return (const char *)d->d_un.d_ptr + (d->d_un.d_ptr < map->l_addr ? map->l_addr : 0); // NOLINT
    return "";
}

static bool has_name(const struct link_map *map, const char *name)
{
    const char *file = strrchr(map->l_name, '/');
    if (strcmp(file ? file + 1 : map->l_name, name) == 0)
        return true;
    for (const ElfW(Dyn) *d = map->l_ld; map->l_name[0] && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_SONAME && strcmp(texts_of(map) + d->d_un.d_val, name) == 0)
            return true;
    return false;
}

static const struct link_map *find(const char *name)
{
    const struct link_map *m = _r_debug.r_map;
    while (m && !has_name(m, name))
        m = m->l_next;
    return m;
}

/* Languages' libraries get memory for the program, whoever else needs them. */
static bool is_languages(const struct link_map *map)
{
    static const char *const names[] = {"libstdc++.so", "libgcc_s.so", "libgfortran.so", "libquadmath.so"};
    const char *slash = strrchr(map->l_name, '/'), *file = slash ? slash + 1 : map->l_name;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strncmp(file, names[k], strlen(names[k])) == 0)
            return true;
    return false;
}

static void add(const struct link_map *map)
{
    for (int k = 0; k < count; k++)
        if (libraries[k].map == map)
            return;
    if (map && count < MOST && !is_languages(map))
        libraries[count++].map = map;
}

/* The range of addresses of each. */
static int measure(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    for (int k = 0; k < count; k++) {
        if (libraries[k].map->l_addr != info->dlpi_addr || !info->dlpi_name[0])
            continue;
        for (int j = 0; j < info->dlpi_phnum; j++) {
            const ElfW(Phdr) *p = &info->dlpi_phdr[j];
            const char *begin = (const char *)(info->dlpi_addr + p->p_vaddr); // NOLINT(performance-no-int-to-ptr)
            if (p->p_type != PT_LOAD)
                continue;
            if (!libraries[k].begin)
                libraries[k].begin = begin;
            libraries[k].end = begin + p->p_memsz;
        }
    }
    return 0;
}

void dome__omp_libraries_begin(void)
{
    Dl_info info;
    struct link_map *own = NULL;
    if (dladdr1(&count, &info, (void **)&own, RTLD_DL_LINKMAP))
        add(own);
    for (int k = 0; k < count; k++) {
        const struct link_map *map = libraries[k].map;
        for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_NEEDED)
                add(find(texts_of(map) + d->d_un.d_val));
    }
    dl_iterate_phdr(measure, NULL);
    for (int k = 0; k < count; k++)
        if (has_name(libraries[k].map, "libc.so.6"))
            of_c = k;
}

bool dome__omp_libraries_have(const void *code)
{
    const char *at = code;
    for (int k = 0; k < count; k++)
        if (at >= libraries[k].begin && at < libraries[k].end)
            return true;
    return false;
}

bool dome__omp_libraries_is_c(const void *code)
{
    const char *at = code;
    return at >= libraries[of_c].begin && at < libraries[of_c].end;
}

/* omp_next.h */
void (*dome__omp_next(const char *name))(void)
{
    void (*function)(void);
    *(void **)&function = dlsym(RTLD_NEXT, name);
    if (!function) {
        dome__say_at_once("the C library has no %s, which libdome-omp needs", name);
        _exit(1);
    }
    return function;
}
