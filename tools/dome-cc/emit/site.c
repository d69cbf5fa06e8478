/* Places where a function can be captured, and lines of its text. */
#include "emit/emit.h"

void site_mark(function *f, node *n)
{
    char *file;
    unsigned line;
    unit_place(f->unit, n->a, &file, &line);
    char *e = g_strescape(file, NULL);
    if (f->out->len && f->out->str[f->out->len - 1] != '\n')
        g_string_append_c(f->out, '\n');
    g_string_append_printf(f->out, "# %u \"%s\"\n", line, e);
    g_free(e);
    g_free(file);
}

site *site_new(function *f, node *at, bool is_poll)
{
    site *s = g_new0(site, 1);
    char *file;
    unsigned line;
    unit_place(f->unit, at->a, &file, &line);
    s->id = (int)f->sites->len;
    s->loop = f->loops->len ? g_ptr_array_index(f->loops, f->loops->len - 1) : NULL;
    s->is_poll = is_poll;
    s->place = g_strdup_printf("%s:%u", file, line);
    s->live = g_ptr_array_new();
    s->scope = g_ptr_array_new();
    for (unsigned i = 0; i < f->live->len; i++) {
        variable *v = g_ptr_array_index(f->live, i);
        if (v->memory)
            g_ptr_array_add(s->scope, v);
        else if (!v->borrowed && liveness_is_needed(f, at, v))
            g_ptr_array_add(s->live, v);
    }
    g_ptr_array_add(f->sites, s);
    g_free(file);
    return s;
}

/* to = value; "value" as an expression of C. */
void site_assign(function *f, const variable *to, const char *value)
{
    char *text = ctype_assign(f->unit, to->type, to->read, value);
    g_string_append_printf(f->out, "%s\n", text);
    g_free(text);
}

/* ---- temporaries ---- */

void site_add_live(function *f, variable *v)
{
    g_ptr_array_add(f->live, v);
}

void site_cut_live(function *f, unsigned level)
{
    for (unsigned i = level; i < f->live->len; i++) {
        variable *v = g_ptr_array_index(f->live, i);
        v->busy = false;
    }
    g_ptr_array_set_size(f->live, (int)level);
}
