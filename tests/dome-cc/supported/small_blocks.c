/* Blocks that cannot hold elements of the type that they get here: a header of no bytes in front of any number of characters, and
 * a length that is not a multiple. They are bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct header {
    double data[1];
};

static void *take(size_t bytes)
{
    struct header *h = malloc(bytes);
    return h->data;
}

static int spin(int n)
{
    int sum = 0;
    while (n-- > 0)
        sum += n;
    return sum;
}

int main(void)
{
    char *texts[6];
    int *numbers = malloc(6);
    for (int i = 1; i < 6; i++) {
        texts[i] = take((size_t)(i * 3 + 700 * (i == 4)));
        memset(texts[i], 'a' + spin(i), (size_t)(i * 3));
        texts[i][i * 3 - 1] = '\0';
    }
    numbers[0] = 5;
    numbers = realloc(numbers, 8);
    numbers[1] = spin(3);
    numbers = realloc(numbers, 901);
    for (int i = 1; i < 6; i++)
        printf("%s %d\n", texts[i], numbers[i & 1] + spin(2));
    numbers = realloc(numbers, 2);
    printf("%d\n", ((char *)numbers)[0] + ((char *)numbers)[1] + spin(1));
    free(numbers);
    return 0;
}
