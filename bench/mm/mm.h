/* What the programs of bench/figure6 share: a matrix X of rows x k is multiplied by a matrix B of k x k again and again. After
 * every MM_REDUCE products the norm of X (Frobenius) is taken, which needs all rows, and the next product is divided by it, as a
 * factor of the product. So the work is the same in all programs, and so are the numbers but for the last digits.
 *
 * A program prints "begin" when its loop begins and a line of mm_print when it has ended. */
#ifndef MM_H
#define MM_H

#include <stdbool.h>
#include <stddef.h>

enum { MM_REDUCE = 10 };

typedef struct mm_options {
    size_t rows, k;
    int products;
} mm_options;

/* Takes --rows N, --k N, --products N. false if there is something else; `speak`: says what on standard error. */
bool mm_parse(mm_options *options, int argc, char **argv, bool speak);

/* Rows first ... first + count - 1 of X; all of B. The values of a row depend on its number alone. */
void mm_fill_x(double *x, size_t first, size_t count, size_t k);
void mm_fill_b(double *b, size_t k);

/* Memory for rows x k values, in place before the clock starts. Ends the program if there is none. */
double *mm_matrix(size_t rows, size_t k);

/* y = factor * x b */
void mm_multiply(double *y, const double *x, const double *b, size_t rows, size_t k, double factor);

/* The sum of the squares of x. */
double mm_squares(const double *x, size_t rows, size_t k);

/* Whether the norm is due after so many products. */
bool mm_due(const mm_options *options, int products);

/* Of one task: the loop's wall time, the part of it after half of the products, and the processor time. */
typedef struct mm_clock {
    double begin, half, end, processor;
} mm_clock;

/* announce: prints "begin", for those who wait for the loop. */
void mm_begin(mm_clock *clock, bool announce);
void mm_tick(mm_clock *clock, const mm_options *options, int products); /* after each product */
void mm_end(mm_clock *clock);

/* processor: of all tasks. */
void mm_print(const mm_clock *clock, double norm, double processor);

#endif
