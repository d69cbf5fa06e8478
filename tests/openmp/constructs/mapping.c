/* Memory by mmap: private pages and files that are mapped, written and read by all threads; what is reserved and then used;
 * another size; parts that are given back. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MANY = 1 << 16, PAGE = 4096 };
static const int private = MAP_PRIVATE | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;

static void *pages(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *got = mmap(at, bytes, protection, flags, fd, offset);
    if (got == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return got;
}

static double sum_of(const double *all, int n)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += all[n - 1 - i];
    return sum;
}

static void numbers(void)
{
    double *all = pages(NULL, MANY * sizeof *all, both, private, -1, 0);
#pragma omp parallel for
    for (int i = 0; i < MANY; i++)
        all[i] = all[i] + i;
    printf("%g\n", sum_of(all, MANY));
    all = mremap(all, MANY * sizeof *all, 2 * MANY * sizeof *all, MREMAP_MAYMOVE);
#pragma omp parallel for
    for (int i = 0; i < MANY; i++)
        all[MANY + i] += 2 * all[i];
    printf("%g %d\n", sum_of(all, 2 * MANY), mprotect(all, 2 * MANY * sizeof *all, PROT_READ));
    printf("%g %d\n", sum_of(all, 2 * MANY), mprotect(all, 2 * MANY * sizeof *all, both));
    printf("%d %d\n", madvise(all, MANY * sizeof *all, MADV_HUGEPAGE) == 0, madvise(all, MANY * sizeof *all, MADV_DONTNEED));
    printf("%g\n", sum_of(all, 2 * MANY));
    printf("%d\n", munmap(all, 2 * MANY * sizeof *all));
}

static void file(void)
{
    FILE *f = tmpfile();
    for (int i = 0; i < 10000; i++)
        fputc('a' + i % 26, f);
    fflush(f);
    const char *text = pages(NULL, 10000, PROT_READ, MAP_SHARED, fileno(f), 0);
    char *own = pages(NULL, 10000 - PAGE, both, MAP_PRIVATE, fileno(f), PAGE);
    long sum = 0, more = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 10000; i++)
        sum += text[i] * (i % 7);
#pragma omp parallel for
    for (int i = 0; i < 10000 - PAGE; i++)
        own[i] -= 'a';
#pragma omp parallel for reduction(+ : more)
    for (int i = 0; i < 10000 - PAGE; i++)
        more += own[10000 - PAGE - 1 - i] * (i % 5);
    printf("%ld %ld %c %d\n", sum, more, text[PAGE], own[10000 - PAGE]);
    printf("%d %d\n", munmap((void *)(uintptr_t)text, 10000), munmap(own, 10000 - PAGE));
    fclose(f);
}

static void reserved(void)
{
    char *all = pages(NULL, 64 * PAGE, PROT_NONE, private, -1, 0);
    printf("%d\n", mprotect(all + 8 * PAGE, 8 * PAGE, both));
    char *some = pages(all + 32 * PAGE, 8 * PAGE, both, private | MAP_FIXED, -1, 0);
    int sum = 0;
#pragma omp parallel for
    for (int i = 0; i < 8 * PAGE; i++)
        all[8 * PAGE + i] = some[i] = (char)(i % 100);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 8 * PAGE; i++)
        sum += all[8 * PAGE + i] + some[8 * PAGE - 1 - i];
    some = pages(all + 32 * PAGE, 8 * PAGE, both, private | MAP_FIXED, -1, 0);
    printf("%d %d\n", sum, some[77]);
    printf("%d %d\n", munmap(all, 8 * PAGE), munmap(all + 60 * PAGE, 4 * PAGE));
    printf("%d\n", munmap(all + 8 * PAGE, 52 * PAGE));
}

/* Each thread maps, and the next one reads and unmaps. */
static void of_threads(void)
{
    static int *theirs[4];
    int wrong = 0;
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(4) reduction(+ : wrong)
        {
            const int me = omp_get_thread_num();
            theirs[me] = pages(NULL, 3 * PAGE, both, private, -1, 0);
            for (int i = 0; i < 3 * PAGE / 4; i++) {
                wrong += theirs[me][i] != 0;
                theirs[me][i] = me + i;
            }
#pragma omp barrier
            for (int i = 0; i < 3 * PAGE / 4; i++)
                wrong += theirs[(me + 1) % 4][i] != (me + 1) % 4 + i;
#pragma omp barrier
            wrong += munmap(theirs[(me + 1) % 4], 3 * PAGE);
        }
    }
    printf("%d\n", wrong);
}

int main(void)
{
    numbers();
    file();
    reserved();
    of_threads();
    for (int i = 0; i < 20; i++) { /* memory is used again */
        char *much = pages(NULL, 16 << 20, both, private, -1, 0);
        much[i * PAGE] = 1;
        munmap(much, 16 << 20);
    }
    printf("%d\n", pages(NULL, 0x100000, both, private, -1, 0) != NULL && mmap(NULL, 0, both, private, -1, 0) == MAP_FAILED);
    return 0;
}
