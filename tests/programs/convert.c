/* convert [FROM TO WIDTH]...: reads each vector from FROM, with elements of WIDTH values (0: what the file says), and writes it
 * to TO, or, if TO is PATH,VERSION,LEVEL,CHUNK, to PATH by dvec_write_zarr. Prints what it has read, or the line that says why it
 * could not. */
#include <dome/dome.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static dome_status write_to(const dvec *x, const char *to)
{
    char path[1000];
    int version, level;
    uint64_t chunk;
    if (sscanf(to, "%999[^,],%d,%d,%" SCNu64, path, &version, &level, &chunk) != 4)
        return dvec_write(x, to);
    return dvec_write_zarr(x, path, DVEC_ZARR_OPTIONS(.version = version, .level = level, .chunk = chunk));
}

static void convert(dome_env *env, const char *from, const char *to, size_t width)
{
    uint64_t shape[DOME_MAX_DIMENSIONS];
    dvec *x = dvec_read_with(env, NULL, from, DVEC_OPTIONS(.width = width));
    if (!x || write_to(x, to) != DOME_OK) {
        dome_print(env, "%s: failed: %s\n", from, dome_error_message(env));
        dome_error_clear(env);
        dvec_free(x);
        return;
    }
    char text[200];
    int used = snprintf(text, sizeof text, "%s %" PRIu64 " x %zu:",
                        dome_type_kind_of(dvec_type(x)) == DOME_KIND_STRUCT ? "struct" : dome_type_name(dvec_type(x)),
                        dvec_length(x), dvec_width(x));
    int ndim = dvec_shape(x, shape);
    for (int d = 0; d < ndim; d++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %" PRIu64, shape[d]);
    dome_print(env, "%s: %s\n", from, text);
    dvec_free(x);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    dome_set_errors_return(env);
    for (int i = 1; i + 2 < argc; i += 3)
        convert(env, argv[i], argv[i + 1], (size_t)strtoul(argv[i + 2], NULL, 10));
    return dome_finalize(env);
}
