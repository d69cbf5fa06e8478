/* Streams of descriptors: regular files, of which each has a name when fdopen gets it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void note(FILE *file, const char *what, int n)
{
    for (int i = 0; i < n; i++)
        fprintf(file, "%s %d\n", what, i);
}

static int count(FILE *file)
{
    int sum = 0, c;
    while ((c = getc(file)) != EOF)
        sum = sum * 3 + c;
    return sum;
}

int main(void)
{
    const char *path = "descriptors.tmp"; /* remains: programs go on from all polls */
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out)
        return 1;
    note(out, "first", 5);
    note(out, "second", 3);
    fclose(out);
    fd = open(path, O_WRONLY | O_APPEND);
    out = fdopen(fd, "a");
    note(out, "third", 2);
    fclose(out);
    FILE *in = fdopen(open(path, O_RDONLY), "r");
    const int sum = count(in);
    fclose(in);
    printf("%d %d\n", sum, fdopen(-1, "r") == NULL);
    return 0;
}
