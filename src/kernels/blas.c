#include "kernels/blas.h"
#include "system/thread.h"

#include <glib.h>
#include <limits.h>
#include <string.h>

/* ---- the library ---- */

#ifdef DOME_WITH_BLAS
#include <cblas.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

static struct {
    bool looked;
    char *name;
    __typeof__(&cblas_sgemm) sgemm;
    __typeof__(&cblas_dgemm) dgemm;
    __typeof__(&cblas_sgemv) sgemv;
    __typeof__(&cblas_dgemv) dgemv;
    bool wide; /* which of the following there are */
    int (*threads)(void);
    void (*set_threads)(int);
    long (*threads_wide)(void);
    void (*set_threads_wide)(long);
} blas;

/* Functions of some libraries beside the standard: texts with the version and the kernels in use, and the number of threads,
 * which BLIS counts in its own integers (of as many bits as a long unless it was built otherwise). Last what every library has
 * that is linked with OpenMP. */
static const struct {
    const char *version, *kernels, *threads, *set_threads;
    bool wide;
} known[] = {{"openblas_get_config", "openblas_get_corename", "openblas_get_num_threads", "openblas_set_num_threads", false},
             {"bli_info_get_version_str", NULL, "bli_thread_get_num_threads", "bli_thread_set_num_threads", true},
             {NULL, NULL, "MKL_Get_Max_Threads", "MKL_Set_Num_Threads", false},
             {NULL, NULL, "omp_get_max_threads", "omp_set_num_threads", false}};

/* Sets *function, a pointer to a function, to the library's; to NULL if it has none. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found;
}

/* The text that a function of the library without arguments returns; "" if there is no such function. */
static const char *text_of(void *library, const char *name)
{
    const char *(*function)(void) = NULL;
    const char *text = name && find(library, name, &function) ? function() : NULL;
    return text ? text : "";
}

/* The name of the library's file, which ends in its version as a rule, without links. */
static char *file_of(void *library)
{
    Dl_info info;
    void *function = dlsym(library, "cblas_dgemm");
    char *path = function && dladdr(function, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
    char *name = path ? g_path_get_basename(path) : g_strdup("");
    free(path);
    return name;
}

/* Finds how to control the threads of the library. Returns an index of `known`, or their number. */
static size_t find_control(void *library)
{
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        blas.wide = known[i].wide;
        if (blas.wide ? find(library, known[i].threads, &blas.threads_wide) &&
                            find(library, known[i].set_threads, &blas.set_threads_wide)
                      : find(library, known[i].threads, &blas.threads) && find(library, known[i].set_threads, &blas.set_threads))
            return i;
    }
    blas.set_threads = NULL;
    blas.set_threads_wide = NULL;
    return G_N_ELEMENTS(known);
}

/* Threads that the library starts block all signals: they are for the program's own threads. */
static void *load(const char *name)
{
    sigset_t before;
    dome__signals_block(&before);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    dome__signals_restore(&before);
    return library;
}

const char *dome__blas_load(const char *name)
{
    if (blas.looked)
        return blas.name;
    blas.looked = true;
    void *library = load(name);
    if (!library || !find(library, "cblas_sgemm", &blas.sgemm) || !find(library, "cblas_dgemm", &blas.dgemm) ||
        !find(library, "cblas_sgemv", &blas.sgemv) || !find(library, "cblas_dgemv", &blas.dgemv))
        return NULL;
    const size_t control = find_control(library);
    const bool is_known = control < G_N_ELEMENTS(known) && known[control].version;
    char *file = is_known ? NULL : file_of(library);
    blas.name = g_strjoin(" ", name, is_known ? text_of(library, known[control].version) : file,
                          is_known ? text_of(library, known[control].kernels) : "", NULL);
    g_free(file);
    return blas.name;
}

const char *dome__blas_name(void)
{
    return dome__blas_load(DOME_BLAS_LIBRARY);
}

static void set_threads(int number)
{
    if (blas.wide)
        blas.set_threads_wide(number);
    else
        blas.set_threads(number);
}

int dome__blas_begin(void)
{
    int before = 1;
    if (blas.wide && blas.set_threads_wide)
        before = (int)blas.threads_wide();
    else if (!blas.wide && blas.set_threads)
        before = blas.threads();
    if (before > 1)
        set_threads(1);
    return before;
}

void dome__blas_end(int before)
{
    if (before > 1)
        set_threads(before);
}

/* The C interface counts in int. */
static bool fits(uint64_t a, uint64_t b, uint64_t c)
{
    return MAX(MAX(a, b), c) <= INT_MAX;
}

/* A matrix with one column is a vector; not every BLAS writes over a NaN that is there before. */
#define BY_BLAS(T, gemm, gemv)                                                                                                   \
    static void gemm##_rows(int rows, int inner, int columns, const T *a, const T *b, T *c)                                      \
    {                                                                                                                            \
        if (columns > 1) {                                                                                                       \
            blas.gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1, a, inner, b, columns, 0, c, columns);  \
        } else {                                                                                                                 \
            memset(c, 0, (size_t)rows * sizeof *c);                                                                              \
            blas.gemv(CblasRowMajor, CblasNoTrans, rows, inner, 1, a, inner, b, 1, 0, c, 1);                                     \
        }                                                                                                                        \
    }
BY_BLAS(float, sgemm, sgemv)
BY_BLAS(double, dgemm, dgemv)

static bool multiply_by_blas(dome_type type, uint64_t rows, uint64_t inner, uint64_t columns, const void *a, const void *b,
                             void *c)
{
    if (!fits(rows, inner, columns))
        return false;
    if (type == DOME_F64)
        dgemm_rows((int)rows, (int)inner, (int)columns, a, b, c);
    else
        sgemm_rows((int)rows, (int)inner, (int)columns, a, b, c);
    return true;
}

