/* Sparse matrices as objects: blocks of rows, which move, travel and are saved. */
#include "sparse/dsparse_private.h"

#include "core/layout.h"
#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <string.h>

/* ---- blocks ---- */

uint64_t dsparse__block_bytes(const dsparse *a, uint64_t rows, uint64_t entries)
{
    return entries * dome_type_size(a->type) + (entries + rows + 1 + DSPARSE_AHEAD) * sizeof(uint32_t);
}

void dsparse__block_place(const dsparse *a, dsparse_block *b, uint32_t rows, uint32_t entries, void *memory)
{
    uint32_t *column = (uint32_t *)(void *)((char *)memory + entries * (uint64_t)dome_type_size(a->type));
    *b = (dsparse_block){.rows = rows, .written = DOME_WRITTEN, .value = memory, .column = column, .start = column + entries};
}

static void block_clear(dsparse_block *b)
{
    if (!b->stored || b->separate)
        g_free(b->value);
}

void dsparse__block_ready(const dsparse *a, dsparse_block *b)
{
    enum { NEAR = 1 << 14 };
    const uint64_t entries = dsparse__block_entries(b), size = dome_type_size(a->type);
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; entries > 0 && i < b->rows; i++)
        if (b->start[i] < b->start[i + 1]) { /* columns ascend */
            least = MIN(least, b->column[b->start[i]]);
            most = MAX(most, b->column[b->start[i + 1] - 1]);
        }
    b->scattered = least < most && most - least > NEAR;
    if (!b->uniform && entries > 1 && memcmp(b->value, (const char *)b->value + size, (size_t)((entries - 1) * size)) == 0) {
        memcpy(b->same, b->value, (size_t)size);
        b->uniform = true;
    }
}

void dsparse__block_spread(const dsparse *a, dsparse_block *b)
{
    const size_t size = dome_type_size(a->type);
    for (uint64_t k = 0, entries = dsparse__block_entries(b); b->uniform && k < entries; k++)
        memcpy((char *)b->value + k * size, b->same, size);
    b->uniform = false;
}

void dsparse__block_separate(const dsparse *a, dsparse_block *b, uint64_t entries)
{
    void *values = g_try_malloc_n((gsize)entries, dome_type_size(a->type));
    if (values) {
        b->value = values;
        b->separate = true;
    }
}

void dsparse__blocks_free(dsparse_block *block, uint64_t count)
{
    for (uint64_t k = 0; block && k < count; k++)
        block_clear(&block[k]);
    g_free(block);
}

/* Blocks without entries for this task's part of a layout; NULL without memory. */
static dsparse_block *blocks_for(const dsparse *a, const dome_layout *layout, uint64_t count)
{
    dsparse_block *block = g_try_new0(dsparse_block, (gsize)MAX(count, 1));
    for (uint64_t k = 0; block && k < count; k++) {
        block[k].rows = (uint32_t)dome_layout_block(layout, dome__layout_block_at(layout, a->env->rank, k)).count;
        block[k].written = DOME_WRITTEN;
    }
    return block;
}

dsparse_block *dsparse__blocks_new(const dsparse *a)
{
    return blocks_for(a, a->layout, a->blocks);
}

void dsparse__forget(dsparse *a)
{
    if (a->plan)
        a->forget_plan(a);
    if (a->transposed)
        a->forget_transposed(a);
}

void dsparse__forget_values(dsparse *a)
{
    if (a->transposed && a->copied)
        a->forget_transposed(a);
}

void dsparse__replace(dsparse *a, dsparse_block *block, void *store)
{
    dsparse__forget(a);
    dsparse__blocks_free(a->block, a->blocks);
    a->block = block;
    dome__storage_free(a->store);
    a->store = store;
}

/* ---- operation table ---- */

static dsparse *self(const dome_object *object)
{
    return dome_object_content(object);
}

dsparse_block *dsparse__block(const dsparse *a, uint64_t number)
{
    if (number >= dome_layout_blocks(a->layout))
        return NULL;
    uint64_t at = dome__layout_position_of(a->layout, a->env->rank, number);
    return at < a->blocks ? a->block + at : NULL;
}

