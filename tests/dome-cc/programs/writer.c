/* writer DIRECTORY STEPS: a program without a call of Dome that writes files, from functions that are inside of others: one from
 * the beginning to the end, one that it appends to, one that it opens and closes again and again, one that it changes in place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct writer {
    const char *directory;
    FILE *log, *append, *part, *source, *table;
    unsigned state;
    long lines;
};

static FILE *open_in(const char *directory, const char *name, const char *mode)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, mode);
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static unsigned draw(struct writer *w)
{
    w->state = w->state * 1664525 + 1013904223;
    return w->state >> 8;
}

/* Digits one by one, the last one first, each from a call of its own. */
static int write_number(struct writer *w, FILE *to, unsigned long n)
{
    int written = n >= 10 ? write_number(w, to, n / 10) : 0;
    putc((int)('0' + n % 10), to);
    w->lines++;
    return written + 1;
}

static void copy_line(struct writer *w)
{
    int c;
    while ((c = getc(w->source)) != EOF && c != '\n')
        putc(c, w->log);
    putc('\n', w->log);
}

static void change(struct writer *w, long step)
{
    fseek(w->table, (long)(draw(w) % 100) * 8, SEEK_SET);
    for (int k = 0; k < 7; k++)
        putc('a' + (int)((step + k) % 26), w->table);
}

static void write_part(struct writer *w, long step)
{
    if (step % 50 == 0) {
        w->part = open_in(w->directory, "short", "w");
    } else if (step % 50 == 20) {
        fclose(w->part);
        w->part = NULL;
    }
    if (w->part)
        write_number(w, w->part, (unsigned long)step);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    struct writer w = {.directory = argv[1], .state = 1};
    long steps = atol(argv[2]);
    w.log = open_in(w.directory, "log", "w");
    w.append = open_in(w.directory, "append", "a");
    w.source = open_in(w.directory, "source", "r");
    w.table = open_in(w.directory, "table", "w+");
    for (int k = 0; k < 800; k++)
        putc('-', w.table);
    for (long step = 0; step < steps; step++) {
        fprintf(w.log, "step %ld: %u\n", step, draw(&w));
        if (step % 3 == 0)
            write_number(&w, w.append, (unsigned long)step * 1000003);
        if (step % 7 == 0)
            copy_line(&w);
        change(&w, step);
        write_part(&w, step);
        usleep(100);
    }
    write_number(&w, w.log, (unsigned long)w.lines);
    fclose(w.table);
    fclose(w.append);
    return fclose(w.log) != 0;
}
