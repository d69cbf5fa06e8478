/* One buffer, for which setjmp is called at two places in turn. */
#include <setjmp.h>
#include <stdio.h>
static jmp_buf b;
static int work(int n)
{
    return n <= 0 ? 0 : 1 + work(n - 1);
}
static void thrower(int k, int n)
{
    int mem[4] = {work(n), 0, 0, k};
    int *p = mem;
    work(p[3]);
    longjmp(b, p[3]);
}
static int f(int rounds)
{
    volatile int s = 0;
    volatile int state = 0;
    int keep = rounds * 3;
    for (volatile int i = 0; i < rounds; i++) {
        state = 0;
        int r = setjmp(b);
        if (r)
            s = s * 3 + r;
        if (state == 0) {
            state = 1;
            thrower(1, 2);
        }
        state = 0;
        if ((r = setjmp(b)) != 0)
            s = s * 5 + r;
        if (state == 0) {
            state = 1;
            thrower(2, 1);
        }
    }
    return s + keep;
}
int main(void)
{
    printf("%d\n", f(3));
    printf("%d\n", f(2));
    return 0;
}
