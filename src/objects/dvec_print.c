/* Vectors as text: every task gives the values that it owns of those that are shown. */
#include "core/type_private.h"
#include "files/array_text.h"
#include "objects/dvec_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <inttypes.h>
#include <string.h>

/* The values that are shown, on all tasks: each packs its own, and one exchange brings them to all. */
typedef struct shown {
    const dvec *x;
    dome_array_view view;
    int *owner;       /* by value shown */
    uint64_t *counts; /* by rank */
    char *own, *all;  /* this task's values; those of all in order of ranks, then in order */
    char *ordered;
} shown;

static void shown_free(shown *s)
{
    g_free(s->owner);
    g_free(s->counts);
    g_free(s->own);
    g_free(s->all);
    g_free(s->ordered);
}

static int get_room(shown *s)
{
    const dvec *x = s->x;
    const uint64_t bytes = MAX(s->view.count, 1) * DVEC_VALUE(x);
    s->owner = g_try_new(int, MAX(s->view.count, 1));
    s->counts = g_new0(uint64_t, x->env->size);
    s->own = g_try_malloc((gsize)bytes);
    s->all = g_try_malloc((gsize)bytes);
    s->ordered = g_try_malloc((gsize)bytes);
    return dvec__agree_memory(x, s->owner && s->own && s->all && s->ordered, "the text");
}

/* Packs this task's values, and finds whose the others are. */
static void take_own(shown *s)
{
    const dvec *x = s->x;
    const uint64_t block = dome_layout_block_size(x->layout);
    const int rank = x->env->rank;
    char *to = s->own;
    for (uint64_t k = 0; k < s->view.count; k++) {
        const uint64_t position = dome__array_position(&s->view, k), element = position / x->width;
        s->owner[k] = x->distribution == DOME_WHOLE ? rank : dome_layout_owner(x->layout, element / block);
        s->counts[s->owner[k]]++;
        if (s->owner[k] != rank)
            continue;
        const uint64_t place = dome_layout_position(x->layout, x->layout_rank, element);
        memcpy(to, x->data + (place * x->width + position % x->width) * DVEC_VALUE(x), DVEC_VALUE(x));
        to += DVEC_VALUE(x);
    }
}

/* From the order of ranks to that of the array. */
static void arrange(shown *s)
{
    const size_t size = DVEC_VALUE(s->x);
    uint64_t *next = s->counts, at = 0;
    for (int r = 0; r < s->x->env->size; r++) {
        const uint64_t count = next[r];
        next[r] = at;
        at += count;
    }
    for (uint64_t k = 0; k < s->view.count; k++)
        memcpy(s->ordered + k * size, s->all + next[s->owner[k]]++ * size, size);
}

static int exchange(shown *s)
{
    const dvec *x = s->x;
    take_own(s);
    if (x->distribution == DOME_WHOLE || x->env->size == 1) {
        memcpy(s->all, s->own, (size_t)(s->view.count * DVEC_VALUE(x)));
    } else {
        int failed = dome__allgatherv(x->env->transport, x->type, s->own, s->counts, s->all);
        if (failed)
            return dome__fail_transport(x->env, failed);
    }
    arrange(s);
    return DOME_OK;
}

/* "x: f64, 1000 x 3", and the values in the lines below. */
static char *whole_text(const shown *s)
{
    char *array = dome__array_text(&s->view, s->x->type, s->ordered);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s: %s, ", dvec_name(s->x), dome_type_name(s->x->type));
    for (gsize k = 0; k < text->len; k++)
        if (g_ascii_iscntrl(text->str[k]))
            text->str[k] = '?';
    for (int d = 0; d < s->view.ndim; d++)
        g_string_append_printf(text, "%s%" PRIu64, d ? " x " : "", s->view.shape[d]);
    g_string_append_printf(text, "\n%s", array);
    g_free(array);
    return g_string_free(text, FALSE);
}

/* The text, g_free'd by the caller; NULL with its status. */
static char *text_of(const dvec *x, int *status)
{
    uint64_t shape[DOME_MAX_DIMENSIONS];
    shown s = {.x = x};
    char *text = NULL;
    *status = dvec__settle(x, NULL);
    if (*status == DOME_OK) {
        s.view = dome__array_view(dvec__shape(x, shape), shape);
        *status = get_room(&s);
        if (*status == DOME_OK)
            *status = exchange(&s);
        if (*status == DOME_OK)
            text = whole_text(&s);
    }
    shown_free(&s);
    return text;
}

dome_status dvec_print(const dvec *x)
{
    DOME_NEEDS(x, "the vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    int status;
    dome__begin(&op, x->env, DOME_OP_DVEC_PRINT, x->object, 0);
    char *text = text_of(x, &status);
    if (text) {
        x->env->hooks->print(x->env, text);
        x->env->hooks->print(x->env, "\n");
    }
    g_free(text);
    return dome__end(&op, status);
}

const char *dvec_text(const dvec *x)
{
    DOME_NEEDS(x, "the vector", NULL);
    dome_operation op;
    int status;
    dome__begin(&op, x->env, DOME_OP_DVEC_TEXT, x->object, 0);
    g_free(x->lazy->text);
    x->lazy->text = text_of(x, &status);
    dome__end(&op, status);
    return x->lazy->text;
}