static bool transposed_by_blas(uint64_t rows, uint64_t inner, uint64_t columns, const double *a, uint64_t stride, const double *b,
                               double *c)
{
    if (!fits(rows, stride, columns))
        return false;
    if (columns > 1) {
        blas.dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)inner, (int)columns, (int)rows, 1, a, (int)stride, b,
                   (int)columns, 0, c, (int)columns);
    } else {
        memset(c, 0, (size_t)inner * sizeof *c);
        blas.dgemv(CblasRowMajor, CblasTrans, (int)rows, (int)inner, 1, a, (int)stride, b, 1, 0, c, 1);
    }
    return true;
}

#else

const char *dome__blas_load(const char *name)
{
    (void)name;
    return NULL;
}

const char *dome__blas_name(void)
{
    return NULL;
}

int dome__blas_begin(void)
{
    return 1;
}

void dome__blas_end(int before)
{
    (void)before;
}

static bool multiply_by_blas(dome_type type, uint64_t rows, uint64_t inner, uint64_t columns, const void *a, const void *b,
                             void *c)
{
    (void)type, (void)rows, (void)inner, (void)columns, (void)a, (void)b, (void)c;
    return false;
}

static bool transposed_by_blas(uint64_t rows, uint64_t inner, uint64_t columns, const double *a, uint64_t stride, const double *b,
                               double *c)
{
    (void)rows, (void)inner, (void)columns, (void)a, (void)stride, (void)b, (void)c;
    return false;
}

#endif

/* ---- plain loops ---- */

/* The part of B that stays in the cache while all rows of A are multiplied with it. */
enum { TILE_ROWS = 64, TILE_COLUMNS = 512 };

/* Sums of four rows at a time do not wait for each other. */
#define LOOPS(T, suffix)                                                                                                         \
    static void multiply_vector_##suffix(uint64_t rows, uint64_t inner, const T *a, const T *x, T *y)                            \
    {                                                                                                                            \
        uint64_t i = 0;                                                                                                          \
        for (; i + 4 <= rows; i += 4, a += 4 * inner) {                                                                          \
            T sum[4] = {0};                                                                                                      \
            for (uint64_t k = 0; k < inner; k++)                                                                                 \
                for (uint64_t r = 0; r < 4; r++)                                                                                 \
                    sum[r] += a[r * inner + k] * x[k];                                                                           \
            memcpy(y + i, sum, sizeof sum);                                                                                      \
        }                                                                                                                        \
        for (; i < rows; i++, a += inner) {                                                                                      \
            y[i] = 0;                                                                                                            \
            for (uint64_t k = 0; k < inner; k++)                                                                                 \
                y[i] += a[k] * x[k];                                                                                             \
        }                                                                                                                        \
    }                                                                                                                            \
    static void multiply_##suffix(uint64_t rows, uint64_t inner, uint64_t columns, const T *a, const T *b, T *c)                 \
    {                                                                                                                            \
        if (columns == 1) {                                                                                                      \
            multiply_vector_##suffix(rows, inner, a, b, c);                                                                      \
            return;                                                                                                              \
        }                                                                                                                        \
        memset(c, 0, (size_t)(rows * columns) * sizeof *c);                                                                      \
        for (uint64_t left = 0; left < columns; left += TILE_COLUMNS)                                                            \
            for (uint64_t top = 0; top < inner; top += TILE_ROWS)                                                                \
                for (uint64_t i = 0; i < rows; i++) {                                                                            \
                    const uint64_t count = MIN(TILE_COLUMNS, columns - left), bottom = MIN(top + TILE_ROWS, inner);              \
                    T *to = c + i * columns + left;                                                                              \
                    for (uint64_t k = top; k < bottom; k++)                                                                      \
                        add_multiple_##suffix(to, a[i * inner + k], b + k * columns + left, count);                              \
                }                                                                                                                \
    }
#define ADD_MULTIPLE(T, suffix)                                                                                                  \
    static inline void add_multiple_##suffix(T *restrict to, T factor, const T *restrict from, uint64_t count)                   \
    {                                                                                                                            \
        for (uint64_t j = 0; j < count; j++)                                                                                     \
            to[j] += factor * from[j];                                                                                           \
    }
ADD_MULTIPLE(float, f32)
ADD_MULTIPLE(double, f64)
LOOPS(float, f32)
LOOPS(double, f64)

void dome__multiply(dome_type type, bool by_blas, uint64_t rows, uint64_t inner, uint64_t columns, const void *a, const void *b,
                    void *c)
{
    if (rows == 0 || (by_blas && multiply_by_blas(type, rows, inner, columns, a, b, c)))
        return;
    if (type == DOME_F64)
        multiply_f64(rows, inner, columns, a, b, c);
    else
        multiply_f32(rows, inner, columns, a, b, c);
}

void dome__multiply_transposed(bool by_blas, uint64_t rows, uint64_t inner, uint64_t columns, const double *a, uint64_t stride,
                               const double *b, double *c)
{
    if (by_blas && transposed_by_blas(rows, inner, columns, a, stride, b, c))
        return;
    memset(c, 0, (size_t)(inner * columns) * sizeof *c);
    for (uint64_t r = 0; r < rows; r++, a += stride, b += columns) {
        if (columns == 1)
            add_multiple_f64(c, *b, a, inner);
        for (uint64_t i = 0; i < inner && columns > 1; i++)
            add_multiple_f64(c + i * columns, a[i], b, columns);
    }
}
