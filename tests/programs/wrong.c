/* Calls every public function with a wrong argument that is not NULL (tests/programs/nulls.c gives NULL): another type, another
 * length, a file that is not there, an element that cannot be computed. The line begins with the name of the function that was
 * called. tests/scripts/nulls.sh compares the functions named here with the headers.
 *
 *     wrong            makes the calls
 *     wrong names      prints the functions that are called, and does nothing else */
#include <dome/dome.h>
#include <dome/structure.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static dome_env *env;
static int failures;
static bool only_names;

/* What the calls are about. `x` has 5 numbers, `other` 6, `pairs` 5 structs, `failed` 5 integers that cannot be computed. */
static dvec *x, *other, *mask, *index5, *pairs, *wide, *empty, *failed, *whole;
static dscalar *real, *integer, *pair;
static dsparse *a, *b, *c, *integers;

static bool begins(const char *function)
{
    if (only_names)
        printf("%s\n", function);
    return !only_names;
}

/* The name ends where the line has " of 'x'" or ": why". */
static bool names(const char *line, const char *name)
{
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == ':');
}

static void expect(const char *call, const char *name)
{
    if (dome_error_status(env) == DOME_OK || !names(dome_error_message(env), name)) {
        printf("failed: %s: %s: '%s'\n", call, dome_status_name(dome_error_status(env)), dome_error_message(env));
        failures++;
    }
    dome_error_clear(env);
}

