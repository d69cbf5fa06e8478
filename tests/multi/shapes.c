/* Shapes: what they fit, who takes them over, .npy files that keep them, and halos of planes beside all elements, in layouts of
 * any kind. */
#include "core/environment.h"

#include <dome/dome.h>
#include <dome/structure.h>

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vector_files.h"

static void check_shape(const dvec *x, int ndim, const uint64_t expected[])
{
    uint64_t shape[DOME_MAX_DIMENSIONS];
    CHECK(dvec_shape(x, shape) == ndim, "%d dimensions", dvec_shape(x, shape));
    for (int d = 0; d < ndim; d++)
        CHECK(shape[d] == expected[d], "dimension %d is %d", d, (int)shape[d]);
}

#define SHAPE(...)                                                                                                               \
    (int)(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), (uint64_t[])                                                    \
    {                                                                                                                            \
        __VA_ARGS__                                                                                                              \
    }

static void check_refused(int status, int expected, const char *words)
{
    CHECK(status == expected, "%s", dome_status_name(status));
    CHECK(strstr(dome_error_message(env), words), "%s", words);
    dome_error_clear(env);
}

/* ---- setting ---- */

static void check_setting(void)
{
    dvec *x = dvec_new_with(env, "x", DOME_F64, 6, DVEC_OPTIONS(.width = 4));
    dvec *y = dvec_new(env, "y", DOME_F64, 6), *empty = dvec_new_with(env, "empty", DOME_F64, 0, DVEC_OPTIONS(.width = 3));
    check_shape(x, SHAPE(6, 4));
    check_shape(y, SHAPE(6));
    CHECK(dvec_set_shape(x, SHAPE(2, 3, 4)) == DOME_OK, "elements of one dimension");
    check_shape(x, SHAPE(2, 3, 4));
    CHECK(dvec_set_shape(x, SHAPE(6, 1, 2, 2)) == DOME_OK, "elements of two or three dimensions");
    check_shape(x, SHAPE(6, 1, 2, 2));
    CHECK(dvec_set_shape(y, SHAPE(1, 2, 1, 3, 1, 1, 1, 1)) == DOME_OK, "eight dimensions");
    CHECK(dvec_set_shape(empty, SHAPE(5, 0, 3)) == DOME_OK, "no elements");

    check_refused(dvec_set_shape(x, SHAPE(24)), DOME_ERR_SHAPE, "24 does not fit 6 elements of 4 values");
    check_refused(dvec_set_shape(x, SHAPE(3, 8)), DOME_ERR_SHAPE, "3 x 8 does not fit");
    check_refused(dvec_set_shape(x, SHAPE(7, 4)), DOME_ERR_SHAPE, "7 x 4");
    check_refused(dvec_set_shape(x, SHAPE(UINT64_MAX, UINT64_MAX, 4)), DOME_ERR_SHAPE, "does not fit");
    check_refused(dvec_set_shape(y, SHAPE(5)), DOME_ERR_SHAPE, "5 does not fit");
    check_refused(dvec_set_shape(x, 9, (uint64_t[9]){6, 4, 1, 1, 1, 1, 1, 1, 1}), DOME_ERR_ARGUMENT, "9 dimensions");
    check_refused(dvec_set_shape(x, -1, (uint64_t[]){6}), DOME_ERR_ARGUMENT, "-1 dimensions");
    check_shape(x, SHAPE(6, 1, 2, 2));

    /* New vectors like one have its shape; outputs keep theirs. */
    dvec *like = dvec_new_like(x, "like"), *clone = dvec_clone(x, "clone");
    check_shape(like, SHAPE(6, 1, 2, 2));
    check_shape(clone, SHAPE(6, 1, 2, 2));
    CHECK(dvec_set_shape(like, 0, NULL) == DOME_OK, "the default");
    check_shape(like, SHAPE(6, 4));
    CHECK(dvec_add(like, x, clone) == DOME_OK, "add");
    check_shape(like, SHAPE(6, 4));
    dvec_free(x);
    dvec_free(y);
    dvec_free(empty);
    dvec_free(like);
    dvec_free(clone);
}

