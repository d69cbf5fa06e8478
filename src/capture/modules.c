#include "capture/capture.h"
#include "heap/die.h"

#include <glib.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Of the modules of what the C library keeps (library.c). */
#define DOME_CAPTURE_LIBRARY_PREFIX "libc "

/* Modules of all versions begin with size and name, and have grown with each version. */
static bool is_of_other_version(const dome_capture_module *module)
{
    enum { LARGEST = 1024 };
    return module->size >= offsetof(dome_capture_module, globals) && module->size < LARGEST && module->size != sizeof *module;
}

void dome_capture_register(dome_capture_module *module)
{
    dome_capture_modules *r = &dome__capture->modules;
    if (module && is_of_other_version(module))
        dome__capture_die("the program was compiled for another version of this library: compile it again with dome-cc (the "
                          "description of %s has %zu bytes instead of %zu)",
                          module->name, module->size, sizeof *module);
    if (!module || module->size != sizeof *module)
        dome__capture_die("dome_capture_register: a module of %zu bytes: set size to sizeof(dome_capture_module)",
                          module ? module->size : 0);
    if (!r->modules)
        r->modules = g_ptr_array_new();
    g_ptr_array_add(r->modules, module);
}

static int by_global_name(const void *a, const void *b)
{
    return strcmp(((const dome_capture_known_global *)a)->global->name, ((const dome_capture_known_global *)b)->global->name);
}

static int by_code_name(const void *a, const void *b)
{
    return strcmp((*(const dome_capture_code *const *)a)->name, (*(const dome_capture_code *const *)b)->name);
}

static int by_source_name(const void *a, const void *b)
{
    return strcmp((*(const dome_capture_source *const *)a)->name, (*(const dome_capture_source *const *)b)->name);
}

static int by_module_name(const void *a, const void *b)
{
    return strcmp((*(const dome_capture_module *const *)a)->name, (*(const dome_capture_module *const *)b)->name);
}

static void take_global(const dome_capture_module *m, const dome_capture_global *g)
{
    dome_capture_modules *r = &dome__capture->modules;
    if (!g->name || !g->address || !g->type || g->count == 0)
        dome__capture_die("module '%s' describes a global '%s' without name, address, type or count", m->name,
                          g->name ? g->name : "");
    dome_capture_known_global known = {.global = g, .bytes = g->type->size * g->count};
    known.layout = dome__capture_layout(g->type, &known.elements);
    known.elements *= g->count;
    if (known.layout->tail)
        dome__capture_die("global '%s' is a struct with a flexible member: only blocks of the heap may be", g->name);
    g_array_append_val(r->globals, known);
}

/* Of the sorted globals. Files compiled with -fcommon may declare one without a value each; the linker gives them one place, of
 * the largest size. */
static void drop_common_globals(void)
{
    dome_capture_modules *r = &dome__capture->modules;
    for (unsigned k = 1; k < r->globals->len;) {
        dome_capture_known_global *g = &g_array_index(r->globals, dome_capture_known_global, k - 1);
        const bool same = strcmp(g[0].global->name, g[1].global->name) == 0;
        if (same && g[0].global->address != g[1].global->address)
            dome__capture_die("two globals are called '%s'", g->global->name);
        if (same)
            g_array_remove_index(r->globals, g[0].bytes < g[1].bytes ? k - 1 : k);
        else
            k++;
    }
}

/* Of the sorted sources: a function that is inline in a header stands in several files. */
static void drop_repeated_sources(void)
{
    dome_capture_modules *r = &dome__capture->modules;
    for (guint k = 1; k < r->sources->len;)
        if (strcmp(dome__capture_source(k - 1)->name, dome__capture_source(k)->name) == 0)
            g_ptr_array_remove_index(r->sources, k);
        else
            k++;
}

static void take_function(const dome_capture_module *m, dome_capture_function *f)
{
    dome_capture_modules *r = &dome__capture->modules;
    if (!f || !f->name)
        dome__capture_die("module '%s' describes a function without a name", m->name);
    dome__capture_frame_layout(f);
    dome_capture_function *other = g_hash_table_lookup(r->functions, f->name);
    if (other && other != f)
        dome__capture_die("two functions are called '%s'", f->name);
    g_hash_table_insert(r->functions, (void *)(uintptr_t)f->name, f);
}

static void take_scalars(void)
{
    static dome_capture_type *const all[] = {
#define TYPE_ADDRESS(name, form, ctype) &dome_capture_##name,
        DOME_CAPTURE_SCALARS(TYPE_ADDRESS)
#undef TYPE_ADDRESS
        & dome_capture_pointer};
    uint64_t one;
    for (size_t k = 0; k < G_N_ELEMENTS(all); k++)
        dome__capture_layout(all[k], &one);
}

