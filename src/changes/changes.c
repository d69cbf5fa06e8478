/* dome/delta.h: what is tracked now, the files that are injected by starts, and why a call failed. */
#include "changes/changes.h"

#include <dome/delta.h>

#include <string.h>
#include <unistd.h>

static struct changes_state {
    GPtrArray *areas;   /* dome_area *; NULL: none yet */
    uint32_t region;    /* the number of starts */
    bool active;        /* between start and stop */
    pid_t process;      /* of the start: a process made by fork is not tracked */
    dome_changes *last; /* what the last save has written, since the start */
    char *last_file;
    char **recovering; /* files that starts inject; NULL: none */
    guint next;
    char *error;
} state;

/* -1, with the reason. The text is taken. */
static int fail(char *text)
{
    g_free(state.error);
    state.error = text;
    return -1;
}

static int fail_with(const char *text)
{
    return fail(g_strdup(text));
}

const char *dome_delta_error(void)
{
    return state.error ? state.error : "";
}

static dome_area *area_at(guint k)
{
    return g_ptr_array_index(state.areas, k);
}

static guint count_areas(void)
{
    return state.areas ? state.areas->len : 0;
}

static void forget_last(void)
{
    dome__changes_free(state.last);
    g_free(state.last_file);
    state.last = NULL;
    state.last_file = NULL;
}

static bool is_file(const char *file)
{
    if (!file)
        fail_with("the name of the file is NULL");
    return file != NULL;
}

bool (*dome__changes_taken)(const void *memory, size_t bytes);

int dome_delta_memory(void *memory, size_t bytes, unsigned unit)
{
    if (unit != 1 && unit != 2 && unit != 4 && unit != 8)
        return fail(g_strdup_printf("a unit of %u bytes: 1, 2, 4 or 8", unit));
    if (!memory || bytes == 0 || bytes > PTRDIFF_MAX / 2 || (uintptr_t)memory % unit || bytes % unit)
        return fail_with("the memory is empty, or no multiple of its unit");
    if (dome__changes_taken && dome__changes_taken(memory, bytes))
        return fail_with("the tasks of an OpenMP program keep this memory equal: it can be tracked where there is one task");
    if (state.active)
        return fail_with("memory is tracked already: name all of it before dome_delta_start");
    if (!state.areas)
        state.areas = g_ptr_array_new();
    g_ptr_array_add(state.areas, dome__area_new(memory, bytes, unit));
    return 0;
}

static void untrack_all(void)
{
    for (guint k = 0; k < count_areas(); k++)
        dome__area_untrack(area_at(k));
    state.active = false;
    forget_last();
}

static bool is_tracked(void)
{
    if (state.active && state.process != getpid())
        untrack_all();
    return state.active;
}

static int track_all(void)
{
    const char *why = NULL;
    for (guint k = 0; k < count_areas() && !why; k++)
        why = dome__area_track(area_at(k));
    state.active = true;
    state.process = getpid();
    if (!why)
        return 0;
    untrack_all();
    return fail(g_strdup_printf("the memory cannot be tracked: %s", why));
}

static int start_anew(void)
{
    forget_last();
    if (!is_tracked())
        return track_all();
    for (guint k = 0; k < count_areas(); k++)
        dome__area_forget(area_at(k));
    return 0;
}

int dome_delta_start(void)
{
    if (count_areas() == 0)
        return fail_with("there is no memory to track: dome_delta_memory comes first");
    state.region++;
    if (!state.recovering)
        return start_anew();
    const char *file = state.recovering[state.next];
    if (!file)
        return fail_with("there is no more file to recover from");
    if (dome_delta_inject(file) < 0)
        return -1;
    state.next++;
    if (state.recovering[state.next])
        return 0;
    g_clear_pointer(&state.recovering, g_strfreev);
    return start_anew();
}

int dome_delta_stop(void)
{
    if (!state.recovering && state.active)
        untrack_all();
    return 0;
}

/* A part of the memory that is named: the number of its area; -1: it is in none, or no multiple of the unit. */
typedef struct part {
    int area;
    size_t first, bytes;
} part;

static part part_at(const void *memory, size_t bytes)
{
    const char *at = memory;
    for (guint k = 0; at && k < count_areas(); k++) {
        const dome_area *area = area_at(k);
        if (at >= area->at && bytes <= area->bytes && (size_t)(at - area->at) <= area->bytes - bytes)
            return (part){(size_t)(at - area->at) % area->unit || bytes % area->unit ? -1 : (int)k, (size_t)(at - area->at),
                          bytes};
    }
    return (part){.area = -1};
}

static const char no_part[] = "these bytes are in no memory that dome_delta_memory names, or no multiples of its unit";

