/* goto into loops and out of them, labels at ends, local labels, switches without braces, fallthrough, empty statements, asm. */
#include <stdio.h>

static int total;

static int f(int n)
{
    while (n-- > 0)
        total += n;
    return total % 4;
}

static int into(int n)
{
    int i = 3, s = 0;
    if (n > 2)
        goto inside;
    for (i = 0; i < n; i++) {
        s += f(i);
    inside:
        s += 10;
        if (s > 60)
            goto out;
    }
    goto end;
out:
    s += f(2);
end:
    return s;
}

static int search(int rows, int columns)
{
    int i, j;
    for (i = 0; i < rows; i++)
        for (j = 0; j < columns; j++) {
            if (f(i + j) == 3 && i * j > 4)
                goto found;
            if (i + j > 7)
                goto next;
        }
next:;
    return -1;
found:
    return i * 100 + j;
}

static int kinds(int n)
{
    int s = 0;
    switch (n % 5)
    case 1:
        s = f(4);
    switch (n)
    default:
        s += f(1);
    switch (f(n) % 3) {
    case 0:
        s += f(2);
        __attribute__((fallthrough));
    case 1:
        if (n > 3) {
            s++;
            break;
        }
        for (int i = 0; i < 3; i++) {
            switch (i) {
            case 1:
                continue;
            case 2:
                s += f(i);
                break;
            }
            s += 2;
        }
        break;
    default:;
    }
    do {
        switch (n) {
        case 4:
            n -= 2;
            continue;
        case 0:
            goto done;
        }
        n--;
    } while (f(n) >= 0);
done:
    return s;
}

static int state(const char *input)
{
    int s = 0;
start:
    switch (*input++) {
    case 'a':
        s += f(1);
        goto start;
    case 'b':
        goto middle;
    case '\0':
        return s;
    }
    goto start;
middle:
    s = s * 2 + f(3);
    if (*input == 'b') {
        input++;
        goto middle;
    }
    goto start;
}

#define SCAN(to)                                                                                                                 \
    ({                                                                                                                           \
        __label__ out;                                                                                                           \
        int k_ = 0;                                                                                                              \
        while (1) {                                                                                                              \
            if (k_ * k_ > (to))                                                                                                  \
                goto out;                                                                                                        \
            k_++;                                                                                                                \
        }                                                                                                                        \
    out:                                                                                                                         \
        k_;                                                                                                                      \
    })

int main(void)
{
    for (int n = 0; n < 7; n++)
        printf("%d %d %d, ", into(n), search(n, 5), kinds(n));
    printf("%d %d\n", state("abbxa"), total);
    while (f(2))
        ;
    for (; f(1) != 3;)
        total++;
    do
        ;
    while (f(3) == 1);
    int x = f(2), y;
    __asm__ volatile("" : "=r"(y) : "0"(x) : "memory");
    if (y == x)
        ;
    else
        f(3);
    printf("%d %d %d\n", SCAN(50), SCAN(f(3) + 7), y + total);
    return 0;
}