static dome_status mat_describe(const dome_object *object, dome_object_info *info)
{
    const dsparse *a = self(object);
    *info = (dome_object_info){.length = a->rows, .width = 1, .distribution = DOME_DYNAMIC, .layout = a->layout};
    return DOME_OK;
}

static dome_status mat_cost(const dome_object *object, uint64_t first, uint64_t count, double *cost)
{
    for (uint64_t k = 0; k < count; k++) {
        const dsparse_block *b = dsparse__block(self(object), first + k);
        if (!b)
            return DOME_ERR_ARGUMENT;
        cost[k] = (double)b->rows + (double)dsparse__block_entries(b);
    }
    return DOME_OK;
}

/* A block travels as a head (U64: the number of columns, and above TYPE_SHIFT a code of the type of values, 0 for F64), the
 * number of entries up to the end of each row (U32), the columns (U32), and the values. All have one size in both formats. */
enum { TYPE_SHIFT = 56 };

static uint64_t type_code(const dsparse *a)
{
    switch ((int)a->kind) {
    case DOME_KIND_F32:
        return 1;
    case DOME_KIND_C64:
        return 2;
    case DOME_KIND_C128:
        return 3;
    case DOME_KIND_I64:
        return 4;
    case DOME_KIND_I32:
        return 5;
    default:
        return 0;
    }
}

static uint64_t head_word(const dsparse *a)
{
    return a->columns | type_code(a) << TYPE_SHIFT;
}

static uint64_t bytes_of(const dsparse *a, uint64_t rows, uint64_t entries)
{
    return sizeof(uint64_t) + rows * sizeof(uint32_t) + entries * (sizeof(uint32_t) + dome_type_size(a->type));
}

static dome_status mat_packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format,
                                    uint64_t *bytes)
{
    (void)format;
    *bytes = 0;
    for (uint64_t k = 0; k < count; k++) {
        const dsparse_block *b = dsparse__block(self(object), first + k);
        if (!b)
            return DOME_ERR_ARGUMENT;
        *bytes += bytes_of(self(object), b->rows, dsparse__block_entries(b));
    }
    return DOME_OK;
}

static char *put(char *to, dome_type type, dome_format format, const void *from, uint64_t count)
{
    dome_type_pack(type, format, to, from, (size_t)count);
    return to + count * dome_type_bytes(type, format);
}

static char *put_block(char *to, const dsparse *a, const dsparse_block *b, dome_format format)
{
    const uint64_t head = head_word(a);
    to = put(to, DOME_U64, format, &head, 1);
    if (!b->start) {
        memset(to, 0, b->rows * sizeof(uint32_t));
        return to + b->rows * sizeof(uint32_t);
    }
    uint64_t entries = dsparse__block_entries(b);
    to = put(to, DOME_U32, format, b->start + 1, b->rows);
    to = put(to, DOME_U32, format, b->column, entries);
    for (uint64_t k = 0; b->uniform && k < entries; k++)
        to = put(to, a->type, format, b->same, 1);
    return b->uniform ? to : put(to, a->type, format, b->value, entries);
}

static dome_status mat_pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                            uint64_t bytes)
{
    uint64_t needed;
    dome_status status = mat_packed_bytes(object, first, count, format, &needed);
    if (status != DOME_OK || needed != bytes)
        return DOME_ERR_ARGUMENT;
    char *to = buffer;
    for (uint64_t k = 0; k < count; k++)
        to = put_block(to, self(object), dsparse__block(self(object), first + k), format);
    return DOME_OK;
}

/* Whether rows ascend in the list of entries, and columns in each row. */
static bool in_order(const dsparse *a, const dsparse_block *b)
{
    for (uint32_t i = 0; i < b->rows; i++) {
        for (uint32_t k = b->start[i]; k < b->start[i + 1]; k++)
            if (b->column[k] >= a->columns || (k > b->start[i] && b->column[k] <= b->column[k - 1]))
                return false;
    }
    return true;
}

