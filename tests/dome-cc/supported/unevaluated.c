/* What is not evaluated: sizeof, _Alignof, typeof, _Generic, __builtin_constant_p and the like, with calls that would poll;
 * _Static_assert, offsetof. */
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>

struct pair {
    char c;
    short s[3];
};

static int calls;

static int count(int n)
{
    for (int i = 0; i < n; i++)
        calls++;
    return calls;
}

static struct pair make(int n)
{
    struct pair p = {(char)count(n), {1, 2, 3}};
    return p;
}

int main(void)
{
    _Static_assert(sizeof(int) == 4, "int");
    int s = (int)(sizeof count(1) + sizeof(count(2)) + sizeof make(3).s + _Alignof(short));
    __typeof__(count(4)) t = count(5);
    typeof(make(6)) p = make(7);
    __typeof__(&p.s[count(1)]) q = &p.s[count(1) % 3];
    int kind = _Generic(count(8), int : 1, default : 2) + _Generic(q, short * : 3, default : 0) + count(1);
    int known = __builtin_choose_expr(sizeof(int) == 4, 3, 4.5);
    known += __builtin_constant_p(5) ? count(1) : 100;
    __auto_type automatic = count(2);
    printf("%d %d %d %d %d %d\n", s, t, kind, known, automatic, *q);
    printf("%d %d\n", (int)offsetof(struct pair, s[1]), (int)(sizeof(struct { char c[3]; }) * (size_t)count(1)));
    for (int i = 0; i < (int)sizeof(count(1)); i++)
        p.s[i % 3] += (short)count(sizeof(p.c));
    if (__builtin_expect(count(1) > 5, 1))
        printf("%d %d\n", p.s[0], calls);
    return 0;
}
