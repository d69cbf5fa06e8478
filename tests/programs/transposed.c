/* transposed PRODUCTS: so many of the transpose of a tall matrix, whose rows have 10 entries in random columns. */
#include <dome/dome.h>
#include <stdlib.h>

enum { ROWS = 20000, COLUMNS = 50, ENTRIES = 10 };

static void fill_row(void *ctx, uint64_t row, dsparse_row *entries)
{
    uint64_t random = row * 0x9e3779b97f4a7c15u + 1;
    (void)ctx;
    for (int k = 0; k < ENTRIES; k++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        dsparse_row_add(entries, (random >> 33) % COLUMNS, 1);
    }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const int products = argc > 1 ? atoi(argv[1]) : 1;
    dsparse *tall = dsparse_new(env, "tall", ROWS, COLUMNS);
    dvec *x = dvec_new(env, "x", DOME_F64, ROWS), *y = dvec_new(env, "y", DOME_F64, COLUMNS);
    dsparse_fill_rows(tall, fill_row, NULL);
    dvec_fill(x, 1);
    for (int k = 0; k < products; k++)
        dsparse_multiply_transposed(y, tall, x);
    dome_print(env, "%d\n", (int)dvec_sum(y));
    return dome_finalize(env);
}
