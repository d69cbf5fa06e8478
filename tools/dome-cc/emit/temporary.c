/* Temporaries, for values that must outlive a call that may poll. */
#include "emit/emit.h"

#include <string.h>

/* Integers are long long: which of int and long is a size_t, and which of them share a temporary, must not be seen in images. */
variable *temporary_take(function *f, CXType type, node *at)
{
    bool wide = ctype_is_wide_integer(type);
    bool function = ctype_is_function(type); /* libclang's word for a parameter that is a pointer to one */
    if (ctype_is_variable(type))
        unit_refuse(f->unit, at->a, "%s: the type of this expression has a variable length, and a call in it may poll", f->name);
    char *form = wide ? g_strdup("long long @") : ctype_declare(f->unit, type, function ? "(*@)" : "@", true);
    for (unsigned i = 0; i < f->variables->len; i++) {
        variable *v = g_ptr_array_index(f->variables, i);
        if (v->temporary && !v->busy && strcmp(v->description, form) == 0) {
            v->busy = true;
            g_free(form);
            return v;
        }
    }
    variable *v = g_new0(variable, 1);
    v->name = g_strdup_printf("dome__t%d", ++f->temporaries);
    v->read = v->name;
    v->type = type;
    v->temporary = v->busy = true;
    v->wide = wide;
    v->plain_pointer = ctype_is_pointer(type) || function;
    v->declared = wide ? g_strdup_printf("long long %s", v->name)
                       : ctype_declare(f->unit, type, function ? g_strdup_printf("(*%s)", v->name) : v->name, true);
    v->description = form; /* of a temporary: what it is found by */
    unit_place(f->unit, at->a, &(char *){NULL}, &v->line);
    g_ptr_array_add(f->variables, v);
    return v;
}

/* A temporary as an expression of the type that it was taken for. */
char *temporary_value(function *f, const variable *t, CXType type)
{
    if (!t->wide)
        return t->name;
    char *name = ctype_name(f->unit, clang_getCanonicalType(type)), *text = g_strdup_printf("((%s)%s)", name, t->name);
    g_free(name);
    return text;
}

bool temporary_is(const char *text)
{
    const char *cast = g_str_has_prefix(text, "((") ? strstr(text, ")dome__t") : NULL;
    const char *name = cast ? cast + 1 : text;
    if (strncmp(name, "dome__t", 7) != 0)
        return false;
    name += 7;
    while (g_ascii_isdigit(*name))
        name++;
    return strcmp(name, cast ? ")" : "") == 0;
}

bool temporary_is_void(CXType t)
{
    return clang_getCanonicalType(t).kind == CXType_Void;
}

void temporary_spill(function *f, node *n)
{
    if (parallel_is_borrowed(f, n))
        unit_refuse(
            f->unit, n->a,
            "%s: this leads into data of Dome, and another call of this expression may poll, when the data may be elsewhere: "
            "make that call in a statement of its own before",
            f->name);
    char *text = edit_text(f->unit, n);
    site_mark(f, n);
    if (temporary_is_void(n->type)) {
        g_string_append_printf(f->out, "%s;\n", text);
        n->text = g_strdup("(void)0");
    } else {
        variable *t = temporary_take(f, n->type, n);
        site_assign(f, t, text);
        n->text = temporary_value(f, t, n->type);
        site_add_live(f, t);
    }
    g_free(text);
}

/* ---- what a call cannot change ---- */
