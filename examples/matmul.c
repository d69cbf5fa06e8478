/* The product of two matrices: C = A B. The rows of A and C are spread over the tasks, every task holds all of B.
 *
 *     matmul A.npy B.npy C.npy
 *     matmul --generate N A.npy B.npy    writes two N x N matrices of random numbers
 *
 * The local products are made block by block, each of 64 rows of A, or 256 if there are many, whichever task owns them, so C
 * has the same bits for any number of tasks. (BLAS has its own rules about bits: equal libraries on equal processors.) */
#include <dome/dome.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(dome_env *env, int status, const char *text)
{
    if (dome_rank(env) == 0)
        fprintf(stderr, "matmul: %s\n", text);
    dome_finalize(env);
    return status;
}

static int generate(dome_env *env, const char *size, const char *const path[2])
{
    char *end;
    long n = strtol(size, &end, 10);
    if (*end || n < 1 || n > INT_MAX)
        return fail(env, 2, "--generate takes the number of rows, 1 or more");
    for (int i = 0; i < 2; i++) {
        dvec *x = dvec_new_with(env, i ? "B" : "A", DOME_F64, (size_t)n, DVEC_OPTIONS(.width = (size_t)n));
        dvec_random(x, (uint64_t)i + 1);
        dvec_write(x, path[i]);
        dvec_free(x);
    }
    return dome_finalize(env);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc == 5 && strcmp(argv[1], "--generate") == 0)
        return generate(env, argv[2], (const char *const[]){argv[3], argv[4]});
    if (argc != 4 || argv[1][0] == '-')
        return fail(env, 2, "usage: matmul A.npy B.npy C.npy, or matmul --generate N A.npy B.npy");

    dvec *a = dvec_read_with(env, "A", argv[1], DVEC_OPTIONS(.block = 64));
    dvec *b = dvec_read_with(env, "B", argv[2], DVEC_OPTIONS(.distribution = DOME_WHOLE));
    if (dvec_type(a) != DOME_F64 || dvec_type(b) != DOME_F64)
        return fail(env, 1, "the matrices must be of doubles (float64)");
    if (dvec_width(a) != dvec_length(b))
        return fail(env, 1, "A has not as many columns as B has rows");
    size_t block = dvec_length(a) > 7 * 256 ? 256 : 64; /* BLAS looks at all of B for each block */
    if (block > 64) {
        dvec *blocks = dvec_new_with(env, "A in blocks", DOME_F64, dvec_length(a),
                                     DVEC_OPTIONS(.distribution = dvec_distribution(a), .width = dvec_width(a), .block = block));
        dvec_copy(blocks, a);
        dvec_free(a);
        a = blocks;
    }
    dvec *c = dvec_new_with(env, "C", DOME_F64, dvec_length(a), DVEC_OPTIONS(.width = dvec_width(b), .block = block));
    dvec_matmul(c, a, b);

    dvec_write(c, argv[3]);
    double norm = dvec_norm2(c);
    dome_print(env, "%s: %" PRIu64 " x %zu, norm %.15e  %a\n", argv[3], dvec_length(c), dvec_width(c), norm, norm);
    return dome_finalize(env);
}
