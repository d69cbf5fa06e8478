/* A search in the manner of fasta: words of a query in a hash table with chains, hits by diagonal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS = 20, WORD = 3, BUCKETS = 1 << 10 };

struct entry {
    struct entry *next;
    int word, place;
};

static struct entry *table[BUCKETS];
static unsigned state = 99;

static unsigned draw(unsigned below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static int word_at(const char *text, int place)
{
    int w = 0;
    for (int i = 0; i < WORD; i++)
        w = w * LETTERS + (text[place + i] - 'A');
    return w;
}

static unsigned bucket_of(int word)
{
    return (unsigned)word * 2654435761u >> 22;
}

static void enter(int word, int place)
{
    struct entry *e = malloc(sizeof(struct entry));
    if (!e)
        exit(1);
    *e = (struct entry){table[bucket_of(word)], word, place};
    table[bucket_of(word)] = e;
}

static int search(const char *text, int length, int *diagonals, int query_length)
{
    int best = 0;
    memset(diagonals, 0, (size_t)(length + query_length) * sizeof(int));
    for (int i = 0; i + WORD <= length; i++) {
        int word = word_at(text, i);
        for (const struct entry *e = table[bucket_of(word)]; e; e = e->next)
            if (e->word == word) {
                int hits = ++diagonals[i - e->place + query_length];
                if (hits > best)
                    best = hits;
            }
    }
    return best;
}

int main(int argc, char **argv)
{
    int sequences = argc > 1 ? atoi(argv[1]) : 40000, query_length = 1000, longest = 1500;
    char *query = malloc(query_length), *text = malloc(longest);
    int *diagonals = malloc((longest + query_length) * sizeof(int));
    long sum = 0;
    if (!query || !text || !diagonals)
        return 1;
    for (int i = 0; i < query_length; i++)
        query[i] = (char)('A' + draw(LETTERS));
    for (int i = 0; i + WORD <= query_length; i++)
        enter(word_at(query, i), i);
    for (int k = 0; k < sequences; k++) {
        int length = 500 + (int)draw(1000);
        for (int i = 0; i < length; i++)
            text[i] = (char)('A' + draw(LETTERS));
        sum += search(text, length, diagonals, query_length);
    }
    printf("%ld\n", sum);
    return 0;
}