void dome__capture_modules_complete(void)
{
    dome_capture_modules *r = &dome__capture->modules;
    uint64_t one;
    dome__capture_modules_clear();
    r->globals = g_array_new(FALSE, TRUE, sizeof(dome_capture_known_global));
    r->codes = g_ptr_array_new();
    r->sources = g_ptr_array_new();
    r->functions = g_hash_table_new(g_str_hash, g_str_equal);
    take_scalars();
    for (guint i = 0; r->modules && i < r->modules->len; i++) {
        const dome_capture_module *m = r->modules->pdata[i];
        for (size_t k = 0; k < m->ntypes; k++)
            dome__capture_layout(m->types[k], &one);
        for (size_t k = 0; k < m->nglobals; k++)
            take_global(m, &m->globals[k]);
        for (size_t k = 0; k < m->nfunctions; k++)
            take_function(m, m->functions[k]);
        for (size_t k = 0; k < m->ncodes; k++)
            g_ptr_array_add(r->codes, (void *)(uintptr_t)&m->codes[k]);
        for (size_t k = 0; k < m->nsources; k++)
            g_ptr_array_add(r->sources, (void *)(uintptr_t)&m->sources[k]);
    }
    g_ptr_array_sort(r->sources, by_source_name);
    drop_repeated_sources();
    if (r->globals->len > 0)
        qsort(r->globals->data, r->globals->len, sizeof(dome_capture_known_global), by_global_name);
    if (r->codes->len > 0)
        qsort(r->codes->pdata, r->codes->len, sizeof *r->codes->pdata, by_code_name);
    drop_common_globals();
    for (size_t k = 1; k < dome__capture_code_count(); k++)
        if (strcmp(dome__capture_code(k - 1)->name, dome__capture_code(k)->name) == 0 &&
            dome__capture_code(k - 1)->address != dome__capture_code(k)->address)
            dome__capture_die("two functions whose address is kept are called '%s'", dome__capture_code(k)->name);
}

size_t dome__capture_global_count(void)
{
    dome_capture_modules *r = &dome__capture->modules;
    return r->globals ? r->globals->len : 0;
}

const dome_capture_known_global *dome__capture_global(size_t k)
{
    dome_capture_modules *r = &dome__capture->modules;
    return &g_array_index(r->globals, dome_capture_known_global, k);
}

size_t dome__capture_global_find(const char *name)
{
    dome_capture_modules *r = &dome__capture->modules;
    const dome_capture_global key = {.name = name};
    const dome_capture_known_global known = {.global = &key};
    const dome_capture_known_global *found =
        dome__capture_global_count() > 0 ? bsearch(&known, r->globals->data, r->globals->len, sizeof known, by_global_name)
                                         : NULL;
    return found ? (size_t)(found - dome__capture_global(0)) : SIZE_MAX;
}

size_t dome__capture_code_count(void)
{
    dome_capture_modules *r = &dome__capture->modules;
    return r->codes ? r->codes->len : 0;
}

const dome_capture_code *dome__capture_code(size_t k)
{
    dome_capture_modules *r = &dome__capture->modules;
    return r->codes->pdata[k];
}

const dome_capture_code *dome__capture_code_find(const char *name)
{
    dome_capture_modules *r = &dome__capture->modules;
    const dome_capture_code key = {.name = name}, *const wanted = &key;
    const dome_capture_code *const *found =
        dome__capture_code_count() > 0 ? bsearch(&wanted, r->codes->pdata, r->codes->len, sizeof *r->codes->pdata, by_code_name)
                                       : NULL;
    return found ? *found : NULL;
}

dome_capture_function *dome__capture_function_find(const char *name)
{
    dome_capture_modules *r = &dome__capture->modules;
    return r->functions ? g_hash_table_lookup(r->functions, name) : NULL;
}

size_t dome__capture_source_count(void)
{
    dome_capture_modules *r = &dome__capture->modules;
    return r->sources ? r->sources->len : 0;
}

const dome_capture_source *dome__capture_source(size_t k)
{
    dome_capture_modules *r = &dome__capture->modules;
    return r->sources->pdata[k];
}

const dome_capture_source *dome__capture_source_find(const char *name)
{
    dome_capture_modules *r = &dome__capture->modules;
    const dome_capture_source key = {.name = name}, *const wanted = &key;
    const dome_capture_source *const *found =
        dome__capture_source_count() > 0
            ? bsearch(&wanted, r->sources->pdata, r->sources->len, sizeof *r->sources->pdata, by_source_name)
            : NULL;
    return found ? *found : NULL;
}

static void add_base_name(GString *to, const char *path)
{
    char *base = g_path_get_basename(path);
    g_string_append_printf(to, "%s%s", to->len > 0 ? ", " : "", base);
    g_free(base);
}

char *dome__capture_modules_name(void)
{
    dome_capture_modules *r = &dome__capture->modules;
    enum { NAMED = 2 };
    GString *name = g_string_new(NULL);
    GPtrArray *sorted = g_ptr_array_new();
    for (guint k = 0; r->modules && k < r->modules->len; k++)
        if (!g_str_has_prefix(((const dome_capture_module *)r->modules->pdata[k])->name, DOME_CAPTURE_LIBRARY_PREFIX))
            g_ptr_array_add(sorted, r->modules->pdata[k]);
    g_ptr_array_sort(sorted, by_module_name);
    for (guint k = 0; k < MIN(sorted->len, NAMED); k++)
        add_base_name(name, ((const dome_capture_module *)sorted->pdata[k])->name);
    if (sorted->len > NAMED)
        g_string_append_printf(name, " and %u more", sorted->len - NAMED);
    g_ptr_array_unref(sorted);
    return g_string_free(name, FALSE);
}

void dome__capture_modules_clear(void)
{
    dome_capture_modules *r = &dome__capture->modules;
    g_clear_pointer(&r->sources, g_ptr_array_unref);
    g_clear_pointer(&r->globals, g_array_unref);
    g_clear_pointer(&r->codes, g_ptr_array_unref);
    g_clear_pointer(&r->functions, g_hash_table_unref);
}
