/* && || ?: ! and comma with calls, in conditions of if, while, for and do. */
#include <stdio.h>

static int calls;

static int is(int x)
{
    do
        calls++;
    while (calls % 3);
    return x;
}

static const char *word(int x)
{
    return is(x) ? "yes" : "no";
}

int main(void)
{
    int n = 0;
    if (is(1) && is(0))
        puts("never");
    else if (is(0) || is(2))
        printf("or %d\n", calls);
    printf("%d %d %d\n", is(1) && is(5), is(0) || is(0), !is(3));
    printf("%s %s\n", word(0), word(1));
    while (is(n < 5) && n++ != 3)
        printf("w%d ", n);
    for (int i = is(0); is(i < 4); i += is(1)) {
        if (i == 1)
            continue;
        printf("f%d ", i);
    }
    int d = 0;
    do {
        if (d++ == 1)
            continue;
        printf("d%d ", d);
        if (d > 7)
            break;
    } while (is(d < 9));
    puts("");
    int x = is(0) ? is(7) : is(1) ? is(8) + 1 : is(9);
    int y = (is(2), is(3) ? 4 : 5);
    is(1) ? (void)is(2) : (void)printf("none\n");
    is(0) && printf("not\n");
    is(0) || printf("or else %d\n", calls);
    printf("%d %d %d\n", x, y, calls);
    return 0;
}
