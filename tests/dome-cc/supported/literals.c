/* Strings and names: wide and Unicode strings, parts of literals, __func__, tables of strings on the stack, literals of structs.
 */
#include <stdio.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>

static int calls;

static int step(int n)
{
    while (n-- > 0)
        calls += n;
    return calls % 5;
}

static const wchar_t *wide[] = {L"zero", L"\x3b1\x3b2", L""};
static const char *const plain[] = {"alpha"
                                    "bet",
                                    [2] = "c\0d", [1] = "tail" + 1};
static char changed[][4] = {"abc", {'x', 'y'}, ""};

static long sum_wide(const wchar_t *s)
{
    long sum = 0;
    for (; *s; s++)
        sum = sum * 7 + *s;
    return sum;
}

static long sum_16(const char16_t *s, const char32_t *t)
{
    long sum = 0;
    while (*s || *t) {
        sum = sum * 3 % 1000003 + *s + (long)*t;
        s += *s != 0;
        t += *t != 0;
    }
    return sum;
}

static const char *named(int n)
{
    const char *name = __func__;
    for (int i = 0; i < n; i++)
        calls += name[i % 5];
    return name;
}

static int words(void)
{
    const char *list[] = {"one",
                          "two"
                          "three",
                          NULL},
               **at = list;
    char text[] = "text", more[8] = "more", *end = text + sizeof text - 1;
    int n = 0;
    for (const char *p; (p = *at); at++)
        n += (int)strlen(p) * step(3);
    while (end > text)
        n += *--end;
    for (char *c = more; *c; c++)
        *c = (char)(*c + 1);
    printf("%s %s %s\n", text, more, __FUNCTION__);
    return n;
}

int main(void)
{
    const char *tail = &"a longer text"[2], *p = plain[1];
    const wchar_t *w = wide[1] + 1;
    wchar_t copy[8] = L"copy";
    long s = sum_wide(wide[0]) + sum_wide(w) + sum_wide(copy) + sum_16(u"hello", U"world\U0001F600");
    printf("%ld %d\n", s % 1000003, (int)wcslen(wide[0]));
    for (int i = 0; i < 3; i++) {
        changed[i][0]++;
        printf("%s %s %d %s\n", plain[i], tail + step(i), changed[i][0], p);
    }
    printf("%s %d %d\n", named(7), words(), strcmp(named(3), "named"));
    printf("%d %s\n", calls, plain[2] + 2);
    return u8"x"[0] == 'x' ? step(1) : 9;
}
