/* refusals WHAT: what no checkpoint of a Dome program by dome-cc can have. */
#include <dlfcn.h>
#include <dome/dome.h>

#include <dome/structure.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A structure of the program's own: one number that all tasks have. */
static dome_status describe(const dome_object *object, dome_object_info *info)
{
    (void)object;
    *info = (dome_object_info){.type = DOME_I64, .length = 1, .width = 1, .distribution = DOME_WHOLE};
    return DOME_OK;
}

static dome_status packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format, uint64_t *bytes)
{
    (void)object, (void)first, (void)format;
    *bytes = 8 * count;
    return DOME_OK;
}

static dome_status pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                        uint64_t bytes)
{
    (void)object, (void)first, (void)count, (void)format;
    memset(buffer, 0, bytes);
    return DOME_OK;
}

static dome_status unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                          uint64_t bytes)
{
    (void)object, (void)first, (void)count, (void)format, (void)buffer, (void)bytes;
    return DOME_OK;
}

static void destroy(dome_object *object)
{
    (void)object;
}

struct counts {
    int64_t many;
    struct counts *more;
};

static struct counts *into; /* a part of content */

static const char *how = "";

static dome_object *make(dome_env *of, const char *name, const dome_object_info *info, const void *parameters, uint64_t bytes);

/* Of a kind that is called as one of the library's. */
static const dome_object_ops made = {.size = sizeof(dome_object_ops),
                                     .kind = "dsparse",
                                     .describe = describe,
                                     .packed_bytes = packed_bytes,
                                     .pack = pack,
                                     .unpack = unpack,
                                     .destroy = destroy,
                                     .make = make};

static uint64_t parameters_of(const dome_object *object, void *buffer)
{
    (void)object;
    if (buffer)
        strcpy(buffer, how);
    return strlen(how) + 1;
}

static dome_object *make(dome_env *of, const char *name, const dome_object_info *info, const void *parameters, uint64_t bytes)
{
    (void)info;
    const char *what = bytes > 0 ? parameters : "";
    if (strcmp(what, "make-nothing") == 0)
        return NULL;
    if (strcmp(what, "make-more") == 0)
        dvec_new(of, "x", DOME_F64, 10);
    return dome_object_new(of, strcmp(what, "make-name") == 0 ? "another" : name, &made, calloc(1, sizeof(struct counts)));
}

static const dome_object_ops counts = {.size = sizeof(dome_object_ops),
                                       .kind = "counts",
                                       .describe = describe,
                                       .packed_bytes = packed_bytes,
                                       .pack = pack,
                                       .unpack = unpack,
                                       .destroy = destroy};

struct pair {
    double a;
    int32_t b;
};

static dome_env *env;
static const char *path;

static void kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)first, (void)in;
    memset(out, 0, count * sizeof(double));
    if (ctx)
        dome_checkpoint(ctx);
}

static void call(int depth)
{
    if (depth > 0)
        call(depth - 1);
    else
        dome_checkpoint(env);
}

#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma dome hold
static void held(void)
{
    for (int k = 0; k < 3; k++)
        dome_checkpoint(env);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "plain";
    int depth = 3;
    if (strcmp(what, "structure") == 0)
        dome_object_new(env, "l", &counts, calloc(1, sizeof(struct counts)));
    dome_object_ops ops = made;
    if (strncmp(what, "make-", 5) == 0) {
        how = what;
        ops.parameters = parameters_of;
    }
    if (strcmp(what, "foreign") == 0)
        *(void **)&ops.make = dlsym(NULL, "abort");
    if (strcmp(what, "leads") == 0 || strncmp(what, "make-", 5) == 0 || strcmp(what, "foreign") == 0) {
        struct counts *l = calloc(1, sizeof *l);
        into = l->more = calloc(1, sizeof *l);
        dome_object_new(env, "l", &ops, l);
    }
    if (strcmp(what, "content") == 0)
        dome_object_new(env, "l", &ops, &env);
    struct counts *pair = calloc(2, sizeof *pair);
    if (strcmp(what, "inside") == 0)
        dome_object_new(env, "l", &ops, pair + 1);
    if (strcmp(what, "type") == 0) {
        const dome_field fields[] = {{"b", DOME_I32, offsetof(struct pair, b), 1}};
        dvec_new(env, "pairs", dome_type_struct(env, "pair", sizeof(struct pair), fields, 1, sizeof fields[0]), 10);
    }
    if (strcmp(what, "dangling") == 0)
        path = getenv("PATH");
    dvec *x = dvec_new(env, "x", DOME_F64, 10);
    dvec_map(x, kernel, strcmp(what, "kernel") == 0 ? env : NULL, 0, NULL);
    if (strcmp(what, "name") == 0)
        dscalar_new(env, "dvec #7", DOME_F64);
    for (int k = 0; k < 3; k++)
        if (strcmp(what, "held") == 0)
            held();
        else
            call(depth);
    dome_print(env, "%s: %g%s\n", what, dvec_sum(x), path ? "" : ".");
    return dome_finalize(env);
}
