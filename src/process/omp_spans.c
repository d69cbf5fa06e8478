#include "process/omp_spans.h"

#include "openmp/tasks.h"
#include "openmp/team.h"
#include "process/omp_arena.h"
#include "process/omp_arguments.h"
#include "process/omp_image.h"
#include "process/omp_start.h"

static void append(GArray *spans, const char *begin, const char *end)
{
    const dome_omp_span span = {(uint64_t)(uintptr_t)begin, (uint64_t)(end - begin)};
    if (end > begin)
        g_array_append_val(spans, span);
}

GArray *dome__omp_spans(void)
{
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(dome_omp_span));
    const dome_omp_image *image = dome__omp_image();
    const dome_omp_part arguments = dome__omp_arguments_part();
    for (int k = 0; k < image->parts; k++)
        append(spans, image->variables[k].begin, image->variables[k].end);
    append(spans, arguments.begin, arguments.end);
    for (unsigned k = 0; k < DOME_OMP_MAX_THREADS && dome__omp_threads[k].made; k++) {
        if (dome__omp_tasks.size > 1)
            dome__omp_arena_reach(k, dome__omp_arena_begin(k) + 1); /* another task may have opened it */
        append(spans, dome__omp_arena_begin(k), dome__omp_arena_begin(k) + dome__omp_arena_length(k));
    }
    append(spans, dome__omp_threads[0].fibre.stack, dome__omp_first_stack_end());
    return spans;
}

static bool lies_in(const dome_omp_span *span, const char *begin, const char *end)
{
    const uint64_t low = (uint64_t)(uintptr_t)begin, high = (uint64_t)(uintptr_t)end;
    return span->address >= low && span->address < high && span->bytes <= high - span->address;
}

bool dome__omp_spans_reach(const dome_omp_span *span)
{
    const char *at = (const char *)(uintptr_t)span->address; // NOLINT(performance-no-int-to-ptr)
    const dome_omp_image *image = dome__omp_image();
    const dome_omp_part arguments = dome__omp_arguments_part();
    for (int k = 0; k < image->parts; k++)
        if (lies_in(span, image->variables[k].begin, image->variables[k].end))
            return true;
    if (dome__omp_arena_has(at))
        return dome__omp_arena_reach(dome__omp_arena_of(at), at + span->bytes);
    return lies_in(span, arguments.begin, arguments.end) ||
           lies_in(span, dome__omp_first_stack_low(), dome__omp_first_stack_end());
}