/* Takes one block from the bytes between *from and end. */
static dome_status get_block(dsparse *a, dsparse_block *b, dome_format format, const char **from, const char *end)
{
    uint64_t head = bytes_of(a, b->rows, 0), first;
    uint32_t last = 0;
    if ((uint64_t)(end - *from) < head)
        return DOME_ERR_FORMAT;
    dome_type_unpack(DOME_U64, format, &first, *from, 1);
    if (first >> TYPE_SHIFT != type_code(a))
        return DOME_ERR_TYPE;
    if (first != head_word(a))
        return DOME_ERR_SHAPE;
    if (b->rows > 0)
        dome_type_unpack(DOME_U32, format, &last, *from + head - sizeof last, 1);
    if (((uint64_t)(end - *from) - head) / (sizeof(uint32_t) + dome_type_size(a->type)) < last)
        return DOME_ERR_FORMAT;
    dsparse_block taken;
    void *memory = g_try_malloc((gsize)dsparse__block_bytes(a, b->rows, last));
    if (!memory)
        return DOME_ERR_MEMORY;
    dsparse__block_place(a, &taken, b->rows, last, memory);
    taken.start[0] = 0;
    dome_type_unpack(DOME_U32, format, taken.start + 1, *from + sizeof first, b->rows);
    dome_type_unpack(DOME_U32, format, taken.column, *from + head, last);
    dome_type_unpack(a->type, format, taken.value, *from + head + (uint64_t)last * sizeof(uint32_t), last);
    *from += bytes_of(a, b->rows, last);
    bool good = true;
    for (uint32_t i = 0; i < b->rows && good; i++)
        good = taken.start[i] <= taken.start[i + 1] && taken.start[i + 1] <= last;
    if (!good || !in_order(a, &taken)) {
        block_clear(&taken);
        return DOME_ERR_FORMAT;
    }
    block_clear(b);
    *b = taken;
    dsparse__block_ready(a, b);
    return DOME_OK;
}

static dome_status mat_unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                              uint64_t bytes)
{
    dsparse *a = self(object);
    const char *from = buffer, *end = bytes > 0 ? from + bytes : from;
    dsparse__forget(a);
    for (uint64_t k = 0; k < count; k++) {
        dsparse_block *b = dsparse__block(a, first + k);
        dome_status status = b ? get_block(a, b, format, &from, end) : DOME_ERR_ARGUMENT;
        if (status != DOME_OK)
            return status;
    }
    return from == end ? DOME_OK : DOME_ERR_FORMAT;
}

static dome_status mat_adopt(dome_object *object, const dome_layout *layout)
{
    dsparse *a = self(object);
    if (!layout || dome_layout_length(layout) != a->rows || dome_layout_block_size(layout) != dome_layout_block_size(a->layout) ||
        dome_layout_tasks(layout) != dome_layout_tasks(a->layout))
        return DOME_ERR_ARGUMENT;
    int rank = a->env->rank;
    uint64_t count = dome_layout_run(layout, rank, NULL);
    dsparse_block *block = blocks_for(a, layout, count);
    if (!block)
        return DOME_ERR_MEMORY;
    if (!dome_layout_equal(layout, a->layout)) /* on all tasks alike: they must agree on whether there is a plan */
        dsparse__forget(a);
    for (uint64_t k = 0; k < count; k++) {
        dsparse_block *stays = dsparse__block(a, dome__layout_block_at(layout, rank, k));
        if (stays) {
            block[k] = *stays;
            stays->value = NULL;
        }
    }
    dsparse__blocks_free(a->block, a->blocks);
    a->block = block;
    a->blocks = count;
    dome_layout *old = a->layout;
    a->layout = dome_layout_ref(layout);
    dome_layout_unref(old);
    return DOME_OK;
}

static dome_status mat_enter(dome_object *object, const dome_layout *layout)
{
    dsparse *a = self(object);
    const uint64_t count = dome_layout_run(layout, a->env->rank, NULL);
    dsparse_block *block = blocks_for(a, layout, count);
    if (!block)
        return DOME_ERR_MEMORY;
    dsparse__replace(a, block, NULL);
    a->blocks = count;
    dome_layout *old = a->layout;
    a->layout = dome_layout_ref(layout);
    dome_layout_unref(old);
    return DOME_OK;
}

