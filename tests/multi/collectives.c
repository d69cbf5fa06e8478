/* Every collective over the transport with which this program runs. */
#include "core/environment.h"

#include "collective_checks.h"

#include <dome/dome.h>

typedef struct inner {
    int16_t code;
    double weights[2];
} inner;

typedef struct outer {
    uint8_t tag;
    inner parts[2];
    float _Complex z;
} outer;

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    uint64_t seed = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 1995;
    const dome_field inner_fields[] = {{"code", DOME_I16, offsetof(inner, code), 1},
                                       {"weights", DOME_F64, offsetof(inner, weights), 2}};
    dome_type inner_type = dome_type_struct(env, "inner", sizeof(inner), inner_fields, 2, sizeof(dome_field));
    const dome_field outer_fields[] = {
        {"tag", DOME_U8, offsetof(outer, tag), 1},
        {"parts", inner_type, offsetof(outer, parts), 2},
        {"z", DOME_C64, offsetof(outer, z), 1},
    };
    dome_type outer_type = dome_type_struct(env, "outer", sizeof(outer), outer_fields, 3, sizeof(dome_field));
    const dome_type types[] = {DOME_I8, DOME_U16, DOME_F32, DOME_I64, DOME_F64, DOME_C128, outer_type};

    int failures = check_collectives(env->transport, types, G_N_ELEMENTS(types), seed);
    if (failures)
        dome_abort(env, "%d checks of collectives failed, seed %llu", failures, (unsigned long long)seed);
    dome_print(env, "ok collectives on %d tasks, seed %llu\n", dome_size(env), (unsigned long long)seed);
    return dome_finalize(env);
}
