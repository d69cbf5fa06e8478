/* Streams: files that are written and read while the program is captured. */
#include <stdio.h>
#include <stdlib.h>

static FILE *log_file;

static void note(const char *what, int n)
{
    for (int i = 0; i < n; i++)
        fprintf(log_file, "%s %d\n", what, i);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "files.tmp";
    log_file = fopen(path, "w");
    if (!log_file)
        return 1;
    note("first", 5);
    note("second", 3);
    fclose(log_file);
    FILE *in = fopen(path, "r");
    char line[80];
    int lines = 0;
    while (in && fgets(line, sizeof line, in)) {
        lines++;
        for (char *c = line; *c; c++)
            lines += *c == 's';
    }
    fclose(in);
    remove(path);
    printf("%d\n", lines);
    return 0;
}
