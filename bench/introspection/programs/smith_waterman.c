/* Smith-Waterman: the best local alignment of one sequence with each of many, with affine gaps. */
#include <stdio.h>
#include <stdlib.h>

enum { LETTERS = 20, OPEN = 11, EXTEND = 1 };

struct sequence {
    struct sequence *next;
    int length;
    unsigned char *letters;
};

static int scores[LETTERS][LETTERS];
static unsigned state = 12345;

static unsigned draw(unsigned below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static struct sequence *sequence_new(int length, struct sequence *next)
{
    struct sequence *s = malloc(sizeof(struct sequence));
    if (!s || !(s->letters = malloc(length)))
        exit(1);
    s->next = next;
    s->length = length;
    for (int i = 0; i < length; i++)
        s->letters[i] = (unsigned char)draw(LETTERS);
    return s;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int align(const struct sequence *query, const struct sequence *s, int *h, int *e)
{
    int best = 0;
    for (int j = 0; j <= query->length; j++)
        h[j] = e[j] = 0;
    for (int i = 0; i < s->length; i++) {
        const int *row = scores[s->letters[i]];
        int diagonal = 0, f = 0;
        for (int j = 1; j <= query->length; j++) {
            int here = diagonal + row[query->letters[j - 1]];
            e[j] = larger(e[j] - EXTEND, h[j] - OPEN);
            f = larger(f - EXTEND, h[j - 1] - OPEN);
            diagonal = h[j];
            h[j] = larger(larger(here, 0), larger(e[j], f));
            best = larger(best, h[j]);
        }
    }
    return best;
}

int main(int argc, char **argv)
{
    int sequences = argc > 1 ? atoi(argv[1]) : 1500, best = 0;
    long sum = 0;
    struct sequence *all = NULL, *query = sequence_new(500, NULL);
    int *h = malloc((query->length + 1) * sizeof(int)), *e = malloc((query->length + 1) * sizeof(int));
    if (!h || !e)
        return 1;
    for (int a = 0; a < LETTERS; a++)
        for (int b = 0; b <= a; b++)
            scores[a][b] = scores[b][a] = a == b ? 5 + a % 4 : (int)draw(5) - 4;
    for (int i = 0; i < sequences; i++)
        all = sequence_new(100 + (int)draw(500), all);
    for (const struct sequence *s = all; s; s = s->next) {
        int score = align(query, s, h, e);
        sum += score;
        best = larger(best, score);
    }
    printf("%d %ld\n", best, sum);
    return 0;
}
