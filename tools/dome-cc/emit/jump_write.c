/* setjmp, in a function that may poll. */
#include "emit/emit.h"

/* sigsetjmp has an argument more. */
static char *call_text(function *f, const struct jump *j)
{
    node *more = node_kid(j->call, 2);
    char *rest = more ? edit_text(f->unit, more) : NULL;
    char *text =
        g_strdup_printf("%s = %s(%s%s%s)", j->value->name, j->function, j->buffer->name, rest ? ", " : "", rest ? rest : "");
    g_free(rest);
    return text;
}

void jump_write_call(function *f, node *n)
{
    for (unsigned i = 0; i < f->jumps->len; i++) {
        const struct jump *j = g_ptr_array_index(f->jumps, i);
        if (j->call != n)
            continue;
        char *buffer = edit_text(f->unit, node_kid(n, 1)), *call = call_text(f, j);
        site_mark(f, n);
        g_string_append_printf(f->out, "%s = (%s); ", j->buffer->name, buffer);
        for (unsigned k = 0; k < f->jumps->len; k++) { /* a buffer leads to the last setjmp alone */
            const struct jump *other = g_ptr_array_index(f->jumps, k);
            if (other != j)
                g_string_append_printf(f->out, "if (%s == %s) %s = 0; ", other->buffer->name, j->buffer->name,
                                       other->buffer->name);
        }
        g_string_append_printf(
            f->out, "%s = dome__cc_jump_mark(); %s; " ENTERING "dome__jumped_%u: ; " ENTERED "if (%s) dome__cc_jumped(%s);\n",
            j->mark->name, call, i, j->value->name, j->mark->name);
        n->text = g_strdup(j->value->name);
        g_free(call);
        g_free(buffer);
    }
}

/* The place where the function is entered again. */
void jump_write_recovery(function *f, GString *out)
{
    for (unsigned i = 0; i < f->jumps->len; i++) {
        const struct jump *j = g_ptr_array_index(f->jumps, i);
        char *call = call_text(f, j);
        g_string_append_printf(out, "if (%s && (%s)) goto dome__jumped_%u; ", j->buffer->name, call, i);
        g_free(call);
    }
}
