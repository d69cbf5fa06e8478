#include "supervision/view.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

static const dome_view_act nothing = {.deed = DOME_VIEW_NOTHING}, wrong = {.deed = DOME_VIEW_WRONG};

void dome__view_init(dome_view *view)
{
    *view = (dome_view){.least = 1};
}

void dome__view_clear(dome_view *view)
{
    g_clear_pointer(&view->tasks, g_free);
}

static bool is_rank(const dome_view *v, int rank)
{
    return rank >= 0 && rank < v->size;
}

/* Room for the tasks of both views, none of which has done anything yet. */
static void begin_tasks(dome_view *v, int count)
{
    g_free(v->tasks);
    v->tasks = g_new0(dome_view_task, count);
}

/* Answers the user, if there is one. Takes ownership of text. */
static dome_view_act answer(dome_view *v, dome_view_deed deed, char *text)
{
    if (!v->asked) {
        g_free(text);
        return nothing;
    }
    v->asked = false;
    return (dome_view_act){.deed = deed, .text = text};
}

/* Why a user's wish cannot be met: g_free'd; NULL: it can. */
static char *objection(const dome_view *v, int tasks)
{
    if (v->size == 0)
        return g_strdup("the program is still starting");
    if (v->phase != DOME_VIEW_STEADY)
        return g_strdup("the program is about to change already");
    if (tasks == v->size)
        return g_strdup_printf("the program has %d task%s already", v->size, v->size == 1 ? "" : "s");
    if (tasks < v->least)
        return g_strdup_printf("%d task%s would be fewer than its least number, %d", MAX(tasks, 0), tasks == 1 ? "" : "s",
                               v->least);
    if (v->most && tasks > v->most)
        return g_strdup_printf("%d tasks would be more than its greatest number, %d", tasks, v->most);
    return NULL;
}

dome_view_act dome__view_ask(dome_view *v, int tasks)
{
    char *why = objection(v, tasks);
    if (why)
        return (dome_view_act){.deed = DOME_VIEW_REFUSED, .text = why};
    v->phase = DOME_VIEW_ASKING;
    v->asked = true;
    v->wanted = tasks;
    begin_tasks(v, v->size);
    return (dome_view_act){.deed = DOME_VIEW_HOLD, .order = ++v->order};
}

dome_view_act dome__view_held(dome_view *v, int rank, uint64_t order, uint64_t loop)
{
    if (v->phase != DOME_VIEW_ASKING || order != v->order || !is_rank(v, rank))
        return nothing; /* the program has changed by its own wish meanwhile */
    v->tasks[rank].answered = true;
    v->tasks[rank].loop = loop;
    uint64_t most = 0;
    for (int r = 0; r < v->size; r++) {
        if (!v->tasks[r].answered)
            return nothing;
        most = MAX(most, v->tasks[r].loop);
    }
    v->phase = DOME_VIEW_ORDERED;
    return (dome_view_act){.deed = DOME_VIEW_TARGET, .order = order, .loop = most + 1, .size = v->wanted};
}

dome_view_act dome__view_refuse(dome_view *v, uint64_t order, const char *why)
{
    if (v->phase != DOME_VIEW_ORDERED || order != v->order)
        return nothing;
    v->phase = DOME_VIEW_STEADY;
    return answer(v, DOME_VIEW_REFUSED, g_strdup(why));
}

static bool all_here(const dome_view *v)
{
    for (int r = 0; r < v->next; r++)
        if (!v->tasks[r].here)
            return false;
    return true;
}

/* The change is complete. */
static dome_view_act enter(dome_view *v)
{
    v->number++;
    v->size = v->next;
    v->phase = DOME_VIEW_STEADY;
    return answer(v, DOME_VIEW_DONE, g_strdup_printf("%d task%s, view %" PRIu32, v->size, v->size == 1 ? "" : "s", v->number));
}

dome_view_act dome__view_announce(dome_view *v, int rank, uint32_t number, int size)
{
    if (number <= v->number)
        return nothing; /* it leaves, and the others have gone on without it */
    dome_view_act act = nothing;
    /* The next change has begun already, so all have joined: the word of task 0 comes by another connection. */
    if (number == v->number + 2 && v->phase == DOME_VIEW_ENTERING && all_here(v))
        act = enter(v);
    if (number != v->number + 1 || !is_rank(v, rank) || size < 1)
        return wrong;
    if (v->phase != DOME_VIEW_ENTERING) {
        if (v->asked && size != v->wanted)
            act = answer(v, DOME_VIEW_REFUSED, g_strdup_printf("the program changes to %d tasks by its own wish", size));
        v->phase = DOME_VIEW_ENTERING;
        v->next = size;
        begin_tasks(v, MAX(v->size, size));
    } else if (size != v->next) {
        return wrong;
    }
    v->tasks[rank].announced = true;
    return act;
}

int dome__view_staying(const dome_view *v)
{
    return v->phase == DOME_VIEW_ENTERING ? MIN(v->size, v->next) : v->size;
}

bool dome__view_away(const dome_view *v, int rank)
{
    return v->phase == DOME_VIEW_ENTERING && rank >= 0 && rank < dome__view_staying(v) && v->tasks[rank].announced &&
           !v->tasks[rank].here;
}

dome_view_act dome__view_greet(dome_view *v, int rank, uint32_t number, int id)
{
    if (number == v->number && v->phase != DOME_VIEW_ENTERING)
        return nothing; /* the program starts */
    if (number != v->number + 1 || v->phase != DOME_VIEW_ENTERING || rank < 0 || rank >= v->next || v->tasks[rank].here)
        return wrong;
    const int staying = dome__view_staying(v);
    if (rank < staying && !v->tasks[rank].announced)
        return wrong;
    v->tasks[rank].here = true;
    v->tasks[rank].id = id;
    for (int r = 0; r < staying; r++)
        if (!v->tasks[r].here)
            return nothing;
    return rank < staying ? (dome_view_act){.deed = DOME_VIEW_MEMBERS} : nothing;
}

dome_view_act dome__view_stands(dome_view *v, uint32_t number, int size, int least, int most)
{
    if (size < 1)
        return wrong;
    if (v->size == 0 && number == v->number) {
        v->size = size;
        v->least = MAX(least, 1);
        v->most = most;
        return nothing;
    }
    if (number <= v->number)
        return nothing; /* an announcement of the next change has told so already */
    if (v->phase != DOME_VIEW_ENTERING || number != v->number + 1 || size != v->next)
        return wrong;
    return enter(v);
}

dome_view_act dome__view_end(dome_view *v)
{
    return answer(v, DOME_VIEW_REFUSED, g_strdup("the program has ended"));
}
