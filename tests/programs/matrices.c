/* Operations on sparse matrices, for tests/campaign/scipy_cases.py: matrices FOLDER COUNT. Case k reads k.mtx and the vectors
 * k.x.npy (an element for each column), k.z.npy and k.s.npy (one for each row) and k.rows.npy (numbers of rows), writes what it
 * computes of them, and prints the number of entries, norms and symmetry. */
#include <dome/dome.h>
#include <stdio.h>
#include <stdlib.h>

static dome_env *env;
static const char *folder;
static int number;

static const char *path(const char *name)
{
    static char text[500];
    snprintf(text, sizeof text, "%s/%d.%s", folder, number, name);
    return text;
}

static void write_vector(dvec *x, const char *name)
{
    dvec_write(x, path(name));
    dvec_free(x);
}

static void write_matrix(dsparse *a, const char *name)
{
    dsparse_write(a, path(name));
    dsparse_free(a);
}

static void one_case(void)
{
    dsparse *a = dsparse_read(env, NULL, path("mtx"));
    dvec *x = dvec_read(env, NULL, path("x.npy")), *z = dvec_read(env, NULL, path("z.npy"));
    dvec *rows = dvec_read(env, NULL, path("rows.npy"));
    const uint64_t m = dsparse_rows(a), n = dsparse_columns(a);
    const int64_t step = number % 2 ? -2 : 2;

    dvec *y = dvec_new_with(env, NULL, dsparse_type(a), m, DVEC_OPTIONS(.width = dvec_width(x)));
    dsparse_multiply(y, a, x);
    dsparse_multiply(y, a, x);
    write_vector(y, "y.npy");
    dvec *t = dvec_new_with(env, NULL, dsparse_type(a), n,
                            DVEC_OPTIONS(.width = dvec_width(z), .distribution = number % 3 ? DOME_DYNAMIC : DOME_BLOCK));
    dsparse_multiply_transposed(t, a, z);
    dsparse_multiply_transposed(t, a, z);
    write_vector(t, "t.npy");
    dvec *d = dvec_new(env, NULL, dsparse_type(a), m);
    dsparse_diagonal(d, a);
    write_vector(d, "d.npy");

    write_matrix(dsparse_slice(a, step < 0 ? m - 1 : 0, (m + 1) / 2, step, NULL), "slice.mtx");
    write_matrix(dsparse_submatrix(a, rows, NULL), "rows.mtx");
    dsparse *turned = dsparse_new_of(env, NULL, dsparse_type(a), n, m);
    dsparse_transpose(turned, a);
    write_matrix(turned, "T.mtx");
    double frobenius = dsparse_norm_frobenius(a), inf = dsparse_norm_inf(a);
    dome_print(env, "%d %.17g %.17g %d\n", (int)dsparse_entries(a), frobenius, inf, dsparse_is_symmetric(a));
    dvec *s = dvec_read(env, NULL, path("s.npy"));
    dsparse_scale_rows(a, s);
    dsparse_scale(a, -0.375);
    write_matrix(a, "S.mtx");
    dvec_free(s);
    dvec_free(x);
    dvec_free(z);
    dvec_free(rows);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    if (argc != 3)
        dome_abort(env, "usage: matrices FOLDER COUNT");
    folder = argv[1];
    for (number = 0; number < atoi(argv[2]); number++)
        one_case();
    return dome_finalize(env);
}