#define WRONG(function, ...)                                                                                                     \
    do {                                                                                                                         \
        if (begins(#function)) {                                                                                                 \
            (void)function(__VA_ARGS__);                                                                                         \
            expect(#function "(" #__VA_ARGS__ ")", #function);                                                                   \
        }                                                                                                                        \
    } while (0)

/* The macros of map.h. */
#define WRONG_LOOP(name, loop)                                                                                                   \
    do {                                                                                                                         \
        if (!only_names) {                                                                                                       \
            loop;                                                                                                                \
            expect(#loop, name);                                                                                                 \
        }                                                                                                                        \
    } while (0)

static void kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)ctx, (void)first, (void)count, (void)out, (void)in;
}

static void of_stencil(void *ctx, uint64_t index, void *out, const void *const near[])
{
    (void)ctx, (void)index, (void)out, (void)near;
}

static void join(void *ctx, void *left, const void *right)
{
    (void)ctx, (void)left, (void)right;
}

static void combine(void *ctx, size_t count, void *inout, const void *in)
{
    (void)ctx, (void)count, (void)inout, (void)in;
}

static void fill_row(void *ctx, uint64_t row, dsparse_row *to)
{
    (void)ctx;
    dsparse_row_add(to, row + 100, 1);
}

static void on_view(dome_env *of, const dome_view_news *news, void *data)
{
    (void)of, (void)news, (void)data;
}

static void of_environment(void)
{
    int number = 0;
    const size_t one = 1;
    const dome_span *spans;
    dome_field field = {"a", DOME_F64, 0, 1}, outside = {"a", DOME_F64, 8, 1};
    const dome_type_ops ops = {.size = sizeof ops};
    dome_layout *foreign = dome_layout_even(10, 1, 1000);
    WRONG(dome_bcast, env, 99, DOME_I32, &number, 1);
    WRONG(dome_resize, env, -1);
    WRONG(dome_on_view, env, on_view, NULL);
    WRONG(dome_lost, dvec_object(empty), &spans);
    WRONG(dome_type_struct, env, "outside", 8, &outside, 1, sizeof field);
    WRONG(dome_type_parse, env, "parsed", "{D", &one, 1, 8);
    WRONG(dome_type_set_ops, env, DOME_F64, &ops);
    WRONG(dome_type_field, dvec_type(pairs), 5, &field, sizeof field);
    WRONG(dome_object_new, env, "x", dome_object_operations(dvec_object(x)), x);
    WRONG(dome_operation_register, env, "", "", DOME_OPERATION_PLAIN);
    WRONG(dome_operation_begin, env, 60000, NULL, NULL, 0);
    WRONG(dome_env_relayout, env, foreign);
    dome_layout_unref(foreign);
}

static void of_messages(void)
{
    int in = 0, out = 0;
    size_t one = 1;
    const dome_reduction none = (dome_reduction)99;
    WRONG(dome_allreduce, env, DOME_I32, &in, 1, none);
    WRONG(dome_reduce, env, 99, DOME_I32, &in, 1, DOME_SUM);
    WRONG(dome_scan, env, DOME_I32, &in, 1, none);
    WRONG(dome_exscan, env, DOME_I32, &in, 1, none);
    WRONG(dome_reduce_with, env, 99, DOME_I32, &in, 1, combine, NULL);
    WRONG(dome_gather, env, 99, DOME_I32, &in, 1, &out);
    WRONG(dome_gatherv, env, 99, DOME_I32, &in, &one, &out);
    WRONG(dome_scatter, env, 99, DOME_I32, &in, 1, &out);
    WRONG(dome_scatterv, env, 99, DOME_I32, &in, &one, &out);
    WRONG(dome_send, env, 99, 0, DOME_I32, &in, 1);
    WRONG(dome_recv, env, 99, 0, DOME_I32, &in, 1, NULL);
    WRONG(dome_isend, env, 99, 0, DOME_I32, &in, 1);
    WRONG(dome_irecv, env, 99, 0, DOME_I32, &in, 1);
}

static void of_regions(void)
{
    dome_lock *lock = only_names ? NULL : dome_lock_new(env, "lock");
    char name[DOME_NAME_MAX + 2];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    WRONG(dome_region_new, env, "x", DOME_F64, 5, NULL);
    WRONG(dome_region_new, env, NULL, DOME_F64, 5, DOME_REGION_OPTIONS(.block = 3));
    WRONG(dome_lock_new, env, name);
    WRONG(dome_lock_release, lock);
    if (!only_names)
        dome_lock_acquire(lock);
    WRONG(dome_lock_acquire, lock);
    if (!only_names)
        dome_lock_release(lock);
    dome_lock_free(lock);
}

static void of_scalars(void)
{
    const double two[2] = {0.5, 1};
    double place[2];
    WRONG(dscalar_new, env, "real", DOME_F64);
    WRONG(dscalar_set_i64, pair, 1);
    WRONG(dscalar_set_f64, integer, 0.5);
    WRONG(dscalar_set_c128, integer, two);
    WRONG(dscalar_get_i64, pair);
    WRONG(dscalar_get_f64, pair);
    WRONG(dscalar_get_c128, pair, place);
    WRONG(dscalar_copy, real, integer);
    WRONG(dscalar_add, real, integer, real);
    WRONG(dscalar_sub, real, integer, real);
    WRONG(dscalar_mul, real, integer, real);
    WRONG(dscalar_div, real, integer, real);
    WRONG(dscalar_min, real, integer, real);
    WRONG(dscalar_max, real, integer, real);
    WRONG(dscalar_neg, pair, pair);
    WRONG(dscalar_abs, pair, pair);
    WRONG(dscalar_sqrt, integer, integer);
    WRONG(dscalar_adds, integer, integer, 0.5);
    WRONG(dscalar_muls, integer, integer, 0.5);
    WRONG(dscalar_rdivs, integer, integer, 0.5);
    WRONG(dvec_sum_into, integer, x);
    WRONG(dvec_dot_into, real, x, other);
    WRONG(dvec_norm2_into, integer, whole);
    WRONG(dvec_min_value_into, real, empty);
    WRONG(dvec_max_value_into, real, empty);
    WRONG(dvec_axpy_by, x, integer, x);
    WRONG(dvec_aypx_by, x, integer, x);
    WRONG(dvec_axpby_by, x, integer, x, integer);
    WRONG(dvec_muls_by, x, x, integer);
}

static void of_vectors(void)
{
    const dvec_options none = {.size = sizeof none, .block = 3};
    const dvec_options unknown = {.size = 3};
    WRONG(dvec_new, env, "x", DOME_F64, 5);
    WRONG(dvec_new_with, env, NULL, DOME_F64, 5, &none);
    WRONG(dvec_new_with, env, NULL, DOME_F64, 5, &unknown);
    WRONG(dvec_new_with, env, "x", DOME_F64, 5, NULL);
    WRONG(dvec_new_like, x, "x");
    WRONG(dvec_clone, x, "x");
    WRONG(dvec_write, x, "/nowhere/x.npy");
    WRONG(dvec_write_zarr, x, "x.zarr", &(dvec_zarr_options){.size = sizeof(dvec_zarr_options), .version = 9});
    WRONG(dvec_read, env, NULL, "/nowhere/x.npy");
    WRONG(dvec_read_with, env, NULL, "/nowhere/x.npy", &none);
    WRONG(dvec_read_with, env, NULL, "/nowhere/x.npy", NULL);
    WRONG(dvec_read_with, env, NULL, "/nowhere/x.npy", &unknown);
    dvec *read[1];
    const dvec_column column[] = {DVEC_COLUMN(.number = 0)}, odd[] = {{.size = 3}};
    WRONG(dvec_read_columns, env, "/nowhere/x.csv", 1, column, NULL, read);
    WRONG(dvec_read_columns, env, "/nowhere/x.csv", 0, column, NULL, read);
    WRONG(dvec_read_columns, env, "/nowhere/x.csv", 1, odd, NULL, read);
    WRONG(dvec_read_columns, env, "/nowhere/x.csv", 1, column, &(dvec_text_options){.size = 3}, read);
    WRONG(dvec_read_text, env, NULL, "/nowhere/x.csv", NULL);
    WRONG(dvec_read_text, env, NULL, "/nowhere/x.csv", DVEC_TEXT_OPTIONS(.separator = '"'));
}

static void element_wise(void)
{
    const double one[2] = {1, 0}, coefficient = 0.5;
    const dvec *const terms[] = {other};
#define TWO_INPUTS(function)                                                                                                     \
    WRONG(function, x, x, other);                                                                                                \
    WRONG(function, pairs, pairs, pairs)
#define ONE_INPUT(function)                                                                                                      \
    WRONG(function, x, other);                                                                                                   \
    WRONG(function, pairs, pairs)
#define A_NUMBER(function)                                                                                                       \
    WRONG(function, x, other, 1);                                                                                                \
    WRONG(function, pairs, pairs, 1)
    WRONG(dvec_fill, whole, 0.5);
    WRONG(dvec_fill, pairs, 1);
    WRONG(dvec_iota, pairs);
    WRONG(dvec_random, pairs, 1);
    WRONG(dvec_random_normal, pairs, 1);
    WRONG(dvec_random_normal, whole, 1);
    WRONG(dvec_copy, x, other);
    WRONG(dvec_copy, x, pairs);
    WRONG(dvec_convert, x, other);
    WRONG(dvec_convert, pairs, x);
    TWO_INPUTS(dvec_add);
    TWO_INPUTS(dvec_sub);
    TWO_INPUTS(dvec_mul);
    TWO_INPUTS(dvec_div);
    TWO_INPUTS(dvec_min);
    TWO_INPUTS(dvec_max);
    TWO_INPUTS(dvec_pow);
    TWO_INPUTS(dvec_fmod);
    TWO_INPUTS(dvec_atan2);
    TWO_INPUTS(dvec_hypot);
    TWO_INPUTS(dvec_floor_divide);
    TWO_INPUTS(dvec_remainder);
    TWO_INPUTS(dvec_copysign);
    TWO_INPUTS(dvec_nextafter);
    TWO_INPUTS(dvec_logaddexp);
    TWO_INPUTS(dvec_bitand);
    TWO_INPUTS(dvec_bitor);
    TWO_INPUTS(dvec_bitxor);
    TWO_INPUTS(dvec_lshift);
    TWO_INPUTS(dvec_rshift);
    A_NUMBER(dvec_adds);
    A_NUMBER(dvec_subs);
    A_NUMBER(dvec_muls);
    A_NUMBER(dvec_divs);
    A_NUMBER(dvec_mins);
    A_NUMBER(dvec_maxs);
    A_NUMBER(dvec_pows);
    A_NUMBER(dvec_rsubs);
    A_NUMBER(dvec_rdivs);
    A_NUMBER(dvec_rpows);
    A_NUMBER(dvec_fmods);
    A_NUMBER(dvec_floor_divides);
    A_NUMBER(dvec_remainders);
    A_NUMBER(dvec_bitands);
    A_NUMBER(dvec_bitors);
    A_NUMBER(dvec_bitxors);
    A_NUMBER(dvec_lshifts);
    A_NUMBER(dvec_rshifts);
    WRONG(dvec_axpy, x, 1, other);
    WRONG(dvec_axpby, x, 1, other, 1);
    WRONG(dvec_linear_combination, x, 1, &coefficient, terms);
    WRONG(dvec_axpy_struct, pairs, one, pairs);
    WRONG(dvec_fill_c128, x, one);
    WRONG(dvec_adds_c128, x, x, one);
    WRONG(dvec_subs_c128, x, x, one);
    WRONG(dvec_muls_c128, x, x, one);
    WRONG(dvec_divs_c128, x, x, one);
    WRONG(dvec_axpy_c128, x, one, x);
    ONE_INPUT(dvec_neg);
    ONE_INPUT(dvec_abs);
    ONE_INPUT(dvec_sqrt);
    ONE_INPUT(dvec_exp);
    ONE_INPUT(dvec_log);
    ONE_INPUT(dvec_sin);
    ONE_INPUT(dvec_cos);
    ONE_INPUT(dvec_tan);
    ONE_INPUT(dvec_asin);
    ONE_INPUT(dvec_acos);
    ONE_INPUT(dvec_atan);
    ONE_INPUT(dvec_sinh);
    ONE_INPUT(dvec_cosh);
    ONE_INPUT(dvec_tanh);
    ONE_INPUT(dvec_asinh);
    ONE_INPUT(dvec_acosh);
    ONE_INPUT(dvec_atanh);
    ONE_INPUT(dvec_sign);
    ONE_INPUT(dvec_isnan);
    ONE_INPUT(dvec_isinf);
    ONE_INPUT(dvec_isfinite);
    ONE_INPUT(dvec_signbit);
    ONE_INPUT(dvec_exp2);
    ONE_INPUT(dvec_expm1);
    ONE_INPUT(dvec_log2);
    ONE_INPUT(dvec_log10);
    ONE_INPUT(dvec_log1p);
    ONE_INPUT(dvec_cbrt);
    ONE_INPUT(dvec_erf);
    ONE_INPUT(dvec_erfc);
    ONE_INPUT(dvec_floor);
    ONE_INPUT(dvec_ceil);
    ONE_INPUT(dvec_round);
    ONE_INPUT(dvec_trunc);
    ONE_INPUT(dvec_conj);
    ONE_INPUT(dvec_real);
    ONE_INPUT(dvec_imag);
    ONE_INPUT(dvec_arg);
    ONE_INPUT(dvec_bitnot);
    TWO_INPUTS(dvec_eq);
    TWO_INPUTS(dvec_ne);
    TWO_INPUTS(dvec_lt);
    TWO_INPUTS(dvec_le);
    TWO_INPUTS(dvec_gt);
    TWO_INPUTS(dvec_ge);
    A_NUMBER(dvec_eqs);
    A_NUMBER(dvec_nes);
    A_NUMBER(dvec_lts);
    A_NUMBER(dvec_les);
    A_NUMBER(dvec_gts);
    A_NUMBER(dvec_ges);
    TWO_INPUTS(dvec_and);
    TWO_INPUTS(dvec_or);
    TWO_INPUTS(dvec_xor);
    ONE_INPUT(dvec_not);
    WRONG(dvec_select, x, mask, x, other);
    WRONG(dvec_select, x, x, x, x);
}

static void reductions(void)
{
    double two[2];
    uint64_t position;
    const dvec *const of_pairs[] = {pairs}, *const both[] = {x, x}, *const uneven[] = {x, other};
    WRONG(dvec_sum, pairs);
    WRONG(dvec_sum, failed);
    WRONG(dvec_prod, pairs);
    WRONG(dvec_min_value, empty);
    WRONG(dvec_max_value, pairs);
    WRONG(dvec_dot, x, other);
    WRONG(dvec_norm2, pairs);
    WRONG(dvec_norm1, pairs);
    WRONG(dvec_norm_inf, pairs);
    WRONG(dvec_dots, 1, of_pairs, NULL, two);
    WRONG(dvec_dots, 2, both, uneven, two);
    WRONG(dvec_argmin, empty, &position);
    WRONG(dvec_argmax, pairs, &position);
    WRONG(dvec_sum_i64, x);
    WRONG(dvec_sum_i64, failed);
    WRONG(dvec_min_value_i64, x);
    WRONG(dvec_max_value_i64, x);
    WRONG(dvec_dot_i64, x, x);
    WRONG(dvec_sum_c128, pairs, two);
    WRONG(dvec_prod_c128, pairs, two);
    WRONG(dvec_dot_c128, x, other, two);
    WRONG(dvec_sum_struct, pairs, two);
    WRONG(dvec_min_value_struct, pairs, two);
    WRONG(dvec_max_value_struct, x, two);
    WRONG(dvec_column_sums, x, "field", two);
    WRONG(dvec_column_min_values, x, "field", two);
    WRONG(dvec_column_max_values, pairs, "none", two);
    WRONG(dvec_reduce, empty, NULL, NULL, join, NULL, two);
}

static void movement(void)
{
    const uint64_t far[] = {99};
    double place[8];
    dvec_span spans[2];
    dvec_halo_span halo[2];
    dvec *in[] = {other};
    WRONG(dvec_scan, x, other);
    WRONG(dvec_scan, pairs, pairs);
    WRONG(dvec_roll, x, other, 1);
    WRONG(dvec_shift, x, other, 1, NULL);
    WRONG(dvec_gather, x, x, other);
    WRONG(dvec_scatter, x, x, other);
    WRONG(dvec_scatter_add, x, x, other);
    WRONG(dvec_get, x, 99, place);
    WRONG(dvec_get_many, x, 1, far, place);
    WRONG(dvec_set, x, 99, place);
    WRONG(dvec_allgather, failed);
    WRONG(dvec_print, failed);
    WRONG(dvec_text, failed);
    WRONG(dvec_local_spans, failed, spans);
    WRONG(dvec_local_spans_const, failed, spans);
    WRONG(dvec_halo_elements, x, 99, 99, true, halo);
    WRONG(dvec_halo_planes, x, 99, 99, true, halo);
    WRONG(dvec_stencil, x, of_stencil, NULL, other, 1, 1, false);
    WRONG(dvec_set_shape, x, 1, far);
    WRONG(dvec_map, x, kernel, NULL, 1, in);
    WRONG(dvec_map_runs, x, kernel, NULL, 1, in);
    WRONG(dvec_map_anywhere, x, kernel, NULL, 1, in);
}

static void arrays(void)
{
    const dvec *const types[] = {x, whole};
    const double falling[] = {1, 0};
    double result[2];
    uint64_t counts[1];
    const dvec_view beyond = {.ndim = 1, .offset = 3, .extent = {4}, .stride = {1}};
    WRONG(dvec_sort, x, other);
    WRONG(dvec_argsort, index5, pairs);
    WRONG(dvec_searchsorted, index5, whole, x, false);
    WRONG(dvec_topk, x, 6, true, result, counts);
    WRONG(dvec_topk, pairs, 1, true, result, counts);
    WRONG(dvec_unique, wide, NULL);
    WRONG(dvec_compress, x, other, NULL);
    WRONG(dvec_nonzero, pairs, NULL);
    WRONG(dvec_slice, x, 3, 4, 1, NULL);
    WRONG(dvec_take_view, x, &beyond, NULL);
    WRONG(dvec_copy_view, x, &beyond, x, NULL);
    WRONG(dvec_join_views, 2, types, NULL, 0, NULL);
    WRONG(dvec_roll_view, x, NULL, 1, 1, NULL);
    WRONG(dvec_reduce_view, x, NULL, DVEC_SUM_ALONG, DVEC_AXIS(1), NULL);
    WRONG(dvec_scan_view, x, NULL, DVEC_SUM_ALONG, 1, NULL);
    WRONG(dvec_concatenate, 2, types, NULL);
    WRONG(dvec_factorize, x, whole, false, NULL);
    WRONG(dvec_factorize, index5, pairs, false, NULL);
    WRONG(dvec_exscan, x, other);
    WRONG(dvec_cumprod, x, other);
    WRONG(dvec_sum_by, x, other, 1, result);
    WRONG(dvec_min_by, x, other, 1, result);
    WRONG(dvec_max_by, x, other, 1, result);
    WRONG(dvec_count_by, x, 1, counts);
    WRONG(dvec_histogram, x, 1, 1, 0, counts);
    WRONG(dvec_histogram_edges, x, 1, falling, counts);
    WRONG(dvec_nearest, x, wide, other);
    WRONG(dvec_matmul, x, wide, other);
    WRONG(dvec_transpose_matmul, x, other, result);
}

static void of_matrices(void)
{
    const dsparse_triplet far = {99, 0, 1};
    const dsparse_triplet_c128 far_c128 = {99, 0, {1, 0}};
    const dsparse_triplet_i64 far_i64 = {99, 0, 1};
    const double two[2] = {1, 1};
    uint64_t column[5];
    double value[5], parts[5][2];
    int64_t numbers[5];
    size_t count;
    WRONG(dsparse_new, env, "a", 5, 5);
    WRONG(dsparse_new_of, env, NULL, DOME_U8, 5, 5);
    WRONG(dsparse_assemble, a, 1, &far);
    WRONG(dsparse_assemble_c128, c, 1, &far_c128);
    WRONG(dsparse_assemble_i64, integers, 1, &far_i64);
    WRONG(dsparse_assemble_vectors, a, x, x, other);
    WRONG(dsparse_fill_rows, a, fill_row, NULL);
    WRONG(dsparse_get_row, a, 99, 5, column, value, &count);
    WRONG(dsparse_get_row_c128, c, 99, 5, column, parts, &count);
    WRONG(dsparse_get_row_i64, integers, 99, 5, column, numbers, &count);
    WRONG(dsparse_multiply, other, a, x);
    WRONG(dsparse_multiply_transposed, other, a, x);
    WRONG(dsparse_transpose, b, a);
    WRONG(dsparse_slice, a, 3, 4, 1, NULL);
    WRONG(dsparse_submatrix, a, x, NULL);
    WRONG(dsparse_diagonal, other, a);
    WRONG(dsparse_scale, integers, 0.5);
    WRONG(dsparse_scale_c128, a, two);
    WRONG(dsparse_scale_i64, a, 2);
    WRONG(dsparse_scale_rows, a, other);
    WRONG(dsparse_read, env, NULL, "/nowhere/x.mtx");
    WRONG(dsparse_write, a, "/nowhere/x.mtx");
}

static void loops(void)
{
    dvec_run run;
    dvec *in[] = {other};
    const dvec_operand operands[] = {{.vector = x, .access = DVEC_OVERWRITE, .type = DOME_F64, .bytes = 8},
                                     {.vector = other, .type = DOME_F64, .bytes = 8}};
    double s;
    WRONG(dvec_run_begin, &run, DOME_F64, x, 1, in, 0);
    WRONG(dvec_run_over, &run, 2, operands, 0, 0);
    WRONG_LOOP("DVEC_MAP", DVEC_MAP1(double, x, other, other));
    WRONG_LOOP("DVEC_SUM", DVEC_SUM2(s, double, x, other, x + other));
    WRONG_LOOP("DVEC_MAP_SUM", DVEC_MAP_SUM1(s, double, x, other, other));
    (void)s;
}

/* Functions in which nothing can be wrong but NULL, those whose failure another function reports, and those of views, which
 * return false (tests/multi/views.c). */
static const char *const others[] = {"dome_abort",
                                     "dome_allgather",
                                     "dome_allgatherv",
                                     "dome_allreduce_with",
                                     "dome_alltoall",
                                     "dome_barrier",
                                     "dome_block_size",
                                     "dome_checkpoint",
                                     "dome_delta_error",
                                     "dome_delta_inject",
                                     "dome_delta_inject_of",
                                     "dome_delta_memory",
                                     "dome_delta_merge",
                                     "dome_delta_recover",
                                     "dome_delta_save",
                                     "dome_delta_save_of",
                                     "dome_delta_start",
                                     "dome_delta_stop",
                                     "dome_delta_wrote",
                                     "dome_dickpt_save",
                                     "dome_dickpt_start",
                                     "dome_dickpt_stop",
                                     "dome_env_layout",
                                     "dome_epoch",
                                     "dome_error_clear",
                                     "dome_error_message",
                                     "dome_error_status",
                                     "dome_exscan_with",
                                     "dome_finalize",
                                     "dome_host",
                                     "dome_init",
                                     "dome_is_restarting",
                                     "dome_layout_block",
                                     "dome_layout_block_size",
                                     "dome_layout_blocks",
                                     "dome_layout_equal",
                                     "dome_layout_even",
                                     "dome_layout_length",
                                     "dome_layout_local",
                                     "dome_layout_new",
                                     "dome_layout_owner",
                                     "dome_layout_position",
                                     "dome_layout_ref",
                                     "dome_layout_run",
                                     "dome_layout_spans",
                                     "dome_layout_tasks",
                                     "dome_layout_unref",
                                     "dome_lock_free",
                                     "dome_lock_name",
                                     "dome_object_adopt",
                                     "dome_object_changed",
                                     "dome_object_content",
                                     "dome_object_cost",
                                     "dome_object_count",
                                     "dome_object_delta",
                                     "dome_object_describe",
                                     "dome_object_env",
                                     "dome_object_find",
                                     "dome_object_free",
                                     "dome_object_id",
                                     "dome_object_mark_saved",
                                     "dome_object_name",
                                     "dome_object_next",
                                     "dome_object_operations",
                                     "dome_object_pack",
                                     "dome_object_packed_bytes",
                                     "dome_object_place",
                                     "dome_object_read",
                                     "dome_object_reshape",
                                     "dome_object_sync",
                                     "dome_object_unpack",
                                     "dome_object_values",
                                     "dome_object_write",
                                     "dome_object_write_bytes",
                                     "dome_on_view_in_place",
                                     "dome_operation_end",
                                     "dome_operation_f64_word",
                                     "dome_operation_fail",
                                     "dome_operation_object_word",
                                     "dome_operation_text_word",
                                     "dome_print",
                                     "dome_progress",
                                     "dome_rank",
                                     "dome_region_data",
                                     "dome_region_env",
                                     "dome_region_fetch_add",
                                     "dome_region_free",
                                     "dome_region_length",
                                     "dome_region_name",
                                     "dome_region_object",
                                     "dome_region_spans",
                                     "dome_region_type",
                                     "dome_region_unit",
                                     "dome_region_want",
                                     "dome_region_width",
                                     "dome_region_pitch",
                                     "dome_scan_with",
                                     "dome_set_errors_return",
                                     "dome_size",
                                     "dome_status_name",
                                     "dome_status_text",
                                     "dome_test",
                                     "dome_type_basic",
                                     "dome_type_bytes",
                                     "dome_type_equal",
                                     "dome_type_fields",
                                     "dome_type_kind_of",
                                     "dome_type_name",
                                     "dome_type_pack",
                                     "dome_type_portable_size",
                                     "dome_type_size",
                                     "dome_type_unpack",
                                     "dome_version",
                                     "dome_wait",
                                     "dome_wtime",
                                     "dscalar_free",
                                     "dscalar_get",
                                     "dscalar_name",
                                     "dscalar_object",
                                     "dscalar_set",
                                     "dscalar_type",
                                     "dsparse_columns",
                                     "dsparse_entries",
                                     "dsparse_env",
                                     "dsparse_free",
                                     "dsparse_is_symmetric",
                                     "dsparse_name",
                                     "dsparse_norm_frobenius",
                                     "dsparse_norm_inf",
                                     "dsparse_object",
                                     "dsparse_row_add",
                                     "dsparse_row_add_c128",
                                     "dsparse_row_add_i64",
                                     "dsparse_rows",
                                     "dsparse_type",
                                     "dvec_discard",
                                     "dvec_distribution",
                                     "dvec_env",
                                     "dvec_fill_value",
                                     "dvec_free",
                                     "dvec_length",
                                     "dvec_name",
                                     "dvec_object",
                                     "dvec_run_add",
                                     "dvec_run_add_integers",
                                     "dvec_run_end",
                                     "dvec_run_next",
                                     "dvec_run_sum",
                                     "dvec_run_sums",
                                     "dvec_shape",
                                     "dvec_type",
                                     "dvec_view_array",
                                     "dvec_view_broadcast",
                                     "dvec_view_count",
                                     "dvec_view_flip",
                                     "dvec_view_index",
                                     "dvec_view_insert",
                                     "dvec_view_slice",
                                     "dvec_view_transpose",
                                     "dvec_width"};

static void make(void)
{
    const dome_field fields[] = {{"a", DOME_F64, 0, 1}, {"b", DOME_F64, 8, 1}};
    const dome_type type = dome_type_struct(env, "pair", 16, fields, 2, sizeof(dome_field));
    dome_set_errors_return(env);
    x = dvec_new(env, "x", DOME_F64, 5);
    other = dvec_new(env, "other", DOME_F64, 6);
    mask = dvec_new(env, "mask", DOME_U8, 5);
    index5 = dvec_new(env, "index", DOME_I64, 5);
    pairs = dvec_new(env, "pairs", type, 5);
    wide = dvec_new_with(env, "wide", DOME_F64, 5, DVEC_OPTIONS(.width = 2));
    empty = dvec_new(env, NULL, DOME_F64, 0);
    failed = dvec_new(env, "failed", DOME_I64, 5);
    whole = dvec_new(env, "whole", DOME_I64, 5);
    dvec_div(failed, whole, whole);
    real = dscalar_new(env, "real", DOME_F64);
    integer = dscalar_new(env, "integer", DOME_I32);
    pair = dscalar_new(env, "pair", type);
    a = dsparse_new(env, "a", 5, 5);
    b = dsparse_new(env, "b", 5, 6);
    c = dsparse_new_of(env, "c", DOME_C128, 5, 5);
    integers = dsparse_new_of(env, "integers", DOME_I64, 5, 5);
    dome_checkpoint(env);
}

int main(int argc, char **argv)
{
    only_names = argc > 1 && strcmp(argv[1], "names") == 0;
    if (only_names) {
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            printf("%s\n", others[k]);
    } else {
        env = dome_init(&argc, &argv);
        make();
    }
    of_environment();
    of_messages();
    of_regions();
    of_scalars();
    of_vectors();
    element_wise();
    reductions();
    movement();
    arrays();
    loops();
    of_matrices();
    if (only_names)
        return 0;
    if (failures == 0)
        printf("ok\n");
    dome_error_clear(env);
    int status = dome_finalize(env);
    return failures > 0 || status != 0;
}