static bool is_written(const void *matrix, unsigned mark, uint64_t block)
{
    return dsparse__block(matrix, block)->written & DOME_MARK_BIT(mark);
}

static dome_status mat_delta(dome_object *object, unsigned mark, dome_delta_visit visit, void *ctx)
{
    const dsparse *a = self(object);
    if (visit)
        return dome__marked_visit(&(dome_marked){a->layout, a->env->rank, is_written, a, mark}, visit, ctx);
    for (uint64_t k = 0; k < a->blocks; k++)
        a->block[k].written &= (uint8_t)~DOME_MARK_BIT(mark);
    return DOME_OK;
}

static void mat_destroy(dome_object *object)
{
    dsparse *a = self(object);
    dsparse__forget(a);
    dsparse__blocks_free(a->block, a->blocks);
    dome__storage_free(a->store);
    dome_layout_unref(a->layout);
    dome__bury(a->env, a);
}

static const dome_object_ops mat_ops = {
    .size = sizeof(dome_object_ops),
    .kind = "dsparse",
    .describe = mat_describe,
    .cost = mat_cost,
    .packed_bytes = mat_packed_bytes,
    .pack = mat_pack,
    .unpack = mat_unpack,
    .adopt = mat_adopt,
    .destroy = mat_destroy,
    .delta = mat_delta,
    .enter = mat_enter,
};

/* ---- life ---- */

/* Rows are counted with 32 bits in a block. */
#define ROWS_MAX (UINT64_C(1) << 50)

static dome_status check_new(dome_env *env, const char *name, dome_type type, uint64_t rows, uint64_t columns)
{
    if (!name || !*name)
        name = "the matrix";
    if (!type)
        return dome__fail(env, DOME_ERR_ARGUMENT, "the type of %s is NULL", name);
    if (type != DOME_I32 && type != DOME_I64 && type != DOME_F32 && type != DOME_F64 && type != DOME_C64 && type != DOME_C128)
        return dome__fail(env, DOME_ERR_TYPE, "%s cannot have values of type %s; a matrix has i32, i64, f32, f64, c64 or c128",
                          name, dome_type_name(type));
    if (rows > ROWS_MAX)
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s cannot have %" G_GUINT64_FORMAT " rows, more than 2^50", name, rows);
    if (columns > DSPARSE_COLUMNS_MAX)
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s cannot have %" G_GUINT64_FORMAT " columns, more than 2^32", name, columns);
    return DOME_OK;
}

static dsparse *new_matrix(dome_operation_code code, dome_env *env, const char *name, dome_type type, uint64_t rows,
                           uint64_t columns)
{
    dome_operation op;
    uint64_t words[] = {dome__text_word(env, name), dome__type_word(env, type), rows, columns};
    dome__begin_with(&op, env, code, NULL, words, G_N_ELEMENTS(words));
    dome_status status = check_new(env, name, type, rows, columns);
    if (status != DOME_OK)
        return dome__end(&op, status), NULL;

    dsparse *a = g_new0(dsparse, 1);
    a->env = env;
    a->type = type;
    a->kind = dome_type_kind_of(type);
    a->parts = type == DOME_C64 || type == DOME_C128 ? 2 : 1;
    a->rows = rows;
    a->columns = columns;
    a->layout = dome_layout_ref(dome_env_layout(env, rows, 0));
    if (a->layout) {
        a->blocks = dome_layout_run(a->layout, env->rank, NULL);
        a->block = dsparse__blocks_new(a);
    }
    char *text = a->block ? NULL : g_strdup_printf("no memory for the rows of '%s'", name ? name : "");
    status = dvec__agree(env, a->block ? DOME_OK : DOME_ERR_MEMORY, text);
    g_free(text);
    if (status == DOME_OK) {
        a->object = dome_object_new(env, name, &mat_ops, a);
        if (!a->object)
            status = dome_error_status(env) ? dome_error_status(env) : DOME_ERR_NAME;
    }
    if (status != DOME_OK) {
        dsparse__blocks_free(a->block, a->blocks);
        dome_layout_unref(a->layout);
        g_free(a);
        a = NULL;
    }
    dome__end(&op, status);
    return a;
}

