#include "draw.h"
#include "kernels/blas.h"

#include <dlfcn.h>
#include <glib.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77 };

static double *random_matrix(uint64_t values)
{
    double *x = g_new(double, values + 1);
    for (uint64_t k = 0; k < values; k++)
        x[k] = (double)draw(2000001) / 1000 - 1000;
    return x;
}

static float *in_single(const double *x, uint64_t values)
{
    float *narrow = g_new(float, values + 1);
    for (uint64_t k = 0; k < values; k++)
        narrow[k] = (float)x[k];
    return narrow;
}

/* Sums in order, from 0 on. */
static void check_product(bool by_blas, uint64_t rows, uint64_t inner, uint64_t columns)
{
    double *a = random_matrix(rows * inner), *b = random_matrix(inner * columns), *c = random_matrix(rows * columns);
    float *narrow_a = in_single(a, rows * inner), *narrow_b = in_single(b, inner * columns),
          *narrow_c = in_single(c, rows * columns);
    c[0] = (double)NAN;
    narrow_c[0] = (float)NAN;
    dome__multiply(DOME_F64, by_blas, rows, inner, columns, a, b, c);
    dome__multiply(DOME_F32, by_blas, rows, inner, columns, narrow_a, narrow_b, narrow_c);
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t j = 0; j < columns; j++) {
            double sum = 0;
            float narrow = 0;
            for (uint64_t k = 0; k < inner; k++) {
                sum += a[i * inner + k] * b[k * columns + j];
                narrow += narrow_a[i * inner + k] * narrow_b[k * columns + j];
            }
            const double error = fabs(sum - c[i * columns + j]),
                         narrow_error = fabs((double)narrow - (double)narrow_c[i * columns + j]);
            g_assert_cmpfloat(error, <=, by_blas ? (double)inner * 1e6 * 1e-14 : 0);
            g_assert_cmpfloat(narrow_error, <=, by_blas ? (double)inner * 1e6 * 1e-5 : 0);
        }
    g_free(a);
    g_free(b);
    g_free(c);
    g_free(narrow_a);
    g_free(narrow_b);
    g_free(narrow_c);
}

/* Of some columns of A, beside which others lie. */
static void check_transposed(bool by_blas, uint64_t rows, uint64_t inner, uint64_t columns)
{
    const uint64_t stride = inner + 3;
    double *a = random_matrix(rows * stride), *b = random_matrix(rows * columns), *c = random_matrix(inner * columns);
    c[0] = (double)NAN;
    dome__multiply_transposed(by_blas, rows, inner, columns, a + 2, stride, b, c);
    for (uint64_t i = 0; i < inner; i++)
        for (uint64_t j = 0; j < columns; j++) {
            double sum = 0;
            for (uint64_t r = 0; r < rows; r++)
                sum += a[r * stride + 2 + i] * b[r * columns + j];
            g_assert_cmpfloat(fabs(sum - c[i * columns + j]), <=, by_blas ? (double)rows * 1e6 * 1e-14 : 0);
        }
    g_free(a);
    g_free(b);
    g_free(c);
}

static void test_products(const void *by_blas)
{
    const uint64_t sizes[] = {1, 2, 3, 4, 7, 63, 64, 65, 130};
    if (by_blas && !dome__blas_name()) {
        g_test_skip("there is no BLAS");
        return;
    }
    const int before = dome__blas_begin();
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(sizes); k++)
            for (size_t j = 0; j < 3; j++) {
                check_product(by_blas, sizes[i], sizes[k], sizes[(i + k + j) % G_N_ELEMENTS(sizes)]);
                check_transposed(by_blas, sizes[i], sizes[k], sizes[(i + k + j) % G_N_ELEMENTS(sizes)]);
            }
    for (uint64_t columns = 511; columns < 514; columns++)
        check_product(by_blas, 5, 65, columns);
    check_product(by_blas, 3, 2, 1100);
    dome__blas_end(before);
}

/* The signals that a thread of this process blocks. */
static guint64 blocked_by(const char *thread)
{
    char *path = g_build_filename("/proc/self/task", thread, "status", NULL), *text = NULL;
    g_file_get_contents(path, &text, NULL, NULL); /* the thread may have ended */
    const char *at = text ? strstr(text, "\nSigBlk:") : NULL;
    const guint64 blocked = at ? g_ascii_strtoull(at + strlen("\nSigBlk:"), NULL, 16) : UINT64_MAX;
    g_free(text);
    g_free(path);
    return blocked;
}

/* A signal to the process must come to a thread of the program, whose system calls it interrupts. */
static void test_signals(void)
{
    const guint64 wanted = UINT64_C(1) << (SIGTERM - 1) | UINT64_C(1) << (SIGUSR1 - 1);
    char *own = g_strdup_printf("%d", (int)getpid());
    GDir *threads = dome__blas_name() ? g_dir_open("/proc/self/task", 0, NULL) : NULL;
    const char *thread;
    if (!threads) {
        g_test_skip("there is no BLAS, or no list of threads");
    } else {
        g_assert_cmpuint(blocked_by(own) & wanted, ==, 0);
        while ((thread = g_dir_read_name(threads)))
            if (strcmp(thread, own) != 0)
                g_assert_cmpuint(blocked_by(thread) & wanted, ==, wanted);
        g_dir_close(threads);
    }
    g_free(own);
}

/* In a process of its own: one library is loaded for good. */
static void load_like(const char *name, const char *version, long threads)
{
    const char *build = g_getenv("DOME_BUILD_DIR");
    char *path = g_strdup_printf("%s/tests/preload/%s", build ? build : ".", name),
         *wanted = g_strdup_printf("%s %s ", path, version);
    const char *told = dome__blas_load(path);
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        _exit(SKIPPED);
    long *now = dlsym(library, "threads_now"), *least = dlsym(library, "least_threads");
    g_assert_cmpstr(told, ==, wanted);
    const int before = dome__blas_begin();
    g_assert_cmpint(before, ==, threads);
    g_assert_true(!now || *now == 1);
    dome__blas_end(before);
    g_assert_true(!now || (*now == threads && *least == 1));
    g_free(path);
    g_free(wanted);
    _exit(0);
}

/* Libraries other than OpenBLAS tell their version, or else their file does, and use one thread. */
static void test_other_libraries(void)
{
    static const struct {
        const char *name, *version;
        long threads;
    } libraries[] = {{"libblas_like.so", "0.0-like", 4}, {"libblas_plain.so", "libblas_plain.so", 1}};
    for (size_t i = 0; i < G_N_ELEMENTS(libraries); i++) {
        pid_t pid = fork();
        g_assert_cmpint(pid, >=, 0);
        if (pid == 0)
            load_like(libraries[i].name, libraries[i].version, libraries[i].threads);
        int status = 0;
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
            g_test_skip("the library is not built");
        else
            g_assert_cmpint(status, ==, 0);
    }
}

int main(int argc, char **argv)
{
    static const char with_blas[] = "BLAS";
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/blas/other-libraries", test_other_libraries); /* before a library is loaded */
    g_test_add_data_func("/blas/plain", NULL, test_products);
    g_test_add_data_func("/blas/library", with_blas, test_products);
    g_test_add_func("/blas/signals", test_signals);
    return g_test_run();
}
