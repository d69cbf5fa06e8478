/* nested STEPS: dome_checkpoint inside of recursion, of a call by a pointer, and of a switch; handles of each kind in variables,
 * globals and the heap; objects that have been freed; local data between two calls of dome_checkpoint. */
#include <dome/dome.h>
#include <dome/structure.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    struct list *next;
    dvec *x;
    dome_object *object;
    int number;
};

static int calls;
static dscalar *total;
static struct {
    dome_env *env;
    dome_type type;
    dsparse *a;
} all;

static void deep(struct list *l, int depth, int *sum)
{
    if (depth == 0) {
        static int here;
        calls++;
        here += calls;
        dome_checkpoint(all.env);
        *sum += l->number + here;
        return;
    }
    deep(l->next ? l->next : l, depth - 1, sum);
    dvec_adds(l->x, l->x, 1.0);
}

static void one(struct list *l, int depth, int *sum)
{
    dvec_muls(l->x, l->x, 0.5);
    if (depth > 1 && dome_checkpoint(all.env) == DOME_OK)
        ++*sum;
}

static double largest(dvec *x, int step)
{
    double most = 0;
    dvec_span spans[2];
    for (int turn = 0; turn < 2; turn++) {
        dvec_local_spans(x, spans);
        for (int s = 0; s < 2; s++) {
            double *values = spans[s].data;
            for (size_t k = 0; k < spans[s].count; k++)
                values[k] += turn;
        }
        switch (step % 3) {
        case 0:
            dome_checkpoint(all.env); /* fall through */
        case 1:
            most += dvec_max_value(x);
            break;
        default:
            most -= 1;
        }
    }
    return most;
}

int main(int argc, char **argv)
{
    all.env = dome_init(&argc, &argv);
    all.type = DOME_F64;
    int n = argc > 1 ? atoi(argv[1]) : 10, sum = 0;
    void (*const ways[])(struct list *, int, int *) = {deep, one};
    struct list *first = NULL;
    if (dome_rank(all.env) == 0) /* of one task alone: the blocks of the others have the same names afterwards */
        free(strcpy(malloc(20), "nothing"));
    for (int i = 0; i < 3; i++) {
        struct list *l = malloc(sizeof *l);
        *l = (struct list){first, dvec_new_with(all.env, i == 1 ? "x" : NULL, all.type, 700 + (uint64_t)i, NULL), NULL, i};
        l->object = dvec_object(l->x);
        dvec_fill(l->x, i);
        dvec_free(dvec_new(all.env, NULL, DOME_I32, 100));
        first = l;
    }
    dvec *square = dvec_new_with(all.env, NULL, DOME_I64, 300, DVEC_OPTIONS(.width = 5, .distribution = DOME_WHOLE));
    dvec *plate = dvec_new_with(all.env, NULL, DOME_F64, 301, DVEC_OPTIONS(.distribution = DOME_BLOCK));
    all.a = dsparse_new(all.env, NULL, 701, 702);
    dsparse_assemble(all.a, dome_rank(all.env) == 0 ? 2 : 0, (dsparse_triplet[]){{3, 4, 2.5}, {700, 701, 1.5}});
    total = dscalar_new(all.env, NULL, DOME_F64);
    for (int step = 0; step < n; step++) {
        ways[step & 1](first, 3, &sum);
        dsparse_multiply(first->next->x, all.a, first->x);
        dvec_adds(square, square, step);
        double most = largest(plate, step) + largest(first->x, step);
        dscalar_set_f64(total, dvec_sum(first->x) + most);
        dvec_copy(first->next->next->x, dvec_new_like(first->next->next->x, NULL));
        dome_print(all.env, "%d: %d %d %.17g %.17g %ld %s %d\n", step, sum, calls, dscalar_get_f64(total),
                   dvec_sum(first->next->x), (long)dvec_sum_i64(square), dome_type_name(all.type),
                   (int)dome_object_id(first->object) > 0);
    }
    dome_print(all.env, "end: %d\n", calls);
    return dome_finalize(all.env);
}
