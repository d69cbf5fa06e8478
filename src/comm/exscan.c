/* Scans of the lower ranks alone: those of dome_scan, whose results go on to the next task. */
#include "comm/comm_operations.h"
#include "comm/reductions.h"
#include "core/environment.h"
#include "core/operation.h"
#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <math.h>
#include <string.h>

/* Sets *to, of an integer type, to the value that a reduction with it leaves as it is. */
static void set_neutral_integer(dome_type type, dome_reduction reduction, void *to)
{
    const bool is_signed = dome_type_kind_of(type) <= DOME_KIND_I64;
    const uint64_t top = UINT64_C(1) << (8 * dome_type_size(type) - 1);
    const uint64_t smallest = is_signed ? top : 0, largest = is_signed ? top - 1 : UINT64_MAX;
    const uint64_t value = reduction == DOME_MIN                             ? largest
                           : reduction == DOME_MAX                           ? smallest
                           : reduction == DOME_BITAND                        ? UINT64_MAX
                           : reduction == DOME_PROD || reduction == DOME_AND ? 1
                                                                             : 0;
    switch (dome_type_size(type)) {
    case 1:
        memcpy(to, (uint8_t[]){(uint8_t)value}, 1);
        break;
    case 2:
        memcpy(to, (uint16_t[]){(uint16_t)value}, 2);
        break;
    case 4:
        memcpy(to, (uint32_t[]){(uint32_t)value}, 4);
        break;
    default:
        memcpy(to, &value, 8);
        break;
    }
}

/* The same for any type of numbers; a complex value has it as its real part. */
static void set_neutral(dome_type type, dome_reduction reduction, void *to)
{
    const dome_type_kind kind = dome_type_kind_of(type);
    const double value = reduction == DOME_MIN    ? (double)INFINITY
                         : reduction == DOME_MAX  ? (double)-INFINITY
                         : reduction == DOME_PROD ? 1
                                                  : 0;
    memset(to, 0, dome_type_size(type));
    if (kind < DOME_KIND_F32)
        set_neutral_integer(type, reduction, to);
    else if (kind == DOME_KIND_F32 || kind == DOME_KIND_C64)
        memcpy(to, (float[]){(float)value}, sizeof(float));
    else
        memcpy(to, &value, sizeof value);
}

/* Each task's elements become those that the task before had. */
static dome_status pass_on(dome_env *env, dome_type type, void *data, size_t count)
{
    dome_transport *t = env->transport;
    const size_t bytes = count * dome_type_size(type);
    void *mine = g_try_malloc(MAX(bytes, 1));
    dome_status status = dome__agree(env, mine ? DOME_OK : DOME_ERR_MEMORY, "no memory for a copy of the elements");
    if (!status && count > 0) {
        uint64_t *send = g_new0(uint64_t, t->group.size), *recv = g_new0(uint64_t, t->group.size);
        memcpy(mine, data, bytes);
        if (t->group.rank + 1 < t->group.size)
            send[t->group.rank + 1] = count;
        if (t->group.rank > 0)
            recv[t->group.rank - 1] = count;
        int failed = dome__alltoallv(t, type, mine, send, data, recv);
        status = failed ? dome__fail_transport(env, failed) : DOME_OK;
        g_free(send);
        g_free(recv);
    }
    g_free(mine);
    return status;
}

dome_status dome_exscan(dome_env *env, dome_type type, void *data, size_t count, dome_reduction reduction)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(type, "the type", DOME_ERR_ARGUMENT);
    DOME_NEEDS(data || count == 0, "the place of the elements", DOME_ERR_ARGUMENT);
    dome_operation op;
    const char *name = dome__reduction_name(reduction);
    uint64_t words[] = {dome__type_word(env, type), count, dome__text_word(env, name ? name : "unknown")};
    dome__begin_with(&op, env, DOME_OP_EXSCAN, NULL, words, G_N_ELEMENTS(words));
    dome_status status = dome_scan(env, type, data, count, reduction);
    if (!status)
        status = pass_on(env, type, data, count);
    const size_t size = dome_type_size(type);
    for (size_t i = 0; !status && env->rank == 0 && i < count; i++)
        set_neutral(type, reduction, (char *)data + i * size);
    return dome__end(&op, status);
}

dome_status dome_exscan_with(dome_env *env, dome_type type, void *data, size_t count, dome_combine_function combine, void *ctx)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(type, "the type", DOME_ERR_ARGUMENT);
    DOME_NEEDS(data || count == 0, "the place of the elements", DOME_ERR_ARGUMENT);
    DOME_NEEDS(combine, "the function", DOME_ERR_ARGUMENT);
    dome_operation op;
    uint64_t words[] = {dome__type_word(env, type), count};
    dome__begin_with(&op, env, DOME_OP_EXSCAN_WITH, NULL, words, G_N_ELEMENTS(words));
    dome_status status = dome_scan_with(env, type, data, count, combine, ctx);
    if (!status)
        status = pass_on(env, type, data, count);
    return dome__end(&op, status);
}
