/* Declarations in inner scopes, names that hide others, static locals, types of functions, arrays with initial values. */
#include <stdio.h>
#include <string.h>

int x = 5;
enum { RED = 1 };
struct s {
    int a;
};

static int tick(void)
{
    static int n = 3;
    for (int i = 0; i < 2; i++)
        n += x;
    while (n > 50)
        n -= 40;
    return n++;
}

static int tock(void)
{
    static int n, *where = &n;
    enum { RED = 7, BLUE };
    struct s {
        double d;
        int k;
    } one = {1.5, RED};
    typedef struct s other;
    static other kept[2] = {{0.5, 1}};
    kept[1].k += tick();
    ++*where;
    return one.k + BLUE + kept[0].k + kept[1].k + n;
}

int main(void)
{
    int y = x + tick();
    int x = tick();
    {
        int x = y, z = x + tick();
        y += z;
        {
            char x[8] = "abc", w[] = "wxyz";
            x[1] = (char)('a' + tick() % 26);
            y += (int)strlen(x) + w[tick() % 4];
        }
    }
    for (int y = 0; y < 3; y++) {
        int table[4] = {y, tick(), [3] = 9}, zeros[5] = {0};
        const int c = tick();
        zeros[y] += c;
        int fresh;
        if (y == 0)
            fresh = tick();
        else
            fresh = table[1];
        x += table[y] + table[3] + c + zeros[y] + fresh;
    }
    printf("%d %d %d %d\n", x, y, tock(), tock());
    struct s g = {RED};
    printf("%d %zu\n", g.a + tick(), sizeof(struct s));
    return 0;
}
