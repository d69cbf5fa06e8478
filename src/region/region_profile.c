#include "region/region_profile.h"

#include "region/member.h"
#include "transport/collective.h"

#include <inttypes.h>
#include <string.h>

dome_region_figures *dome__region_profile_add(dome_env *env, const char *name)
{
    dome_member_table *t = env->lazy.members;
    if (!t->figures)
        t->figures = g_ptr_array_new_with_free_func(dome__region_profile_free);
    for (guint k = 0; k < t->figures->len; k++) {
        dome_region_figures *f = t->figures->pdata[k];
        if (g_strcmp0(f->name, name) == 0)
            return f;
    }
    dome_region_figures *f = g_new0(dome_region_figures, 1);
    f->name = g_strdup(name);
    f->units = g_new0(uint64_t, t->count);
    g_ptr_array_add(t->figures, f);
    return f;
}

void dome__region_profile_free(gpointer figures)
{
    dome_region_figures *f = figures;
    g_free(f->name);
    g_free(f->units);
    g_free(f);
}

/* all: the bytes, then the units that member `to` had from member `from`. */
static void add_line(GString *text, const dome_env *env, const char *name, const uint64_t *all)
{
    const dome_member_table *t = env->lazy.members;
    uint64_t units = 0, between = 0;
    unsigned a = 0, b = 0;
    for (unsigned to = 0; to < t->count; to++)
        for (unsigned from = 0; from < to; from++) {
            const uint64_t both = all[1 + to * t->count + from] + all[1 + from * t->count + to];
            units += both;
            if (both > between) {
                between = both;
                a = from;
                b = to;
            }
        }
    char *quoted = name ? g_strdup_printf("region '%s'", name) : g_strdup("regions without a name");
    g_string_append_printf(text, "%s: %" PRIu64 " units fetched, %.3f MB", quoted, units, (double)all[0] * 1e-6);
    if (units > 0)
        g_string_append_printf(text, "; most of them, %" PRIu64 ", between tasks %d and %d (hosts %s and %s)", between,
                               t->firsts[a], t->firsts[b], env->hosts[t->firsts[a]], env->hosts[t->firsts[b]]);
    g_string_append_c(text, '\n');
    g_free(quoted);
}

int dome__region_profile_text(const dome_env *env, char **text)
{
    const dome_member_table *t = env->lazy.members;
    int status = DOME_OK;
    *text = NULL;
    if (!t || !t->figures)
        return DOME_OK;
    const uint64_t count = 1 + (uint64_t)t->count * t->count;
    uint64_t *all = g_new(uint64_t, count);
    GString *lines = g_string_new(NULL);
    for (guint k = 0; k < t->figures->len && status == DOME_OK; k++) {
        const dome_region_figures *f = t->figures->pdata[k];
        memset(all, 0, count * sizeof *all);
        all[0] = f->bytes;
        memcpy(all + 1 + t->member * t->count, f->units, t->count * sizeof *all);
        status = dome__allreduce(env->transport, DOME_I64, all, count, dome__combine_sum_i64, NULL);
        if (env->rank == 0)
            add_line(lines, env, f->name, all);
    }
    g_free(all);
    *text = g_string_free(lines, env->rank > 0);
    return status;
}
