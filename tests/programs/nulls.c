/* Gives every public function NULL for each of its pointers: those that need one report it, as any wrong argument, in a line that
 * names the function. tests/scripts/nulls.sh compares the functions named here with the headers.
 *
 *     nulls            makes the calls
 *     nulls abort      calls dome_abort without an environment
 *     nulls names      prints the functions that are called, and does nothing else */
#include <dome/capture.h>
#include <dome/delta.h>
#include <dome/dome.h>
#include <dome/structure.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dome_env *env;
static int failures;
static bool only_names;
#ifdef DOME_WITH_CHECKPOINT
static const bool with_capture = true;
#else /* the library has nothing of dome/capture.h */
static const bool with_capture = false;
#endif

static bool begins(const char *function)
{
    if (only_names)
        printf("%s\n", function);
    return !only_names;
}

/* as: the function that the line names; with dome-cc it is another one than is called. */
static void expect(const char *call, const char *as, bool refused)
{
    const char *line = dome_error_message(env), *end = line + strlen(as);
    bool named = strncmp(line, as, strlen(as)) == 0 && (*end == ':' || *end == ' ');
    bool right = refused ? dome_error_status(env) == DOME_ERR_ARGUMENT && named : dome_error_status(env) == DOME_OK;
    if (!right) {
        printf("failed: %s: %s: '%s'\n", call, dome_status_name(dome_error_status(env)), line);
        failures++;
    }
    dome_error_clear(env);
}