/* of: NULL: all memory. */
static dome_changes *take(const part *of)
{
    dome_changes *now = dome__changes_new(state.region);
    for (guint k = 0; k < count_areas(); k++) {
        dome_area *area = area_at(k);
        dome_delta *delta = !of                  ? dome__area_take(area)
                            : of->area == (int)k ? dome__area_take_part(area, of->first, of->bytes)
                                                 : dome__delta_new(area->unit);
        dome__changes_add(now, area->bytes, dome__area_skew(area), delta);
    }
    return now;
}

static int save(const char *file, const part *of)
{
    char *why = NULL;
    if (!is_file(file))
        return -1;
    if (state.recovering)
        return fail(g_strdup_printf("%s is not saved: the program recovers, and its next start injects %s", file,
                                    state.recovering[state.next]));
    if (!is_tracked())
        return fail_with("nothing is tracked: dome_delta_start comes first");
    if (of && of->area < 0)
        return fail_with(no_part);
    dome_changes *now = take(of);
    if (state.last && strcmp(file, state.last_file) == 0) {
        dome__changes_merge(state.last, now); /* the same areas, behind the same start */
        dome__changes_free(now);
    } else {
        forget_last();
        state.last = now;
        state.last_file = g_strdup(file);
    }
    return dome__changes_write(state.last, file, &why) ? 0 : fail(why);
}

int dome_delta_save(const char *file)
{
    return save(file, NULL);
}

int dome_delta_save_of(const char *file, const void *memory, size_t bytes)
{
    const part of = part_at(memory, bytes);
    return save(file, &of);
}

/* NULL, or why these changes are of other memory. */
static char *unfit(const dome_changes *changes, const char *file)
{
    bool fits = changes->areas->len == count_areas();
    for (guint k = 0; fits && k < count_areas(); k++) {
        const dome_change *change = g_ptr_array_index(changes->areas, k);
        fits = change->bytes == area_at(k)->bytes && dome__area_fits(area_at(k), change->delta, change->skew);
    }
    return fits ? NULL : g_strdup_printf("%s is of other memory than what dome_delta_memory names here", file);
}

static int inject(const char *file, const part *of)
{
    char *why = NULL;
    if (!is_file(file))
        return -1;
    if (of && of->area < 0)
        return fail_with(no_part);
    dome_changes *changes = dome__changes_read(file, &why);
    if (changes)
        why = unfit(changes, file);
    for (guint k = 0; !why && k < count_areas(); k++) {
        const dome_change *change = g_ptr_array_index(changes->areas, k);
        if (!of || of->area == (int)k)
            dome__area_apply(area_at(k), change->delta, change->skew, of ? of->first : 0, of ? of->bytes : area_at(k)->bytes);
    }
    dome__changes_free(changes);
    return why ? fail(why) : 0;
}

int dome_delta_inject(const char *file)
{
    return inject(file, NULL);
}

int dome_delta_inject_of(const char *file, void *memory, size_t bytes)
{
    const part of = part_at(memory, bytes);
    return inject(file, &of);
}

int dome_delta_merge(const char *into, const char *file)
{
    char *why = NULL;
    if (!is_file(into) || !is_file(file))
        return -1;
    dome_changes *first = dome__changes_read(into, &why), *second = first ? dome__changes_read(file, &why) : NULL;
    const char *unlike = second ? dome__changes_merge(first, second) : NULL;
    if (unlike)
        why = g_strdup_printf("%s and %s cannot be merged: %s", into, file, unlike);
    if (!why)
        dome__changes_write(first, into, &why);
    dome__changes_free(first);
    dome__changes_free(second);
    return why ? fail(why) : 0;
}

int dome_delta_recover(const char *const *files, size_t count)
{
    if (count == 0 || !files)
        return fail_with("there is no file to recover from");
    for (size_t k = 0; k < count; k++)
        if (!is_file(files[k]))
            return -1;
    untrack_all();
    g_strfreev(state.recovering);
    state.recovering = g_new0(char *, count + 1);
    for (size_t k = 0; k < count; k++)
        state.recovering[k] = g_strdup(files[k]);
    state.next = 0;
    return 0;
}

int dome_delta_wrote(const void *memory, size_t bytes)
{
    const char *at = memory;
    for (guint k = 0; is_tracked() && k < count_areas(); k++) {
        dome_area *area = area_at(k);
        if (at >= area->at && bytes <= area->bytes && (size_t)(at - area->at) <= area->bytes - bytes) {
            dome__area_wrote(area, (size_t)(at - area->at), bytes);
            return 0;
        }
    }
    return fail_with(state.active ? "this memory is not tracked" : "nothing is tracked: dome_delta_start comes first");
}