/* ---- files ---- */

static void check_files(void)
{
    dvec *x = dvec_new(env, "x", DOME_I32, 24);
    dvec_iota(x);
    dvec_set_shape(x, SHAPE(2, 3, 4));
    CHECK(dvec_write(x, "shape.npy") == DOME_OK, "write");
    if (dome_rank(env) == 0) {
        char *data;
        CHECK(g_file_get_contents("shape.npy", &data, NULL, NULL), "shape.npy");
        CHECK(g_strstr_len(data + 10, 118, "'shape': (2, 3, 4), }"), "the header");
        g_free(data);
    }
    static const struct {
        size_t width, expected; /* 0: refused */
    } widths[] = {{0, 12}, {1, 1}, {4, 4}, {12, 12}, {24, 24}, {3, 0}, {2, 0}, {8, 0}, {48, 0}};
    for (size_t k = 0; k < G_N_ELEMENTS(widths); k++) {
        dvec *y = dvec_read_with(env, "y", "shape.npy", DVEC_OPTIONS(.width = widths[k].width));
        if (widths[k].expected == 0) {
            CHECK(!y, "width %zu", widths[k].width);
            check_refused(dome_error_status(env), DOME_ERR_SHAPE, "its width is 12");
            continue;
        }
        CHECK(y && dvec_width(y) == widths[k].expected && dvec_length(y) * dvec_width(y) == 24, "width %zu", widths[k].width);
        check_shape(y, SHAPE(2, 3, 4));
        const int32_t *values = dvec_allgather(y);
        for (int i = 0; i < 24; i++)
            CHECK(values[i] == i, "value %d is %d", i, values[i]);
        dvec_free(y);
    }
    dvec_set_shape(x, SHAPE(1, 2, 1, 3, 1, 2, 1, 2));
    CHECK(dvec_write(x, "shape.npy") == DOME_OK, "write");
    dvec *y = dvec_read_with(env, "y", "shape.npy", DVEC_OPTIONS(.width = 1, .distribution = DOME_WHOLE));
    CHECK(y, "eight dimensions");
    check_shape(y, SHAPE(1, 2, 1, 3, 1, 2, 1, 2));
    dvec_free(y);
    dvec_free(x);

    /* More dimensions than a vector has: the last ones become one. */
    if (dome_rank(env) == 0) {
        char file[128 + 32] = "\x93NUMPY\1\0v\0";
        static const char text[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1, 1, 2, 1, 1, 1, 2, 1, 4), }";
        memset(file + 10, ' ', 118);
        memcpy(file + 10, text, sizeof text - 1);
        file[127] = '\n';
        CHECK(g_file_set_contents("shape.npy", file, sizeof file, NULL), "shape.npy");
    }
    dome_barrier(env);
    y = dvec_read(env, "y", "shape.npy");
    CHECK(y && dvec_length(y) == 2 && dvec_width(y) == 16, "ten dimensions");
    check_shape(y, SHAPE(2, 1, 1, 2, 1, 1, 1, 8));
    dvec_free(y);
    dome_barrier(env);
    if (dome_rank(env) == 0)
        g_remove("shape.npy");
}

/* ---- halos of planes ---- */

/* The copies are `count` elements from number `first` on, which may wrap around or not. */
static void check_copies(const dvec *x, const void *copies, uint64_t count, int64_t first)
{
    uint64_t width = dvec_width(x), n = dvec_length(x);
    const double *values = copies;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t element = (uint64_t)(first + (int64_t)i + 3 * (int64_t)n) % n;
        for (uint64_t k = 0; k < width; k++)
            CHECK(values[i * width + k] == (double)element, "element %d of %d: %g instead of %d", (int)i, (int)count,
                  values[i * width + k], (int)element);
    }
}

