/* Many small functions that call each other, in the manner of a land-use model: a grid of cells with rules. */
#include <stdio.h>
#include <stdlib.h>

enum { WIDE = 300 };
struct cell {
    int use, age;
    float value, slope;
};

static struct cell grid[WIDE][WIDE];
static unsigned seed = 5;

static float uniform(void)
{
    seed = seed * 1103515245u + 12345u;
    return (float)(seed >> 16 & 32767) / 32768.0f;
}

static int inside(int x, int y)
{
    return x >= 0 && y >= 0 && x < WIDE && y < WIDE;
}

static float worth(const struct cell *c)
{
    return c->value / (1.0f + c->slope);
}

static int neighbours(int x, int y, int use)
{
    int n = 0;
    for (int dx = -1; dx <= 1; dx++)
        for (int dy = -1; dy <= 1; dy++)
            n += inside(x + dx, y + dy) && grid[x + dx][y + dy].use == use;
    return n;
}

static float attraction(int x, int y, int use)
{
    return worth(&grid[x][y]) * (float)neighbours(x, y, use);
}

static int best_use(int x, int y)
{
    int best = 0;
    float most = -1;
    for (int use = 0; use < 4; use++) {
        float a = attraction(x, y, use);
        if (a > most) {
            most = a;
            best = use;
        }
    }
    return best;
}

static void grow(struct cell *c)
{
    c->age++;
    c->value += 0.01f * uniform();
}

static int step(int x, int y)
{
    struct cell *c = &grid[x][y];
    grow(c);
    int use = best_use(x, y), changed = use != c->use && uniform() < 0.1f;
    if (changed) {
        c->use = use;
        c->age = 0;
    }
    return changed;
}

int main(int argc, char **argv)
{
    int years = argc > 1 ? atoi(argv[1]) : 400;
    long changed = 0, ages = 0;
    for (int x = 0; x < WIDE; x++)
        for (int y = 0; y < WIDE; y++)
            grid[x][y] = (struct cell){(int)(uniform() * 4), 0, uniform(), uniform()};
    for (int t = 0; t < years; t++)
        for (int x = 0; x < WIDE; x++)
            for (int y = 0; y < WIDE; y++)
                changed += step(x, y);
    for (int x = 0; x < WIDE; x++)
        for (int y = 0; y < WIDE; y++)
            ages += grid[x][y].age;
    printf("%ld %ld\n", changed, ages);
    return 0;
}