#define REFUSES_AS(as, function, ...)                                                                                            \
    do {                                                                                                                         \
        if (begins(#function)) {                                                                                                 \
            (void)function(__VA_ARGS__);                                                                                         \
            expect(#function "(" #__VA_ARGS__ ")", as, true);                                                                    \
        }                                                                                                                        \
    } while (0)
#define REFUSES(function, ...) REFUSES_AS(#function, function, __VA_ARGS__)
#define ALLOWS(function, ...)                                                                                                    \
    do {                                                                                                                         \
        if (begins(#function)) {                                                                                                 \
            (void)function(__VA_ARGS__);                                                                                         \
            expect(#function "(" #__VA_ARGS__ ")", "", false);                                                                   \
        }                                                                                                                        \
    } while (0)

/* Functions that need no environment, return -1, and say why by dome_delta_error. */
#define FAILS(function, ...)                                                                                                     \
    do {                                                                                                                         \
        if (begins(#function) && (function(__VA_ARGS__) != -1 || !*dome_delta_error())) {                                        \
            printf("failed: %s(%s)\n", #function, #__VA_ARGS__);                                                                 \
            failures++;                                                                                                          \
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

static void fill_row(void *ctx, uint64_t index, dsparse_row *row)
{
    (void)ctx, (void)index, (void)row;
}

static void of_deltas(void)
{
#ifdef DOME_WITH_CHECKPOINT
    const char *const none[] = {NULL};
    FAILS(dome_delta_memory, NULL, 8, 1);
    FAILS(dome_delta_start, );
    FAILS(dome_delta_save, NULL);
    FAILS(dome_delta_save_of, NULL, NULL, 8);
    FAILS(dome_delta_inject, NULL);
    FAILS(dome_delta_inject_of, NULL, NULL, 8);
    FAILS(dome_delta_inject_of, "file", NULL, 8);
    FAILS(dome_delta_merge, NULL, "file");
    FAILS(dome_delta_merge, "file", NULL);
    FAILS(dome_delta_recover, NULL, 1);
    FAILS(dome_delta_recover, none, 1);
    FAILS(dome_delta_wrote, NULL, 8);
    ALLOWS(dome_delta_stop, );
    ALLOWS(dome_dickpt_stop, NULL);
    begins("dome_dickpt_start");
    begins("dome_dickpt_save");
    begins("dome_delta_error");
#endif
}

/* These need no environment; those that need what they are given end the program without it. */
static void of_capture(void)
{
#ifdef DOME_WITH_CHECKPOINT
    ALLOWS(dome_capture_free, NULL);
    REFUSES_AS("dome_layout_new", dome_capture_layout_new, 10, 1, 2, 0, NULL);
    ALLOWS(dome_capture_layout_even, 10, 3, 2); /* NULL: 3 is no power of two */
    ALLOWS(dome_capture_layout_ref, NULL);
    ALLOWS(dome_capture_layout_unref, NULL);
    ALLOWS(dome_capture_blocks, );
    ALLOWS(dome_capture_captures, );
    ALLOWS(dome_capture_polls, );
    ALLOWS(dome_capture_restored, );
    ALLOWS(dome_capture_hold, );
    ALLOWS(dome_capture_release, );
    ALLOWS(dome_capture_hold_in, NULL);
    ALLOWS(dome_capture_release, );
    ALLOWS(dome_capture_operation, );
    ALLOWS(dome_capture_poll_operations, );
    ALLOWS(dome_capture_finalize, NULL);
    ALLOWS(dome_capture_is_restarting, NULL);
    REFUSES_AS("dome_checkpoint", dome_capture_checkpoint, NULL);
#endif
}

static void on_view(dome_env *of, const dome_view_news *news, void *data)
{
    (void)of, (void)news, (void)data;
}

static void of_environment(void)
{
    int number = 0;
    ALLOWS(dome_finalize, NULL);
    ALLOWS(dome_version, );
    REFUSES(dome_rank, NULL);
    REFUSES(dome_size, NULL);
    REFUSES(dome_host, NULL, 0);
    REFUSES(dome_print, NULL, "text");
    REFUSES(dome_print, env, NULL);
    REFUSES(dome_progress, NULL, 1, 2, "steps");
    ALLOWS(dome_progress, env, 1, 2, NULL);
    REFUSES(dome_checkpoint, NULL);
    REFUSES(dome_resize, NULL, 2);
    REFUSES(dome_epoch, NULL);
    REFUSES(dome_on_view, NULL, on_view, NULL);
    REFUSES(dome_on_view, env, NULL, NULL);
    REFUSES(dome_on_view_in_place, NULL, on_view, NULL);
    REFUSES(dome_on_view_in_place, env, NULL, NULL);
    REFUSES(dome_lost, NULL, &(const dome_span *){NULL});
    REFUSES(dome_is_restarting, NULL);
    REFUSES(dome_barrier, NULL);
    REFUSES(dome_bcast, NULL, 0, DOME_I32, &number, 1);
    REFUSES(dome_bcast, env, 0, NULL, &number, 1);
    REFUSES(dome_bcast, env, 0, DOME_I32, NULL, 1);
    ALLOWS(dome_bcast, env, 0, DOME_I32, NULL, 0);
    REFUSES(dome_set_errors_return, NULL);
    REFUSES(dome_error_status, NULL);
    REFUSES(dome_error_message, NULL);
    REFUSES(dome_error_clear, NULL);
}

static void combine(void *ctx, size_t count, void *inout, const void *in)
{
    (void)ctx, (void)count, (void)inout, (void)in;
}

static void of_collectives(void)
{
    int x = 0, y = 0;
    size_t one = 1, none = 0;
    REFUSES(dome_allreduce, NULL, DOME_I32, &x, 1, DOME_SUM);
    REFUSES(dome_allreduce, env, NULL, &x, 1, DOME_SUM);
    REFUSES(dome_allreduce, env, DOME_I32, NULL, 1, DOME_SUM);
    ALLOWS(dome_allreduce, env, DOME_I32, NULL, 0, DOME_SUM);
    REFUSES(dome_reduce, NULL, 0, DOME_I32, &x, 1, DOME_SUM);
    REFUSES(dome_reduce, env, 0, NULL, &x, 1, DOME_SUM);
    REFUSES(dome_reduce, env, 0, DOME_I32, NULL, 1, DOME_SUM);
    REFUSES(dome_scan, NULL, DOME_I32, &x, 1, DOME_SUM);
    REFUSES(dome_scan, env, NULL, &x, 1, DOME_SUM);
    REFUSES(dome_scan, env, DOME_I32, NULL, 1, DOME_SUM);
    REFUSES(dome_exscan, NULL, DOME_I32, &x, 1, DOME_SUM);
    REFUSES(dome_exscan, env, NULL, &x, 1, DOME_SUM);
    REFUSES(dome_exscan, env, DOME_I32, NULL, 1, DOME_SUM);
    REFUSES(dome_allreduce_with, NULL, DOME_I32, &x, 1, combine, NULL);
    REFUSES(dome_allreduce_with, env, NULL, &x, 1, combine, NULL);
    REFUSES(dome_allreduce_with, env, DOME_I32, NULL, 1, combine, NULL);
    REFUSES(dome_allreduce_with, env, DOME_I32, &x, 1, NULL, NULL);
    REFUSES(dome_reduce_with, NULL, 0, DOME_I32, &x, 1, combine, NULL);
    REFUSES(dome_reduce_with, env, 0, DOME_I32, &x, 1, NULL, NULL);
    REFUSES(dome_scan_with, NULL, DOME_I32, &x, 1, combine, NULL);
    REFUSES(dome_scan_with, env, DOME_I32, &x, 1, NULL, NULL);
    REFUSES(dome_exscan_with, NULL, DOME_I32, &x, 1, combine, NULL);
    REFUSES(dome_exscan_with, env, NULL, &x, 1, combine, NULL);
    REFUSES(dome_exscan_with, env, DOME_I32, NULL, 1, combine, NULL);
    REFUSES(dome_exscan_with, env, DOME_I32, &x, 1, NULL, NULL);
    REFUSES(dome_gather, NULL, 0, DOME_I32, &x, 1, &y);
    REFUSES(dome_gather, env, 0, NULL, &x, 1, &y);
    REFUSES(dome_gather, env, 0, DOME_I32, NULL, 1, &y);
    REFUSES(dome_gather, env, 0, DOME_I32, &x, 1, NULL);
    REFUSES(dome_allgather, NULL, DOME_I32, &x, 1, &y);
    REFUSES(dome_allgather, env, NULL, &x, 1, &y);
    REFUSES(dome_allgather, env, DOME_I32, NULL, 1, &y);
    REFUSES(dome_allgather, env, DOME_I32, &x, 1, NULL);
    ALLOWS(dome_allgather, env, DOME_I32, NULL, 0, NULL);
    REFUSES(dome_gatherv, NULL, 0, DOME_I32, &x, &one, &y);
    REFUSES(dome_gatherv, env, 0, NULL, &x, &one, &y);
    REFUSES(dome_gatherv, env, 0, DOME_I32, NULL, &one, &y);
    REFUSES(dome_gatherv, env, 0, DOME_I32, &x, NULL, &y);
    REFUSES(dome_gatherv, env, 0, DOME_I32, &x, &one, NULL);
    REFUSES(dome_scatter, NULL, 0, DOME_I32, &x, 1, &y);
    REFUSES(dome_scatter, env, 0, NULL, &x, 1, &y);
    REFUSES(dome_scatter, env, 0, DOME_I32, NULL, 1, &y);
    REFUSES(dome_scatter, env, 0, DOME_I32, &x, 1, NULL);
    REFUSES(dome_scatterv, NULL, 0, DOME_I32, &x, &one, &y);
    REFUSES(dome_scatterv, env, 0, NULL, &x, &one, &y);
    REFUSES(dome_scatterv, env, 0, DOME_I32, NULL, &one, &y);
    REFUSES(dome_scatterv, env, 0, DOME_I32, &x, NULL, &y);
    REFUSES(dome_scatterv, env, 0, DOME_I32, &x, &one, NULL);
    REFUSES(dome_allgatherv, NULL, DOME_I32, &x, &one, &y);
    REFUSES(dome_allgatherv, env, NULL, &x, &one, &y);
    REFUSES(dome_allgatherv, env, DOME_I32, NULL, &one, &y);
    REFUSES(dome_allgatherv, env, DOME_I32, &x, NULL, &y);
    REFUSES(dome_allgatherv, env, DOME_I32, &x, &one, NULL);
    REFUSES(dome_alltoall, NULL, DOME_I32, &x, &one, &y, &one);
    REFUSES(dome_alltoall, env, NULL, &x, &one, &y, &one);
    REFUSES(dome_alltoall, env, DOME_I32, NULL, &one, &y, &one);
    REFUSES(dome_alltoall, env, DOME_I32, &x, NULL, &y, &one);
    REFUSES(dome_alltoall, env, DOME_I32, &x, &one, NULL, &one);
    REFUSES(dome_alltoall, env, DOME_I32, &x, &one, &y, NULL);
    ALLOWS(dome_alltoall, env, DOME_I32, NULL, &none, NULL, &none);
}

static void of_messages(void)
{
    int x = 0;
    REFUSES(dome_send, NULL, 0, 0, DOME_I32, &x, 1);
    REFUSES(dome_send, env, 0, 0, NULL, &x, 1);
    REFUSES(dome_send, env, 0, 0, DOME_I32, NULL, 1);
    ALLOWS(dome_send, env, 0, 0, DOME_I32, NULL, 0);
    REFUSES(dome_recv, NULL, 0, 0, DOME_I32, &x, 1, NULL);
    REFUSES(dome_recv, env, 0, 0, NULL, &x, 1, NULL);
    REFUSES(dome_recv, env, 0, 0, DOME_I32, NULL, 1, NULL);
    ALLOWS(dome_recv, env, 0, 0, DOME_I32, NULL, 0, NULL);
    REFUSES(dome_isend, NULL, 0, 0, DOME_I32, &x, 1);
    REFUSES(dome_isend, env, 0, 0, NULL, &x, 1);
    REFUSES(dome_isend, env, 0, 0, DOME_I32, NULL, 1);
    REFUSES(dome_irecv, NULL, 0, 0, DOME_I32, &x, 1);
    REFUSES(dome_irecv, env, 0, 0, NULL, &x, 1);
    REFUSES(dome_irecv, env, 0, 0, DOME_I32, NULL, 1);
    REFUSES(dome_wait, NULL, NULL);
    REFUSES(dome_test, NULL);
}

static void of_regions(void)
{
    REFUSES(dome_region_new, NULL, "r", DOME_F64, 5, NULL);
    REFUSES(dome_region_new, env, "r", NULL, 5, NULL);
    ALLOWS(dome_region_new, env, NULL, DOME_F64, 5, NULL);
    ALLOWS(dome_region_free, NULL);
    REFUSES(dome_region_data, NULL);
    REFUSES(dome_region_env, NULL);
    REFUSES(dome_region_name, NULL);
    REFUSES(dome_region_type, NULL);
    REFUSES(dome_region_length, NULL);
    REFUSES(dome_region_width, NULL);
    REFUSES(dome_region_pitch, NULL);
    REFUSES(dome_region_object, NULL);
    REFUSES(dome_region_unit, NULL);
    REFUSES(dome_region_fetch_add, NULL, 0, 0, NULL, NULL);
    REFUSES(dome_region_want, NULL, 0, 0, false);
    dome_region *r = only_names ? NULL : dome_region_new(env, NULL, DOME_F64, 5, NULL);
    REFUSES(dome_region_spans, r, NULL);
    REFUSES(dome_region_fetch_add, r, 0, 1, NULL, NULL);
    REFUSES(dome_region_spans, NULL, (dome_span[2]){{0, 0}});
    REFUSES(dome_lock_new, NULL, "lock");
    ALLOWS(dome_lock_new, env, NULL);
    REFUSES(dome_lock_acquire, NULL);
    REFUSES(dome_lock_release, NULL);
    ALLOWS(dome_lock_free, NULL);
    REFUSES(dome_lock_name, NULL);
}

static void of_types(void)
{
    const dome_field field = {"a", DOME_F64, 0, 1}, nameless = {NULL, DOME_F64, 0, 1}, typeless = {"a", NULL, 0, 1};
    const dome_type_ops ops = {.size = sizeof ops};
    const size_t one = 1;
    dome_field place;
    char packed[8] = "";
    double value = 0;
    REFUSES(dome_type_struct, NULL, "t", 8, &field, 1, sizeof(dome_field));
    REFUSES(dome_type_struct, env, NULL, 8, &field, 1, sizeof(dome_field));
    REFUSES(dome_type_struct, env, "t", 8, NULL, 1, sizeof(dome_field));
    REFUSES(dome_type_struct, env, "t", 8, &nameless, 1, sizeof(dome_field));
    REFUSES(dome_type_struct, env, "t", 8, &typeless, 1, sizeof(dome_field));
    REFUSES(dome_type_parse, NULL, "t", "{D}", &one, 1, 8);
    REFUSES(dome_type_parse, env, NULL, "{D}", &one, 1, 8);
    REFUSES(dome_type_parse, env, "t", NULL, &one, 1, 8);
    REFUSES(dome_type_parse, env, "t", "{D}", NULL, 1, 8);
    REFUSES(dome_type_set_ops, NULL, DOME_F64, &ops);
    REFUSES(dome_type_set_ops, env, NULL, &ops);
    REFUSES(dome_type_set_ops, env, DOME_F64, NULL);
    REFUSES(dome_type_name, NULL);
    REFUSES(dome_type_kind_of, NULL);
    REFUSES(dome_type_size, NULL);
    REFUSES(dome_type_portable_size, NULL);
    REFUSES(dome_type_fields, NULL);
    REFUSES(dome_type_field, NULL, 0, &place, sizeof place);
    REFUSES(dome_type_field, DOME_F64, 0, NULL, sizeof place);
    REFUSES(dome_type_field, DOME_F64, 0, &place, sizeof place);
    ALLOWS(dome_type_fields, DOME_F64);
    ALLOWS(dome_type_basic, DOME_KIND_STRUCT);
    ALLOWS(dome_type_equal, DOME_F64, NULL);
    ALLOWS(dome_type_equal, NULL, DOME_F64);
    REFUSES(dome_type_bytes, NULL, DOME_NATIVE);
    REFUSES(dome_type_pack, NULL, DOME_PORTABLE, packed, &value, 1);
    REFUSES(dome_type_pack, DOME_F64, DOME_PORTABLE, NULL, &value, 1);
    REFUSES(dome_type_pack, DOME_F64, DOME_PORTABLE, packed, NULL, 1);
    ALLOWS(dome_type_pack, DOME_F64, DOME_PORTABLE, NULL, NULL, 0);
    REFUSES(dome_type_unpack, NULL, DOME_PORTABLE, &value, packed, 1);
    REFUSES(dome_type_unpack, DOME_F64, DOME_PORTABLE, NULL, packed, 1);
    REFUSES(dome_type_unpack, DOME_F64, DOME_PORTABLE, &value, NULL, 1);
}

static void of_layouts(void)
{
    dome_layout *layout = dome_layout_even(10, 1, 2);
    dome_span spans[2];
    REFUSES(dome_layout_new, 10, 1, 2, 0, NULL);
    ALLOWS(dome_layout_ref, NULL);
    ALLOWS(dome_layout_unref, NULL);
    ALLOWS(dome_layout_equal, NULL, layout);
    ALLOWS(dome_layout_equal, layout, NULL);
    REFUSES(dome_layout_length, NULL);
    REFUSES(dome_layout_block_size, NULL);
    REFUSES(dome_layout_blocks, NULL);
    REFUSES(dome_layout_tasks, NULL);
    REFUSES(dome_layout_run, NULL, 0, NULL);
    ALLOWS(dome_layout_run, layout, 0, NULL);
    REFUSES(dome_layout_spans, NULL, 0, spans);
    REFUSES(dome_layout_spans, layout, 0, NULL);
    REFUSES(dome_layout_local, NULL, 0);
    REFUSES(dome_layout_owner, NULL, 0);
    REFUSES(dome_layout_block, NULL, 0);
    REFUSES(dome_layout_position, NULL, 0, 0);
    dome_layout_unref(layout);
}

static void of_objects(dome_object *o)
{
    const dome_object_ops *ops = o ? dome_object_operations(o) : NULL;
    double cost;
    uint64_t bytes;
    dome_object_info info = {.size = sizeof info};
    char buffer[8];
    REFUSES(dome_object_new, NULL, "o", ops, NULL);
    REFUSES(dome_object_new, env, "o", NULL, NULL);
    ALLOWS(dome_object_free, NULL);
    REFUSES(dome_object_content, NULL);
    REFUSES(dome_object_operations, NULL);
    REFUSES(dome_object_env, NULL);
    REFUSES(dome_object_name, NULL);
    REFUSES(dome_object_id, NULL);
    REFUSES(dome_object_next, NULL, NULL);
    ALLOWS(dome_object_next, env, NULL);
    REFUSES(dome_object_find, NULL, "o");
    REFUSES(dome_object_find, env, NULL);
    REFUSES(dome_object_count, NULL);
    REFUSES(dome_object_describe, NULL, &info);
    REFUSES(dome_object_describe, o, NULL);
    REFUSES(dome_object_sync, NULL);
    REFUSES(dome_object_cost, NULL, 0, 1, &cost);
    REFUSES(dome_object_cost, o, 0, 1, NULL);
    REFUSES(dome_object_packed_bytes, NULL, 0, 1, DOME_NATIVE, &bytes);
    REFUSES(dome_object_packed_bytes, o, 0, 1, DOME_NATIVE, NULL);
    REFUSES(dome_object_pack, NULL, 0, 1, DOME_NATIVE, buffer, 8);
    REFUSES(dome_object_pack, o, 0, 1, DOME_NATIVE, NULL, 8);
    REFUSES(dome_object_unpack, NULL, 0, 1, DOME_NATIVE, buffer, 8);
    REFUSES(dome_object_unpack, o, 0, 1, DOME_NATIVE, NULL, 8);
    REFUSES(dome_object_adopt, NULL, NULL);
    REFUSES(dome_object_adopt, o, NULL);
    REFUSES(dome_object_changed, NULL, 0, 1, (bool *)buffer);
    REFUSES(dome_object_changed, o, 0, 1, NULL);
    REFUSES(dome_object_mark_saved, NULL);
    REFUSES(dome_object_delta, NULL, 0, NULL, NULL);
    REFUSES(dome_object_write_bytes, NULL, 0, 1, &bytes);
    REFUSES(dome_object_write_bytes, o, 0, 1, NULL);
    REFUSES(dome_object_write, NULL, 0, 1, buffer, 8);
    REFUSES(dome_object_write, o, 0, 1, NULL, 8);
    REFUSES(dome_object_read, NULL, 0, 1, buffer, 8);
    REFUSES(dome_object_read, o, 0, 1, NULL, 8);
    REFUSES(dome_object_values, NULL, 0, 1);
    REFUSES(dome_object_place, NULL, NULL, 0, 1);
    REFUSES(dome_object_reshape, NULL, 0, NULL);
    REFUSES(dome_object_reshape, o, 1, NULL);
    ALLOWS(dome_object_reshape, o, 0, NULL);
    REFUSES(dome_env_layout, NULL, 10, 0);
    REFUSES(dome_operation_register, NULL, "o", "", DOME_OPERATION_PLAIN);
    REFUSES(dome_operation_register, env, NULL, "", DOME_OPERATION_PLAIN);
    REFUSES(dome_operation_register, env, "o", NULL, DOME_OPERATION_PLAIN);
    REFUSES(dome_operation_begin, NULL, 0, NULL, NULL, 0);
    REFUSES(dome_operation_begin, env, 0, NULL, NULL, 1);
    REFUSES(dome_operation_fail, NULL, DOME_ERR_STATE, "why");
    REFUSES(dome_operation_end, NULL, DOME_OK);
    ALLOWS(dome_operation_object_word, NULL);
    ALLOWS(dome_operation_f64_word, 0);
    ALLOWS(dome_operation_text_word, env, NULL);
    REFUSES(dome_operation_text_word, NULL, NULL);
    REFUSES(dome_env_relayout, NULL, NULL);
    REFUSES(dome_env_relayout, env, NULL);
}

static void of_scalars(dscalar *s, dvec *x)
{
    int64_t value = 0;
    double two[2];
    REFUSES(dscalar_new, NULL, "s", DOME_I64);
    REFUSES(dscalar_new, env, "s", NULL);
    ALLOWS(dscalar_free, NULL);
    REFUSES(dscalar_set_i64, NULL, 1);
    REFUSES(dscalar_set_f64, NULL, 1);
    REFUSES(dscalar_get_i64, NULL);
    REFUSES(dscalar_get_f64, NULL);
    REFUSES(dscalar_set_c128, NULL, two);
    REFUSES(dscalar_set_c128, s, NULL);
    REFUSES(dscalar_get_c128, NULL, two);
    REFUSES(dscalar_get_c128, s, NULL);
    REFUSES(dscalar_set, NULL, &value);
    REFUSES(dscalar_set, s, NULL);
    REFUSES(dscalar_get, NULL, &value);
    REFUSES(dscalar_get, s, NULL);
    REFUSES(dscalar_copy, NULL, s);
    REFUSES(dscalar_copy, s, NULL);
#define TWO_SCALARS(function)                                                                                                    \
    REFUSES(function, NULL, s, s);                                                                                               \
    REFUSES(function, s, NULL, s);                                                                                               \
    REFUSES(function, s, s, NULL)
#define ONE_SCALAR(function, ...)                                                                                                \
    REFUSES(function, NULL, s __VA_ARGS__);                                                                                      \
    REFUSES(function, s, NULL __VA_ARGS__)
    TWO_SCALARS(dscalar_add);
    TWO_SCALARS(dscalar_sub);
    TWO_SCALARS(dscalar_mul);
    TWO_SCALARS(dscalar_div);
    TWO_SCALARS(dscalar_min);
    TWO_SCALARS(dscalar_max);
    ONE_SCALAR(dscalar_neg);
    ONE_SCALAR(dscalar_abs);
    ONE_SCALAR(dscalar_sqrt);
    ONE_SCALAR(dscalar_adds, , 1);
    ONE_SCALAR(dscalar_muls, , 1);
    ONE_SCALAR(dscalar_rdivs, , 1);
    REFUSES(dvec_sum_into, NULL, x);
    REFUSES(dvec_sum_into, s, NULL);
    REFUSES(dvec_dot_into, NULL, x, x);
    REFUSES(dvec_dot_into, s, NULL, x);
    REFUSES(dvec_dot_into, s, x, NULL);
    REFUSES(dvec_norm2_into, NULL, x);
    REFUSES(dvec_norm2_into, s, NULL);
    REFUSES(dvec_min_value_into, NULL, x);
    REFUSES(dvec_min_value_into, s, NULL);
    REFUSES(dvec_max_value_into, NULL, x);
    REFUSES(dvec_max_value_into, s, NULL);
    REFUSES(dvec_axpy_by, NULL, s, x);
    REFUSES(dvec_axpy_by, x, NULL, x);
    REFUSES(dvec_axpy_by, x, s, NULL);
    REFUSES(dvec_aypx_by, NULL, s, x);
    REFUSES(dvec_aypx_by, x, NULL, x);
    REFUSES(dvec_aypx_by, x, s, NULL);
    REFUSES(dvec_axpby_by, NULL, s, x, s);
    REFUSES(dvec_axpby_by, x, NULL, x, s);
    REFUSES(dvec_axpby_by, x, s, NULL, s);
    REFUSES(dvec_axpby_by, x, s, x, NULL);
    REFUSES(dvec_muls_by, NULL, x, s);
    REFUSES(dvec_muls_by, x, NULL, s);
    REFUSES(dvec_muls_by, x, x, NULL);
    REFUSES(dscalar_type, NULL);
    REFUSES(dscalar_name, NULL);
    REFUSES(dscalar_object, NULL);
}

#define BINARY(function, z, x, y)                                                                                                \
    REFUSES(function, NULL, x, y);                                                                                               \
    REFUSES(function, z, NULL, y);                                                                                               \
    REFUSES(function, z, x, NULL)
#define UNARY(function, z, x)                                                                                                    \
    REFUSES(function, NULL, x);                                                                                                  \
    REFUSES(function, z, NULL)
#define WITH_NUMBER(function, z, x)                                                                                              \
    REFUSES(function, NULL, x, 1);                                                                                               \
    REFUSES(function, z, NULL, 1)

static void views(dvec *x)
{
    const uint64_t extent[] = {1};
    const dvec *const vectors[] = {x}, *const none[] = {NULL};
    ALLOWS(dvec_view_transpose, &(dvec_view){.ndim = 1, .extent = {1}}, NULL);
    REFUSES(dvec_view_array, NULL, 1, extent);
    REFUSES(dvec_view_transpose, NULL, NULL);
    REFUSES(dvec_view_slice, NULL, 0, 0, 1, 1);
    REFUSES(dvec_view_index, NULL, 0, 0);
    REFUSES(dvec_view_flip, NULL, 0);
    REFUSES(dvec_view_insert, NULL, 0);
    REFUSES(dvec_view_broadcast, NULL, 1, extent);
    REFUSES(dvec_view_count, NULL);
    REFUSES(dvec_take_view, NULL, NULL, NULL);
    REFUSES(dvec_copy_view, NULL, NULL, x, NULL);
    REFUSES(dvec_copy_view, x, NULL, NULL, NULL);
    REFUSES(dvec_join_views, 1, NULL, NULL, 0, NULL);
    REFUSES(dvec_join_views, 1, none, NULL, 0, NULL);
    REFUSES(dvec_join_views, 0, vectors, NULL, 0, NULL);
    REFUSES(dvec_roll_view, NULL, NULL, 0, 1, NULL);
    REFUSES(dvec_reduce_view, NULL, NULL, DVEC_SUM_ALONG, 1, NULL);
    REFUSES(dvec_scan_view, NULL, NULL, DVEC_SUM_ALONG, 0, NULL);
}

static void element_wise(dvec *x, dvec *mask)
{
    double value = 0;
    const double one[2] = {1, 0};
    const dvec *const vectors[] = {x}, *const none[] = {NULL};
    REFUSES(dvec_fill, NULL, 1);
    REFUSES(dvec_fill_value, NULL, &value);
    REFUSES(dvec_fill_value, x, NULL);
    REFUSES(dvec_iota, NULL);
    REFUSES(dvec_random, NULL, 1);
    REFUSES(dvec_random_normal, NULL, 1);
    UNARY(dvec_copy, x, x);
    UNARY(dvec_convert, x, x);
    BINARY(dvec_add, x, x, x);
    BINARY(dvec_sub, x, x, x);
    BINARY(dvec_mul, x, x, x);
    BINARY(dvec_div, x, x, x);
    BINARY(dvec_min, x, x, x);
    BINARY(dvec_max, x, x, x);
    BINARY(dvec_pow, x, x, x);
    BINARY(dvec_fmod, x, x, x);
    BINARY(dvec_atan2, x, x, x);
    BINARY(dvec_hypot, x, x, x);
    BINARY(dvec_floor_divide, x, x, x);
    BINARY(dvec_remainder, x, x, x);
    BINARY(dvec_copysign, x, x, x);
    BINARY(dvec_nextafter, x, x, x);
    BINARY(dvec_logaddexp, x, x, x);
    BINARY(dvec_bitand, x, x, x);
    BINARY(dvec_bitor, x, x, x);
    BINARY(dvec_bitxor, x, x, x);
    BINARY(dvec_lshift, x, x, x);
    BINARY(dvec_rshift, x, x, x);
    WITH_NUMBER(dvec_adds, x, x);
    WITH_NUMBER(dvec_subs, x, x);
    WITH_NUMBER(dvec_muls, x, x);
    WITH_NUMBER(dvec_divs, x, x);
    WITH_NUMBER(dvec_mins, x, x);
    WITH_NUMBER(dvec_maxs, x, x);
    WITH_NUMBER(dvec_pows, x, x);
    WITH_NUMBER(dvec_rsubs, x, x);
    WITH_NUMBER(dvec_rdivs, x, x);
    WITH_NUMBER(dvec_rpows, x, x);
    WITH_NUMBER(dvec_fmods, x, x);
    WITH_NUMBER(dvec_floor_divides, x, x);
    WITH_NUMBER(dvec_remainders, x, x);
    WITH_NUMBER(dvec_bitands, x, x);
    WITH_NUMBER(dvec_bitors, x, x);
    WITH_NUMBER(dvec_bitxors, x, x);
    WITH_NUMBER(dvec_lshifts, x, x);
    WITH_NUMBER(dvec_rshifts, x, x);
    REFUSES(dvec_axpy, NULL, 1, x);
    REFUSES(dvec_axpy, x, 1, NULL);
    UNARY(dvec_neg, x, x);
    REFUSES(dvec_axpy_struct, NULL, "scalar", x);
    REFUSES(dvec_axpy_struct, x, NULL, x);
    REFUSES(dvec_axpy_struct, x, "scalar", NULL);
    REFUSES(dvec_axpby, NULL, 1, x, 1);
    REFUSES(dvec_axpby, x, 1, NULL, 1);
    REFUSES(dvec_linear_combination, NULL, 1, one, vectors);
    REFUSES(dvec_linear_combination, x, 1, NULL, vectors);
    REFUSES(dvec_linear_combination, x, 1, one, NULL);
    REFUSES(dvec_linear_combination, x, 1, one, none);
    REFUSES(dvec_linear_combination, x, 0, one, vectors);
    REFUSES(dvec_fill_c128, NULL, one);
    REFUSES(dvec_fill_c128, x, NULL);
    BINARY(dvec_adds_c128, x, x, one);
    BINARY(dvec_subs_c128, x, x, one);
    BINARY(dvec_muls_c128, x, x, one);
    BINARY(dvec_divs_c128, x, x, one);
    REFUSES(dvec_axpy_c128, NULL, one, x);
    REFUSES(dvec_axpy_c128, x, NULL, x);
    REFUSES(dvec_axpy_c128, x, one, NULL);
    UNARY(dvec_abs, x, x);
    UNARY(dvec_sqrt, x, x);
    UNARY(dvec_exp, x, x);
    UNARY(dvec_log, x, x);
    UNARY(dvec_sin, x, x);
    UNARY(dvec_cos, x, x);
    UNARY(dvec_tan, x, x);
    UNARY(dvec_asin, x, x);
    UNARY(dvec_acos, x, x);
    UNARY(dvec_atan, x, x);
    UNARY(dvec_sinh, x, x);
    UNARY(dvec_cosh, x, x);
    UNARY(dvec_tanh, x, x);
    UNARY(dvec_asinh, x, x);
    UNARY(dvec_acosh, x, x);
    UNARY(dvec_atanh, x, x);
    UNARY(dvec_sign, x, x);
    UNARY(dvec_isnan, mask, x);
    UNARY(dvec_isinf, mask, x);
    UNARY(dvec_isfinite, mask, x);
    UNARY(dvec_signbit, mask, x);
    UNARY(dvec_exp2, x, x);
    UNARY(dvec_expm1, x, x);
    UNARY(dvec_log2, x, x);
    UNARY(dvec_log10, x, x);
    UNARY(dvec_log1p, x, x);
    UNARY(dvec_cbrt, x, x);
    UNARY(dvec_erf, x, x);
    UNARY(dvec_erfc, x, x);
    UNARY(dvec_floor, x, x);
    UNARY(dvec_ceil, x, x);
    UNARY(dvec_round, x, x);
    UNARY(dvec_trunc, x, x);
    UNARY(dvec_conj, x, x);
    UNARY(dvec_real, x, x);
    UNARY(dvec_imag, x, x);
    UNARY(dvec_arg, x, x);
    UNARY(dvec_bitnot, x, x);
    BINARY(dvec_eq, mask, x, x);
    BINARY(dvec_ne, mask, x, x);
    BINARY(dvec_lt, mask, x, x);
    BINARY(dvec_le, mask, x, x);
    BINARY(dvec_gt, mask, x, x);
    BINARY(dvec_ge, mask, x, x);
    WITH_NUMBER(dvec_eqs, mask, x);
    WITH_NUMBER(dvec_nes, mask, x);
    WITH_NUMBER(dvec_lts, mask, x);
    WITH_NUMBER(dvec_les, mask, x);
    WITH_NUMBER(dvec_gts, mask, x);
    WITH_NUMBER(dvec_ges, mask, x);
    BINARY(dvec_and, mask, mask, mask);
    BINARY(dvec_or, mask, mask, mask);
    BINARY(dvec_xor, mask, mask, mask);
    UNARY(dvec_not, mask, mask);
    REFUSES(dvec_select, NULL, mask, x, x);
    REFUSES(dvec_select, x, NULL, x, x);
    REFUSES(dvec_select, x, mask, NULL, x);
    REFUSES(dvec_select, x, mask, x, NULL);
}

static void reductions(const dvec *x)
{
    double two[2];
    uint64_t position;
    const dvec *const one[] = {x}, *const none[] = {NULL}, *const second[] = {x, NULL};
    REFUSES(dvec_sum, NULL);
    REFUSES(dvec_prod, NULL);
    REFUSES(dvec_min_value, NULL);
    REFUSES(dvec_max_value, NULL);
    UNARY(dvec_dot, x, x);
    REFUSES(dvec_norm2, NULL);
    REFUSES(dvec_norm1, NULL);
    REFUSES(dvec_norm_inf, NULL);
    REFUSES(dvec_column_sums, NULL, NULL, two);
    REFUSES(dvec_column_sums, x, NULL, NULL);
    ALLOWS(dvec_column_sums, x, NULL, two);
    REFUSES(dvec_column_min_values, NULL, NULL, two);
    REFUSES(dvec_column_min_values, x, NULL, NULL);
    REFUSES(dvec_column_max_values, NULL, NULL, two);
    REFUSES(dvec_column_max_values, x, NULL, NULL);
    REFUSES(dvec_dots, 1, NULL, NULL, two);
    REFUSES(dvec_dots, 1, none, NULL, two);
    REFUSES(dvec_dots, 2, second, NULL, two);
    REFUSES(dvec_dots, 1, one, NULL, NULL);
    REFUSES(dvec_dots, 0, one, NULL, two);
    ALLOWS(dvec_dots, 1, one, NULL, two);
    ALLOWS(dvec_dots, 1, one, none, two);
    REFUSES(dvec_sum_struct, NULL, two);
    REFUSES(dvec_sum_struct, x, NULL);
    REFUSES(dvec_min_value_struct, NULL, two);
    REFUSES(dvec_min_value_struct, x, NULL);
    REFUSES(dvec_max_value_struct, NULL, two);
    REFUSES(dvec_max_value_struct, x, NULL);
    REFUSES(dvec_reduce, NULL, NULL, NULL, join, NULL, two);
    REFUSES(dvec_reduce, x, NULL, NULL, NULL, NULL, two);
    REFUSES(dvec_reduce, x, NULL, NULL, join, NULL, NULL);
    ALLOWS(dvec_reduce, x, NULL, NULL, join, NULL, two);
    REFUSES(dvec_argmin, NULL, &position);
    REFUSES(dvec_argmin, x, NULL);
    REFUSES(dvec_argmax, NULL, &position);
    REFUSES(dvec_argmax, x, NULL);
    REFUSES(dvec_sum_i64, NULL);
    REFUSES(dvec_min_value_i64, NULL);
    REFUSES(dvec_max_value_i64, NULL);
    REFUSES(dvec_dot_i64, NULL, x);
    REFUSES(dvec_dot_i64, x, NULL);
    REFUSES(dvec_sum_c128, NULL, two);
    REFUSES(dvec_sum_c128, x, NULL);
    REFUSES(dvec_prod_c128, NULL, two);
    REFUSES(dvec_prod_c128, x, NULL);
    REFUSES(dvec_dot_c128, NULL, x, two);
    REFUSES(dvec_dot_c128, x, NULL, two);
    REFUSES(dvec_dot_c128, x, x, NULL);
}

static void movement(dvec *x, dvec *index)
{
    const uint64_t first = 0;
    uint64_t shape[DOME_MAX_DIMENSIONS];
    dvec_span spans[2];
    dvec_halo_span halo[2];
    UNARY(dvec_scan, x, x);
    WITH_NUMBER(dvec_roll, x, x);
    REFUSES(dvec_shift, NULL, x, 1, NULL);
    REFUSES(dvec_shift, x, NULL, 1, NULL);
    ALLOWS(dvec_shift, x, x, 1, NULL);
    BINARY(dvec_gather, x, x, index);
    BINARY(dvec_scatter, x, x, index);
    BINARY(dvec_scatter_add, x, x, index);
    REFUSES(dvec_get, NULL, 0, spans);
    REFUSES(dvec_get, x, 0, NULL);
    REFUSES(dvec_get_many, NULL, 1, &first, spans);
    REFUSES(dvec_get_many, x, 1, NULL, spans);
    REFUSES(dvec_get_many, x, 1, &first, NULL);
    ALLOWS(dvec_get_many, x, 0, NULL, NULL);
    REFUSES(dvec_set, NULL, 0, spans);
    REFUSES(dvec_set, x, 0, NULL);
    REFUSES(dvec_allgather, NULL);
    REFUSES(dvec_print, NULL);
    REFUSES(dvec_text, NULL);
    REFUSES(dvec_local_spans, NULL, spans);
    REFUSES(dvec_local_spans, x, NULL);
    REFUSES(dvec_local_spans_const, NULL, spans);
    REFUSES(dvec_local_spans_const, x, NULL);
    REFUSES(dvec_halo_elements, NULL, 1, 1, false, halo);
    REFUSES(dvec_halo_elements, x, 1, 1, false, NULL);
    REFUSES(dvec_halo_planes, NULL, 1, 1, false, halo);
    REFUSES(dvec_halo_planes, x, 1, 1, false, NULL);
    REFUSES(dvec_stencil, NULL, of_stencil, NULL, x, 1, 1, false);
    REFUSES(dvec_stencil, x, NULL, NULL, index, 1, 1, false);
    REFUSES(dvec_stencil, x, of_stencil, NULL, NULL, 1, 1, false);
    ALLOWS(dvec_stencil, x, of_stencil, NULL, index, 1, 1, false);
    REFUSES(dvec_set_shape, NULL, 1, &first);
    REFUSES(dvec_set_shape, x, 1, NULL);
    ALLOWS(dvec_set_shape, x, 0, NULL);
    REFUSES(dvec_shape, NULL, shape);
    REFUSES(dvec_shape, x, NULL);
    REFUSES(dvec_map, NULL, kernel, NULL, 0, NULL);
    REFUSES(dvec_map, x, NULL, NULL, 0, NULL);
    REFUSES(dvec_map, x, kernel, NULL, 1, NULL);
    REFUSES(dvec_map, x, kernel, NULL, 1, (dvec *[]){NULL});
    ALLOWS(dvec_map, x, kernel, NULL, 0, NULL);
    REFUSES(dvec_map_runs, NULL, kernel, NULL, 0, NULL);
    REFUSES(dvec_map_runs, x, NULL, NULL, 0, NULL);
    REFUSES(dvec_map_anywhere, NULL, kernel, NULL, 0, NULL);
    REFUSES(dvec_map_anywhere, x, NULL, NULL, 0, NULL);
    REFUSES(dvec_map_anywhere, x, kernel, NULL, 1, (dvec *[]){NULL});
}

static void arrays(dvec *x, dvec *index)
{
    dvec *mask = env ? dvec_new(env, NULL, DOME_U8, 5) : NULL, *place = env ? dvec_new(env, NULL, DOME_I64, 5) : NULL;
    const dvec *const one[] = {x}, *const none[] = {NULL}, *const second[] = {x, NULL};
    const double edges[] = {0, 1};
    double result[1];
    uint64_t counts[1];
    UNARY(dvec_sort, x, x);
    UNARY(dvec_argsort, place, x);
    REFUSES(dvec_searchsorted, NULL, x, x, false);
    REFUSES(dvec_searchsorted, place, NULL, x, false);
    REFUSES(dvec_searchsorted, place, x, NULL, false);
    REFUSES(dvec_topk, NULL, 1, true, result, counts);
    ALLOWS(dvec_topk, x, 1, true, NULL, NULL);
    REFUSES(dvec_unique, NULL, "v");
    ALLOWS(dvec_unique, x, NULL);
    REFUSES(dvec_compress, NULL, mask, "v");
    REFUSES(dvec_compress, x, NULL, "v");
    ALLOWS(dvec_compress, x, mask, NULL);
    REFUSES(dvec_nonzero, NULL, "v");
    ALLOWS(dvec_nonzero, x, NULL);
    REFUSES(dvec_slice, NULL, 0, 1, 1, "v");
    ALLOWS(dvec_slice, x, 0, 1, 1, NULL);
    REFUSES(dvec_concatenate, 1, NULL, "v");
    REFUSES(dvec_concatenate, 1, none, "v");
    REFUSES(dvec_concatenate, 2, second, "v");
    REFUSES(dvec_concatenate, 0, one, "v");
    ALLOWS(dvec_concatenate, 1, one, NULL);
    REFUSES(dvec_factorize, NULL, x, false, "v");
    REFUSES(dvec_factorize, place, NULL, false, "v");
    ALLOWS(dvec_factorize, place, x, true, NULL);
    UNARY(dvec_exscan, x, x);
    UNARY(dvec_cumprod, x, x);
    if (env)
        dvec_fill(index, 0);
    REFUSES(dvec_sum_by, NULL, index, 1, result);
    REFUSES(dvec_sum_by, x, NULL, 1, result);
    REFUSES(dvec_sum_by, x, index, 1, NULL);
    ALLOWS(dvec_sum_by, x, index, 1, result);
    REFUSES(dvec_min_by, NULL, index, 1, result);
    REFUSES(dvec_min_by, x, NULL, 1, result);
    REFUSES(dvec_min_by, x, index, 1, NULL);
    REFUSES(dvec_max_by, NULL, index, 1, result);
    REFUSES(dvec_max_by, x, NULL, 1, result);
    REFUSES(dvec_max_by, x, index, 1, NULL);
    REFUSES(dvec_count_by, NULL, 1, counts);
    REFUSES(dvec_count_by, index, 1, NULL);
    REFUSES(dvec_histogram, NULL, 1, 0, 1, counts);
    REFUSES(dvec_histogram, x, 1, 0, 1, NULL);
    REFUSES(dvec_histogram_edges, NULL, 1, edges, counts);
    REFUSES(dvec_histogram_edges, x, 1, NULL, counts);
    REFUSES(dvec_histogram_edges, x, 1, edges, NULL);
    REFUSES(dvec_nearest, NULL, x, x);
    REFUSES(dvec_nearest, index, NULL, x);
    REFUSES(dvec_nearest, index, x, NULL);
    REFUSES(dvec_matmul, NULL, x, x);
    REFUSES(dvec_matmul, place, NULL, x);
    REFUSES(dvec_matmul, place, x, NULL);
    REFUSES(dvec_transpose_matmul, NULL, x, result);
    REFUSES(dvec_transpose_matmul, x, NULL, result);
    REFUSES(dvec_transpose_matmul, x, x, NULL);
    ALLOWS(dvec_transpose_matmul, x, x, result);
    dvec_free(mask);
    dvec_free(place);
}

static void loops(dvec *x)
{
    dvec_run run;
    const double part[DVEC_RUN_PARTS] = {0};
    const uint64_t low[DVEC_RUN_PARTS] = {0};
    const int64_t high[DVEC_RUN_PARTS] = {0};
    REFUSES(dvec_run_begin, NULL, DOME_F64, x, 0, NULL, 0);
    REFUSES(dvec_run_begin, &run, DOME_F64, NULL, 0, NULL, 0);
    REFUSES(dvec_run_begin, &run, DOME_F64, x, 1, (dvec *[]){NULL}, 0);
    REFUSES(dvec_run_begin, &run, DOME_F64, x, 1, NULL, 0);
    REFUSES(dvec_run_next, NULL);
    REFUSES(dvec_run_add, NULL, part);
    REFUSES(dvec_run_add, &run, NULL);
    REFUSES(dvec_run_add_integers, NULL, low, high);
    REFUSES(dvec_run_add_integers, &run, NULL, high);
    REFUSES(dvec_run_add_integers, &run, low, NULL);
    REFUSES(dvec_run_sum, NULL);
    const dvec_operand none = {NULL, DOME_F64, sizeof(double), DVEC_READ}, good = {x, DOME_F64, sizeof(double), DVEC_READ};
    double sum;
    REFUSES(dvec_run_over, NULL, 1, &good, 0, 0);
    REFUSES(dvec_run_over, &run, 1, NULL, 0, 0);
    REFUSES(dvec_run_over, &run, 1, &none, 0, 0);
    REFUSES(dvec_run_over, &run, 2, (const dvec_operand[]){good, none}, 0, 0);
    REFUSES(dvec_run_sums, NULL, &sum);
    REFUSES(dvec_run_sums, &run, NULL);
    REFUSES(dvec_run_end, NULL);
}

static void of_vectors(dvec *x)
{
    REFUSES(dvec_new, NULL, "v", DOME_F64, 5);
    REFUSES(dvec_new, env, "v", NULL, 5);
    REFUSES(dvec_new_with, NULL, "v", DOME_F64, 5, NULL);
    REFUSES(dvec_new_with, env, "v", NULL, 5, NULL);
    ALLOWS(dvec_new_with, env, NULL, DOME_F64, 5, NULL);
    REFUSES(dvec_new_like, NULL, "v");
    ALLOWS(dvec_new_like, x, NULL);
    REFUSES(dvec_clone, NULL, "v");
    ALLOWS(dvec_clone, x, NULL);
    ALLOWS(dvec_free, NULL);
    ALLOWS(dvec_discard, NULL);
    REFUSES(dvec_env, NULL);
    REFUSES(dvec_name, NULL);
    REFUSES(dvec_type, NULL);
    REFUSES(dvec_length, NULL);
    REFUSES(dvec_width, NULL);
    REFUSES(dvec_distribution, NULL);
    REFUSES(dvec_object, NULL);
    REFUSES(dvec_write, NULL, "x.npy");
    REFUSES(dvec_write, x, NULL);
    REFUSES(dvec_write_zarr, NULL, "x.zarr", NULL);
    REFUSES(dvec_write_zarr, x, NULL, NULL);
    REFUSES(dvec_read, NULL, "v", "x.npy");
    REFUSES(dvec_read, env, "v", NULL);
    REFUSES(dvec_read_with, NULL, "v", "x.npy", NULL);
    REFUSES(dvec_read_with, env, "v", NULL, NULL);
    dvec *read[1];
    const dvec_column column[] = {DVEC_COLUMN(.number = 0)};
    REFUSES(dvec_read_columns, NULL, "x.csv", 1, column, NULL, read);
    REFUSES(dvec_read_columns, env, NULL, 1, column, NULL, read);
    REFUSES(dvec_read_columns, env, "x.csv", 1, NULL, NULL, read);
    REFUSES(dvec_read_columns, env, "x.csv", 1, column, NULL, NULL);
    REFUSES(dvec_read_text, NULL, "v", "x.csv", NULL);
    REFUSES(dvec_read_text, env, "v", NULL, NULL);
}

static void of_matrices(dsparse *a, dsparse *c, dvec *x)
{
    size_t count;
    uint64_t column[5];
    double value[5], parts[5][2];
    REFUSES(dsparse_new, NULL, "a", 5, 5);
    ALLOWS(dsparse_free, NULL);
    REFUSES(dsparse_env, NULL);
    REFUSES(dsparse_name, NULL);
    REFUSES(dsparse_rows, NULL);
    REFUSES(dsparse_columns, NULL);
    REFUSES(dsparse_object, NULL);
    REFUSES(dsparse_assemble, NULL, 0, NULL);
    REFUSES(dsparse_assemble, a, 1, NULL);
    ALLOWS(dsparse_assemble, a, 0, NULL);
    REFUSES(dsparse_assemble_vectors, NULL, x, x, x);
    REFUSES(dsparse_assemble_vectors, a, NULL, x, x);
    REFUSES(dsparse_assemble_vectors, a, x, NULL, x);
    REFUSES(dsparse_assemble_vectors, a, x, x, NULL);
    REFUSES(dsparse_row_add, NULL, 0, 1);
    REFUSES(dsparse_fill_rows, NULL, fill_row, NULL);
    REFUSES(dsparse_fill_rows, a, NULL, NULL);
    REFUSES(dsparse_entries, NULL);
    REFUSES(dsparse_get_row, NULL, 0, 5, column, value, &count);
    REFUSES(dsparse_get_row, a, 0, 5, NULL, value, &count);
    REFUSES(dsparse_get_row, a, 0, 5, column, NULL, &count);
    REFUSES(dsparse_get_row, a, 0, 5, column, value, NULL);
    REFUSES(dsparse_multiply, NULL, a, x);
    REFUSES(dsparse_multiply, x, NULL, x);
    REFUSES(dsparse_multiply, x, a, NULL);
    REFUSES(dsparse_diagonal, NULL, a);
    REFUSES(dsparse_diagonal, x, NULL);
    REFUSES(dsparse_scale, NULL, 2);
    REFUSES(dsparse_scale_rows, NULL, x);
    REFUSES(dsparse_scale_rows, a, NULL);
    REFUSES(dsparse_norm_frobenius, NULL);
    REFUSES(dsparse_norm_inf, NULL);
    REFUSES(dsparse_transpose, NULL, a);
    REFUSES(dsparse_transpose, a, NULL);
    REFUSES(dsparse_is_symmetric, NULL);
    REFUSES(dsparse_read, NULL, "A", "x.mtx");
    REFUSES(dsparse_read, env, "A", NULL);
    REFUSES(dsparse_write, NULL, "x.mtx");
    REFUSES(dsparse_write, a, NULL);
    REFUSES(dsparse_new_of, NULL, "a", DOME_F64, 5, 5);
    REFUSES(dsparse_new_of, env, "b", NULL, 5, 5);
    REFUSES(dsparse_type, NULL);
    REFUSES(dsparse_assemble_c128, NULL, 0, NULL);
    REFUSES(dsparse_assemble_c128, c, 1, NULL);
    ALLOWS(dsparse_assemble_c128, c, 0, NULL);
    REFUSES(dsparse_row_add_c128, NULL, 0, parts[0]);
    REFUSES(dsparse_get_row_c128, NULL, 0, 5, column, parts, &count);
    REFUSES(dsparse_get_row_c128, c, 0, 5, NULL, parts, &count);
    REFUSES(dsparse_get_row_c128, c, 0, 5, column, NULL, &count);
    REFUSES(dsparse_get_row_c128, c, 0, 5, column, parts, NULL);
    REFUSES(dsparse_multiply_transposed, NULL, a, x);
    REFUSES(dsparse_multiply_transposed, x, NULL, x);
    REFUSES(dsparse_multiply_transposed, x, a, NULL);
    REFUSES(dsparse_slice, NULL, 0, 1, 1, NULL);
    REFUSES(dsparse_submatrix, NULL, x, NULL);
    REFUSES(dsparse_submatrix, a, NULL, NULL);
    dsparse *whole = env ? dsparse_new_of(env, NULL, DOME_I64, 3, 3) : NULL;
    int64_t number;
    REFUSES(dsparse_assemble_i64, NULL, 0, NULL);
    REFUSES(dsparse_assemble_i64, whole, 1, NULL);
    ALLOWS(dsparse_assemble_i64, whole, 0, NULL);
    REFUSES(dsparse_row_add_i64, NULL, 0, 1);
    REFUSES(dsparse_get_row_i64, NULL, 0, 1, column, &number, &count);
    REFUSES(dsparse_get_row_i64, whole, 0, 1, NULL, &number, &count);
    REFUSES(dsparse_get_row_i64, whole, 0, 1, column, NULL, &count);
    REFUSES(dsparse_get_row_i64, whole, 0, 1, column, &number, NULL);
    REFUSES(dsparse_scale_i64, NULL, 2);
    dsparse_free(whole);
    REFUSES(dsparse_scale_c128, NULL, parts[0]);
    REFUSES(dsparse_scale_c128, c, NULL);
}

int main(int argc, char **argv)
{
    only_names = argc > 1 && strcmp(argv[1], "names") == 0;
    if (only_names) { /* those without a pointer, and those that are called in any case or do not return */
        static const char *const others[] = {"dome_init",
                                             "dome_wtime",
                                             "dome_abort",
                                             "dome_status_name",
                                             "dome_status_text",
                                             "dome_block_size",
                                             "dome_layout_even",
                                             "dome_capture_calloc",
                                             "dome_capture_dome_main",
                                             "dome_capture_enter",
                                             "dome_capture_fclose",
                                             "dome_capture_fopen",
                                             "dome_capture_fdopen",
                                             "dome_capture_freopen",
                                             "dome_capture_init",
                                             "dome_capture_leave",
                                             "dome_capture_main",
                                             "dome_capture_malloc",
                                             "dome_capture_on",
                                             "dome_capture_poll",
                                             "dome_capture_pop",
                                             "dome_capture_push",
                                             "dome_capture_realloc",
                                             "dome_capture_malloc_wanted",
                                             "dome_capture_calloc_wanted",
                                             "dome_capture_realloc_wanted",
                                             "dome_capture_jump_mark",
                                             "dome_capture_jumped",
                                             "dome_capture_register",
                                             "dome_capture_request",
                                             "dome_capture_request_at",
                                             "dome_capture_strdup",
                                             "dome_capture_strndup",
                                             "dome_capture_getline",
                                             "dome_capture_getdelim",
                                             "dome_capture_asprintf",
                                             "dome_capture_vasprintf",
                                             "dome_capture_keep",
                                             "dome_capture_rand",
                                             "dome_capture_srand",
                                             "dome_capture_random",
                                             "dome_capture_srandom",
                                             "dome_capture_drand48",
                                             "dome_capture_lrand48",
                                             "dome_capture_mrand48",
                                             "dome_capture_srand48",
                                             "dome_capture_strtok",
                                             "dome_capture_atexit",
                                             "dome_capture_sigaction",
                                             "dome_capture_calendar",
                                             "dome_capture_calendar_text",
                                             "dome_capture_clock",
                                             "dome_capture_clock_gettime",
                                             "dome_capture_text",
                                             "dome_capture_ungetc"};
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            if (with_capture || strncmp(others[k], "dome_capture_", strlen("dome_capture_")) != 0)
                printf("%s\n", others[k]);
    } else {
        env = dome_init(&argc, &argv);
    }
    if (argc > 1 && strcmp(argv[1], "abort") == 0)
        dome_abort(NULL, "the end of %d", 1);
    if (env)
        dome_set_errors_return(env);
    dvec *x = env ? dvec_new(env, "x", DOME_F64, 5) : NULL, *mask = env ? dvec_new(env, "mask", DOME_U8, 5) : NULL;
    dvec *index = env ? dvec_new(env, "index", DOME_I32, 5) : NULL;
    dscalar *s = env ? dscalar_new(env, "scalar", DOME_I64) : NULL;
    dsparse *a = env ? dsparse_new(env, "matrix", 5, 5) : NULL;
    dsparse *c = env ? dsparse_new_of(env, "complex", DOME_C128, 5, 5) : NULL;
    of_capture();
    of_deltas();
    of_environment();
    of_collectives();
    of_messages();
    of_regions();
    of_types();
    of_layouts();
    of_objects(x ? dvec_object(x) : NULL);
    of_scalars(s, x);
    of_vectors(x);
    views(x);
    element_wise(x, mask);
    reductions(x);
    movement(x, index);
    arrays(x, index);
    loops(x);
    of_matrices(a, c, x);
    if (only_names)
        return 0;
    if (failures == 0)
        printf("ok\n");
    int status = dome_finalize(env);
    return failures > 0 || status != 0;
}