dsparse *dsparse_new(dome_env *env, const char *name, uint64_t rows, uint64_t columns)
{
    DOME_NEEDS(env, "the environment", NULL);
    return new_matrix(DOME_OP_DSPARSE_NEW, env, name, DOME_F64, rows, columns);
}

dsparse *dsparse_new_of(dome_env *env, const char *name, dome_type type, uint64_t rows, uint64_t columns)
{
    DOME_NEEDS(env, "the environment", NULL);
    return new_matrix(DOME_OP_DSPARSE_NEW_OF, env, name, type, rows, columns);
}

void dsparse_free(dsparse *a)
{
    if (a)
        dome_object_free(a->object);
}

dome_env *dsparse_env(const dsparse *a)
{
    DOME_NEEDS(a, "the matrix", NULL);
    return a->env;
}

const char *dsparse__label(const dsparse *a)
{
    return dome_object_name(a->of ? a->of->object : a->object);
}

const char *dsparse_name(const dsparse *a)
{
    DOME_NEEDS(a, "the matrix", NULL);
    return dome_object_name(a->object);
}

dome_type dsparse_type(const dsparse *a)
{
    DOME_NEEDS(a, "the matrix", NULL);
    return a->type;
}

uint64_t dsparse_rows(const dsparse *a)
{
    DOME_NEEDS(a, "the matrix", 0);
    return a->rows;
}

uint64_t dsparse_columns(const dsparse *a)
{
    DOME_NEEDS(a, "the matrix", 0);
    return a->columns;
}

dome_object *dsparse_object(const dsparse *a)
{
    DOME_NEEDS(a, "the matrix", NULL);
    return a->object;
}

/* ---- looking at entries ---- */

uint64_t dsparse_entries(const dsparse *a)
{
    DOME_NEEDS(a, "the matrix", 0);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_ENTRIES, a->object, NULL, 0);
    uint64_t total = 0;
    for (uint64_t k = 0; k < a->blocks; k++)
        total += dsparse__block_entries(&a->block[k]);
    int status = dome__allreduce(a->env->transport, DOME_U64, &total, 1, dome__combine_sum_i64, NULL);
    if (status != DOME_OK)
        status = dome__fail_transport(a->env, status);
    return dome__end(&op, status) == DOME_OK ? total : 0;
}

/* One task may read a row: only a failure counts as an operation. */
static dome_status fail_row(const dsparse *a, dome_operation_code code, dome_status status, uint64_t row, const char *why)
{
    dome_operation op = {.env = a->env, .code = code, .object = a->object, .outer = a->env->operation};
    a->env->operation = &op;
    dome__fail(a->env, status, "row %" G_GUINT64_FORMAT " %s", row, why);
    a->env->operation = op.outer;
    return status;
}

/* Where the program wants a row: of each entry value[0 ... parts - 1], or the integer. */
typedef struct row_room {
    size_t room; /* entries */
    uint64_t *column;
    double *value;
    unsigned parts;
    int64_t *integer;
} row_room;

static dome_status get_row(const dsparse *a, dome_operation_code code, uint64_t row, row_room to, size_t *count)
{
    const bool integers = code == DOME_OP_DSPARSE_GET_ROW_I64;
    if (dome_object_id(a->object) & DOME_FREED) {
        dome__errors_end(a->env);
        return fail_row(a, code, DOME_ERR_STATE, row, "cannot be read: the matrix has been freed");
    }
    if (dsparse__integer(a) && !integers)
        return fail_row(a, code, DOME_ERR_TYPE, row, "has integer values, for which there is dsparse_get_row_i64");
    if (integers && !dsparse__integer(a))
        return fail_row(a, code, DOME_ERR_TYPE, row, "has values that are not integers");
    if (a->parts > to.parts && !integers)
        return fail_row(a, code, DOME_ERR_TYPE, row, "has complex values, for which there is dsparse_get_row_c128");
    if (row >= a->rows)
        return fail_row(a, code, DOME_ERR_RANGE, row, "does not exist: the matrix has fewer rows");
    uint64_t number = row / dome_layout_block_size(a->layout);
    const dsparse_block *b = dsparse__block(a, number);
    if (!b)
        return fail_row(a, code, DOME_ERR_RANGE, row, "belongs to another task");
    if (!b->start)
        return DOME_OK;
    const uint32_t *start = b->start + (row - dome_layout_block(a->layout, number).first);
    *count = start[1] - start[0];
    for (size_t k = 0; k < MIN(to.room, *count); k++) {
        const dsparse_number v = dsparse__entry(a, b, start[0] + k);
        to.column[k] = b->column[start[0] + k];
        if (integers)
            to.integer[k] = v.integer;
        else
            to.value[to.parts * k] = v.re;
        if (to.parts > 1)
            to.value[to.parts * k + 1] = v.im;
    }
    return DOME_OK;
}

