/* A ray tracer. The picture is memory that all tasks share. Rows take different times, so a task gets its next row by a lock when
 * it has computed the one before. There is a loop boundary after each batch of rows, and each batch begins where the one before
 * has ended.
 *
 *     rays [--columns C] [--rows R] [--output NAME]     writes NAME.pgm
 *
 * One of the two programs of Stardust (dome/region.h).
 */
#include "rays_scene.h"

#include <dome/dome.h>
#include <stdio.h>

enum { BATCH = 64 }; /* rows */

/* The next row of the batch for this task; `end` if there is none. */
static int64_t take(dome_lock *lock, int64_t *next, int64_t end)
{
    dome_lock_acquire(lock);
    const int64_t row = *next < end ? (*next)++ : end;
    dome_lock_release(lock);
    return row;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    struct scene scene = {256, 192, "rays"};
    if (!scene_parse(argc, argv, &scene)) {
        if (dome_rank(env) == 0)
            fprintf(stderr, "rays: usage: rays [--columns C] [--rows R] [--output NAME]\n");
        dome_finalize(env);
        return 2;
    }

    const int64_t rows = (int64_t)scene.rows;
    dome_region *picture = dome_region_new(env, "picture", DOME_U8, scene.rows, DOME_REGION_OPTIONS(.width = scene.columns));
    unsigned char *grey = dome_region_data(picture);
    int64_t *next = dome_region_data(dome_region_new(env, "next", DOME_I64, 1, NULL));
    dome_lock *lock = dome_lock_new(env, "next");
    dscalar *done = dscalar_new(env, "done", DOME_I64);
    while (dscalar_get_i64(done) < rows) {
        const int64_t before = dscalar_get_i64(done), end = before + BATCH < rows ? before + BATCH : rows;
        for (int64_t row; (row = take(lock, next, end)) < end;)
            scene_row(&scene, (size_t)row, grey + (size_t)row * scene.columns);
        dscalar_set_i64(done, end);
        dome_progress(env, (uint64_t)end, scene.rows, "rows");
        dome_barrier(env); /* the batch is complete: nobody takes a row of it any more */
        dome_checkpoint(env);
    }
    if (dome_rank(env) == 0)
        dome_region_want(picture, 0, scene.rows, false); /* the system writes it to a file: it must be here */
    const long sum = dome_rank(env) == 0 ? scene_write(&scene, grey) : 0;
    if (sum < 0)
        dome_abort(env, "rays: %s.pgm cannot be written", scene.output);
    dome_print(env, "%zu rows of %zu: sum %ld\n", scene.rows, scene.columns, sum);
    return dome_finalize(env);
}
