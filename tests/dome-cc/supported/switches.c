/* switch with calls: fall-through, declarations inside, nested, default in the middle; Duff's device; goto. */
#include <stdio.h>

static int steps;

static int turn(int x)
{
    for (int i = 0; i < x + 1; i++)
        steps += turn > (int (*)(int))0;
    while (steps > 1000)
        steps -= 500;
    return x;
}

static int choose(int x)
{
    int r = 0;
    switch (turn(x)) {
        int inner;
    case 0:
        inner = turn(3);
        r += inner;
        /* fall through */
    case 1: {
        int y = turn(5);
        r += y;
        break;
    }
    default:
        r = 100;
        if (x > 5) {
        case 3:
            r += turn(7);
        }
        break;
    case 4:
    case 5:
        switch (x) {
        case 4:
            r = turn(40);
            break;
        default:
            r = -1;
        }
        return r + turn(1);
    }
    return r;
}

static int copy(int n)
{
    int done = 0, k = (n + 3) / 4;
    switch (n % 4) {
    case 0:
        do {
            done += turn(1);
        case 3:
            done += turn(1);
        case 2:
            done += turn(1);
        case 1:
            done += turn(1);
        } while (--k > 0);
    }
    return done;
}

int main(void)
{
    for (int i = 0; i < 8; i++)
        printf("%d ", choose(i));
    printf("%d %d\n", copy(10), copy(7));
    int n = 0;
again:
    n += turn(2);
    if (n < 9)
        goto again;
    {
        int m = turn(1);
        if (m == n)
            goto out;
    back:
        n += m;
    }
    if (n < 13)
        goto back;
out:
    printf("%d %d\n", n, steps);
    return 0;
}
