/* The ways that were chosen for transposed products, for the profile. */
#include "sparse/dsparse_notes.h"

#include "sparse/dsparse_transposed_product.h"

#include <string.h>

/* Notes of matrices that differ in name or shape; more are not kept. */
enum { MOST = 32 };

struct dsparse_note {
    char *name;
    uint64_t rows, columns;
    dsparse_way way;
    uint64_t products;
    double sends[DSPARSE_WAYS]; /* bytes in one product; those of the last choice */
};

struct dome_sparse_notes {
    unsigned count;
    dsparse_note note[MOST + 1]; /* the last one is for all that are not kept */
};

dsparse_note *dsparse__note(const dsparse *a, const dsparse_choice *choice)
{
    dome_env *env = a->env;
    if (env->rank > 0 || !env->options.profile)
        return NULL;
    if (!env->lazy.sparse_notes)
        env->lazy.sparse_notes = g_new0(dome_sparse_notes, 1);
    unsigned k = 0;
    const dsparse_note *n = env->lazy.sparse_notes->note;
    while (k < env->lazy.sparse_notes->count && (n[k].rows != a->rows || n[k].columns != a->columns || n[k].way != choice->way ||
                                                 strcmp(n[k].name, dsparse_name(a)) != 0))
        k++;
    dsparse_note *note = &env->lazy.sparse_notes->note[k];
    if (k == env->lazy.sparse_notes->count && k < MOST) {
        *note = (dsparse_note){.name = g_strdup(dsparse_name(a)), .rows = a->rows, .columns = a->columns, .way = choice->way};
        env->lazy.sparse_notes->count++;
    }
    memcpy(note->sends, choice->sends, sizeof note->sends);
    return note;
}

void dsparse__note_product(dsparse_note *note)
{
    if (note)
        note->products++;
}

void dsparse__notes_free(dome_sparse_notes *notes)
{
    for (unsigned k = 0; notes && k < notes->count; k++)
        g_free(notes->note[k].name);
    g_free(notes);
}

void dsparse__profile(const dome_env *env, FILE *file)
{
    static const char *const ways[DSPARSE_WAYS] = {"", "by entries", "by sums", "by transpose"};
    for (unsigned k = 0; env->lazy.sparse_notes && k < env->lazy.sparse_notes->count; k++) {
        const dsparse_note *n = &env->lazy.sparse_notes->note[k];
        fprintf(file,
                "A^T x, '%s', %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT ": %" G_GUINT64_FORMAT
                " product%s %s, %.3f MB sent in each",
                n->name, n->rows, n->columns, n->products, n->products == 1 ? "" : "s", ways[n->way], n->sends[n->way] * 1e-6);
        for (dsparse_way way = DSPARSE_BY_ENTRIES; way < DSPARSE_WAYS; way++)
            if (way != n->way)
                fprintf(file, "; %s %.3f MB", ways[way], n->sends[way] * 1e-6);
        fputc('\n', file);
    }
}
