/* A ray tracer. The picture is memory that all tasks share. Rows take different times, so a task gets its next rows by a lock
 * when it has computed those before. There is a loop boundary after each batch of rows, and each batch begins where the one
 * before has ended.
 *
 *     rays [--columns C] [--rows R] [--samples S] [--batch ROWS] [--output NAME]     writes NAME.pgm
 *
 * One of the two programs of Stardust (dome/region.h).
 */
#include "rays_scene.h"

#include <dome/dome.h>
#include <stdio.h>

enum { BATCHES = 4, MOST = 16 }; /* MOST: rows that are always taken together */

/* Tasks take the rows of a batch in pieces of whole units, unless a unit has many rows. So two tasks rarely write one unit. */
struct batch {
    int64_t *next, end; /* rows: the next one, which all tasks share; the end */
    int64_t unit;
};

/* The next rows for this task: their number; 0 if there are none. Pieces become smaller, so all tasks end at about the same time,
 * and few wait for the lock. */
static int64_t take(dome_lock *lock, const struct batch *batch, int tasks, int64_t *first)
{
    dome_lock_acquire(lock);
    const int64_t left = batch->end - *batch->next, part = left / (2 * tasks) / batch->unit * batch->unit;
    const int64_t most = part > batch->unit ? part : batch->unit, count = most < left ? most : left;
    *first = *batch->next;
    *batch->next += count;
    dome_lock_release(lock);
    return count;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    struct scene scene = {256, 192, 1, 0, "rays"};
    if (!scene_parse(argc, argv, &scene)) {
        if (dome_rank(env) == 0)
            fprintf(stderr, "rays: usage: " SCENE_USAGE "\n");
        dome_finalize(env);
        return 2;
    }

    const int64_t rows = (int64_t)scene.rows;
    dome_region *picture = dome_region_new(env, "picture", DOME_U8, scene.rows, DOME_REGION_OPTIONS(.width = scene.columns));
    unsigned char *grey = dome_region_data(picture);
    const int64_t unit = (int64_t)dome_region_unit(picture);
    struct batch batch = {.next = dome_region_data(dome_region_new(env, "next", DOME_I64, 1, NULL)),
                          .unit = unit < MOST ? unit : MOST};
    const int64_t step = scene.batch > 0 ? (int64_t)scene.batch : (rows / BATCHES / batch.unit + 1) * batch.unit;
    dome_lock *lock = dome_lock_new(env, "next");
    dscalar *done = dscalar_new(env, "done", DOME_I64);
    while (dscalar_get_i64(done) < rows) {
        const int64_t before = dscalar_get_i64(done);
        batch.end = before + step < rows ? before + step : rows;
        int64_t first;
        for (int64_t count; (count = take(lock, &batch, dome_size(env), &first)) > 0;)
            for (int64_t row = first; row < first + count; row++)
                scene_row(&scene, (size_t)row, grey + (size_t)row * scene.columns);
        dscalar_set_i64(done, batch.end);
        dome_barrier(env); /* the batch is complete: nobody takes a row of it any more */
        dome_progress(env, (uint64_t)batch.end, scene.rows, "rows");
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
