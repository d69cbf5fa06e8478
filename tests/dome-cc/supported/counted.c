/* A loop that ends by a count which "continue" leaves as it is. */
#include <stdio.h>
#include <stdlib.h>

static int length(int n)
{
    int s = 0;
    while (n > 1) {
        s += n & 1;
        n = n % 2 ? 3 * n + 1 : n / 2;
    }
    return s;
}

int site(int k);
int site(int k)
{
    return length(k + 1) % 7 == 3;
}

static int places[6];
void find(int *list, int count);
void find(int *list, int count)
{
    for (int tries = 0; count > 0 && tries < 10000; tries++) {
        int k = rand() % 100;
        if (!site(k))
            continue;
        list[--count] = k;
    }
}

int main(void)
{
    find(places, 6);
    unsigned h = 0;
    for (int i = 0; i < 6; i++)
        h = h * 31 + (unsigned)places[i];
    printf("%u\n", h);
    return 0;
}