dome_status dsparse_get_row(const dsparse *a, uint64_t row, size_t room, uint64_t column[], double value[], size_t *count)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    DOME_NEEDS(count, "the place for the count", DOME_ERR_ARGUMENT);
    *count = 0;
    if (room > 0) {
        DOME_NEEDS(column, "the place for the columns", DOME_ERR_ARGUMENT);
        DOME_NEEDS(value, "the place for the values", DOME_ERR_ARGUMENT);
    }
    return get_row(a, DOME_OP_DSPARSE_GET_ROW, row, (row_room){.room = room, .column = column, .value = value, .parts = 1},
                   count);
}

dome_status dsparse_get_row_i64(const dsparse *a, uint64_t row, size_t room, uint64_t column[], int64_t value[], size_t *count)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    DOME_NEEDS(count, "the place for the count", DOME_ERR_ARGUMENT);
    *count = 0;
    if (room > 0) {
        DOME_NEEDS(column, "the place for the columns", DOME_ERR_ARGUMENT);
        DOME_NEEDS(value, "the place for the values", DOME_ERR_ARGUMENT);
    }
    return get_row(a, DOME_OP_DSPARSE_GET_ROW_I64, row, (row_room){.room = room, .column = column, .integer = value}, count);
}

dome_status dsparse_get_row_c128(const dsparse *a, uint64_t row, size_t room, uint64_t column[], double value[][2], size_t *count)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    DOME_NEEDS(count, "the place for the count", DOME_ERR_ARGUMENT);
    *count = 0;
    if (room > 0) {
        DOME_NEEDS(column, "the place for the columns", DOME_ERR_ARGUMENT);
        DOME_NEEDS(value, "the place for the values", DOME_ERR_ARGUMENT);
    }
    const row_room to = {.room = room, .column = column, .value = room > 0 ? value[0] : NULL, .parts = 2};
    return get_row(a, DOME_OP_DSPARSE_GET_ROW_C128, row, to, count);
}

/* ---- for the other files ---- */

dome_status dsparse__check_complex(const dsparse *a)
{
    return a->parts > 1 ? DOME_OK
                        : dome__fail(a->env, DOME_ERR_TYPE, "the matrix has values of type %s, which are not complex",
                                     dome_type_name(a->type));
}

dome_status dsparse__check_integer(const dsparse *a)
{
    return dsparse__integer(a) ? DOME_OK
                               : dome__fail(a->env, DOME_ERR_TYPE, "the matrix has values of type %s, which are not integers",
                                            dome_type_name(a->type));
}

dome_status dsparse__check_not_integer(const dsparse *a, const char *function)
{
    return !dsparse__integer(a) ? DOME_OK
                                : dome__fail(a->env, DOME_ERR_TYPE, "the matrix has values of type %s, for which there is %s",
                                             dome_type_name(a->type), function);
}

void dsparse__visit_rows(const dsparse *a, dsparse_visitor visit, void *ctx)
{
    uint64_t local = 0;
    for (uint64_t k = 0; k < a->blocks; k++) {
        dsparse_block *b = &a->block[k];
        uint64_t first = dome_layout_block(a->layout, dome__layout_block_at(a->layout, a->env->rank, k)).first;
        for (uint32_t i = 0; b->start && i < b->rows; i++)
            visit(ctx, a, b, i, first + i, local + i);
        local += b->rows;
    }
}