static void check_halo(dvec *x, uint64_t planes, uint64_t plane)
{
    uint64_t below = draw(4), above = draw(4), n = dvec_length(x);
    bool periodic = draw(2);
    dvec_halo_span spans[2];
    if (periodic && (below > planes || above > planes)) {
        check_refused(dvec_halo_planes(x, below, above, periodic, spans), DOME_ERR_ARGUMENT, "planes");
        return;
    }
    CHECK(dvec_halo_planes(x, below, above, periodic, spans) == DOME_OK, "halo");
    uint64_t local = 0;
    for (int s = 0; s < 2; s++) {
        uint64_t first = spans[s].local.first, count = spans[s].local.count, end = first + count;
        local += count;
        if (count == 0) {
            CHECK(spans[s].nbelow == 0 && spans[s].nabove == 0, "copies beside nothing");
            continue;
        }
        int64_t begin = (int64_t)(first / plane) - (int64_t)below, stop = (int64_t)((end - 1) / plane + 1 + above);
        if (!periodic) {
            begin = MAX(begin, 0);
            stop = MIN(stop, (int64_t)planes);
        }
        CHECK((int64_t)first - (int64_t)spans[s].nbelow == begin * (int64_t)plane, "%d below", (int)spans[s].nbelow);
        CHECK((int64_t)(end + spans[s].nabove) == stop * (int64_t)plane, "%d above", (int)spans[s].nabove);
        check_copies(x, spans[s].below, spans[s].nbelow, begin * (int64_t)plane);
        check_copies(x, spans[s].local.data, count, (int64_t)first);
        check_copies(x, spans[s].above, spans[s].nabove, (int64_t)end);
    }
    dome_object_info info = {.size = sizeof info};
    dome_object_describe(dvec_object(x), &info);
    CHECK(info.distribution == DOME_WHOLE ? local == n : true, "%d local", (int)local);
}

static void check_halos(void)
{
    for (int round = 0; round < 60; round++) {
        uint64_t shape[3] = {1 + draw(12), 1 + draw(40), 1 + draw(9)};
        bool rows = draw(2); /* elements are rows of the last dimension, or values */
        uint64_t width = rows ? shape[2] : 1, plane = shape[1] * (rows ? 1 : shape[2]);
        dvec *x = dvec_new_with(env, "x", DOME_F64, shape[0] * plane,
                                DVEC_OPTIONS(.width = width, .distribution = (dome_distribution)draw(3)));
        dvec_iota(x);
        CHECK(dvec_set_shape(x, 3, shape) == DOME_OK, "%d x %d x %d", (int)shape[0], (int)shape[1], (int)shape[2]);
        for (int k = 0; k < 4; k++) {
            if (dvec_distribution(x) == DOME_DYNAMIC && draw(2))
                move(dvec_length(x));
            check_halo(x, shape[0], plane);
            if (draw(3) == 0) { /* the copies of dvec_halo_elements are others */
                dvec_halo_span spans[2];
                CHECK(dvec_halo_elements(x, 1, 1, false, spans) == DOME_OK, "halo");
                for (int s = 0; s < 2; s++)
                    CHECK(spans[s].nbelow <= 1 && spans[s].nabove <= 1, "one element");
            }
        }
        dvec_free(x);
    }
    dvec_halo_span spans[2];
    dvec *x = dvec_new_with(env, "x", DOME_F64, 1, DVEC_OPTIONS(.width = 12));
    dvec_set_shape(x, SHAPE(3, 4));
    check_refused(dvec_halo_planes(x, 1, 1, false, spans), DOME_ERR_SHAPE, "more than a plane");
    dvec_free(x);
    x = dvec_new(env, "x", DOME_F64, 0);
    dvec_set_shape(x, SHAPE(4, 0));
    CHECK(dvec_halo_planes(x, 1, 1, true, spans) == DOME_OK && spans[0].local.count == 0, "no elements");
    dvec_free(x);
}

