/* Structs of which the program looks at the bytes, among them those that lie between the members. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
    char c;
    short s;
};
struct key {
    char a;
    int b;
    struct part parts[2];
    char z;
};
struct plain {
    char a;
    int b;
};

static unsigned mix(const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    unsigned h = 5381;
    while (n-- > 0)
        h = h * 33 + *b++;
    return h;
}

static struct key table[4];

static void set(struct key *k, int i)
{
    memset(k, 0xa5, sizeof *k);
    k->a = (char)i;
    k->b = 7 * i;
    k->parts[0].c = k->parts[1].c = 'c';
    k->parts[0].s = k->parts[1].s = (short)i;
    k->z = 'z';
}

int main(void)
{
    struct key own, *block = malloc(2 * sizeof *block);
    struct plain *plain = calloc(2, sizeof *plain);
    unsigned before[4];
    set(&own, 2);
    for (int i = 0; i < 4; i++) {
        set(&table[i], i);
        set(&block[i & 1], i);
        before[i] = mix(&table[i], sizeof table[i]);
    }
    for (int i = 0; i < 4; i++)
        printf("%d %d %d %d\n", before[i] == mix(&table[i], sizeof(struct key)), memcmp(&own, &table[i], sizeof own) == 0,
               memcmp(&block[0], &own, sizeof own) == 0, plain[i & 1].b);
    printf("%u\n", mix(block, 2 * sizeof *block));
    return 0;
}
