#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jmp_buf back;

static int many(int n, ...)
{
    va_list list;
    int s = 0;
    va_start(list, n);
    while (n-- > 0)
        s += va_arg(list, int);
    va_end(list);
    return s;
}

static int vla(int n)
{
    int a[n], s = 0; // REFUSED: the variable a has a variable length
    for (int i = 0; i < n; i++)
        a[i] = many(1, i);
    return a[0] + s;
}

static double matrix(int n, double a[n][n]) // REFUSED: the variable a has a variable length
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i][many(1, i)];
    return s;
}

static char *room(int n)
{
    char *p = alloca((size_t)n); // REFUSED: alloca
    while (n-- > 0)
        p[n] = 0;
    return 0;
}

static int through(jmp_buf buffer, int n)
{
    if (setjmp(buffer)) // REFUSED: through: setjmp for what a pointer leads to
        return 0;
    while (n-- > 0)
        many(1, n);
    return 1;
}

static void *giving(size_t n)
{
    if (setjmp(back)) // REFUSED: setjmp in a function that allocates a block for its caller
        return NULL;
    return malloc(n);
}

static void *giving_thread(void *p)
{
    return p;
}

struct level {
    jmp_buf back;
    int n;
};

static int given(struct level l)
{
    return l.n;
}

static int copies(struct level *from, struct level *to)
{
    struct level own = *from;                                // REFUSED: a jmp_buf is copied
    *to = *from;                                             // REFUSED: a jmp_buf is copied
    memcpy(to->back, from->back, sizeof(jmp_buf));           // REFUSED: a jmp_buf is copied
    memmove((char *)to + 8, (const char *)&own, sizeof own); // REFUSED: a jmp_buf is copied
    memset(&own, 0, sizeof own);
    return own.n + given(*from); // REFUSED: a jmp_buf is copied
}

int main(void)
{
    struct level fresh = {.n = 3}, other;
    int (*jump)(jmp_buf) = _setjmp; // REFUSED: the address of _setjmp
    if (fork() == 0)                // REFUSED: fork: what it does to the stack or to the process
        return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, giving_thread, NULL); // REFUSED: pthread_create: what it does to the stack or to the process
    void *go = &&end;                                   // REFUSED: the address of a label
    goto *go;                                           // REFUSED: the address of a label
end:
    return copies(&fresh, &other) + vla(3) + (int)matrix(1, NULL) + (room(3) != NULL) + through(back, 2) + (jump == NULL) +
           (*(int *)giving(4));
}