/* ---- loops over elements and their neighbours ---- */

typedef struct expected {
    uint64_t n, below, above, width;
    bool periodic;
    int wrong;
} expected;

/* The elements of x hold their index. The output counts the calls for its element. */
static void look_around(void *ctx, uint64_t index, void *out, const void *const near[])
{
    expected *e = ctx;
    for (uint64_t k = 0; k <= e->below + e->above; k++) {
        int64_t at = (int64_t)(index + k) - (int64_t)e->below, n = (int64_t)e->n;
        if (e->periodic)
            at = (at + n) % n;
        const double *x = near[k];
        if (at < 0 || at >= n)
            e->wrong += x != NULL;
        else
            e->wrong += !x || x[0] != (double)at || x[e->width - 1] != (double)at;
    }
    ((uint32_t *)out)[1] += 1;
}

static void check_stencil(uint64_t n, dome_distribution of_out, dome_distribution of_x)
{
    expected e = {.n = n, .below = draw(4), .above = draw(4), .width = 1 + draw(5), .periodic = draw(2)};
    dvec *out = dvec_new_with(env, "out", DOME_U32, n, DVEC_OPTIONS(.width = 2, .distribution = of_out));
    dvec *x = dvec_new_with(env, "x", DOME_F64, n, DVEC_OPTIONS(.width = e.width, .distribution = of_x));
    dvec_iota(x);
    dvec_fill(out, 7);
    uint64_t calls = 0;
    for (int k = 0; k < 3; k++) {
        if (draw(2))
            move(n);
        if (e.periodic && (e.below > n || e.above > n)) {
            check_refused(dvec_stencil(out, look_around, &e, x, e.below, e.above, true), DOME_ERR_ARGUMENT,
                          "longer than the vector");
            continue;
        }
        CHECK(dvec_stencil(out, look_around, &e, x, e.below, e.above, e.periodic) == DOME_OK, "%s", dome_error_message(env));
        calls++;
    }
    CHECK(e.wrong == 0, "%d wrong neighbours among %d elements", e.wrong, (int)n);
    const uint32_t *counts = dvec_allgather(out);
    for (uint64_t i = 0; i < n; i++)
        CHECK(counts[2 * i] == 7 && counts[2 * i + 1] == 7 + calls, "element %d: %d calls of %d", (int)i,
              (int)counts[2 * i + 1] - 7, (int)calls);
    dvec_free(out);
    dvec_free(x);
}

static void check_stencils(void)
{
    for (int round = 0; round < 60; round++) {
        const dome_distribution of_out = (dome_distribution)draw(3);
        check_stencil(draw(3) ? 1 + draw(700) : draw(6), of_out, draw(4) ? of_out : DOME_WHOLE);
    }
    expected e = {.n = 5, .width = 1};
    dvec *x = dvec_new(env, "x", DOME_F64, 5), *out = dvec_new(env, "out", DOME_U32, 5),
         *longer = dvec_new(env, "longer", DOME_F64, 6);
    check_refused(dvec_stencil(x, look_around, &e, x, 1, 1, false), DOME_ERR_ARGUMENT, "the output is the input");
    check_refused(dvec_stencil(out, look_around, &e, longer, 1, 1, false), DOME_ERR_SHAPE, "'longer' has 6 elements");
    check_refused(dvec_stencil(out, look_around, &e, x, 16, 16, false), DOME_ERR_ARGUMENT, "at most 31 neighbours");
    check_refused(dvec_stencil(out, look_around, &e, x, UINT64_MAX, 2, false), DOME_ERR_ARGUMENT, "at most 31");
    dvec_free(x);
    dvec_free(out);
    dvec_free(longer);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    draw_state = 5;
    make_folder();
    stand(true);
    dome_set_errors_return(env);
    check_setting();
    check_files();
    check_halos();
    check_stencils();
    remove_folder();
    dome_print(env, "ok shapes on %d tasks\n", dome_size(env));
    return dome_finalize(env);
}
