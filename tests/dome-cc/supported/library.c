/* What the C library keeps between calls: rand, random and drand48 give glibc's numbers, and go on with them after a restart;
 * strtok and getopt too; errno survives a capture. Blocks of asprintf and getline. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned sum;

static void add(unsigned value)
{
    for (int i = 0; i < 2; i++)
        sum = sum * 31 + value + (unsigned)i;
}

static void numbers(void)
{
    for (int i = 0; i < 40; i++)
        add((unsigned)rand());
    srand(7);
    for (int i = 0; i < 40; i++)
        add((unsigned)(rand() ^ random()));
    srandom(0);
    add((unsigned)random());
    srand(4000000000u);
    int (*by)(void) = rand;
    for (int i = 0; i < 5; i++)
        add((unsigned)by());
    printf("%u\n", sum);
}

static void numbers48(void)
{
    for (int i = 0; i < 5; i++) {
        double d = drand48(); /* one after the other: arguments have no order */
        long l = lrand48(), m = mrand48();
        printf("%.17g %ld %ld\n", d, l, m);
    }
    srand48(-5);
    for (int i = 0; i < 5; i++)
        add((unsigned)(drand48() * 1e9));
    printf("%u\n", sum);
}

static void words(void)
{
    char text[] = " one, two,,three ,four";
    for (char *w = strtok(text, ", "); w; w = strtok(NULL, ", "))
        add((unsigned)*w);
    printf("%u\n", sum);
}

static void options(void)
{
    char *list[] = {"program", "-a", "-n", "5", "-b", "word", "last", NULL};
    int c;
    while ((c = getopt(7, list, "abn:")) != -1)
        add(c == 'n' ? (unsigned)atoi(optarg) : (unsigned)c);
    while (optind < 7) {
        printf("%s ", list[optind++]);
        add(1);
    }
    printf("%u\n", sum);
}

static void blocks(void)
{
    char *text = NULL, *line = NULL;
    size_t size = 0;
    int n = asprintf(&text, "%d and %s\n", 5, "more");
    FILE *in = fmemopen(text, (size_t)n, "r");
    long length = getline(&line, &size, in);
    fclose(in);
    for (char *c = line; *c; c++)
        add((unsigned)(*c * length));
    printf("%u %d %s", sum, n, line);
    free(line);
    free(text);
}

int main(void)
{
    errno = EDOM;
    numbers();
    printf("%d\n", errno == EDOM);
    numbers48();
    words();
    options();
    blocks();
    return 0;
}
