/* delta: what it costs to find, write down and apply what has changed in memory, and how long that is: deltas (src/delta) by
 * words of 8 bytes and by bytes, beside the four representations of CAPE.
 *
 *     delta [MEBIBYTES]        64 by default
 *
 * CAPE's are those of Viet Hai Ha's thesis (2012), section 3.5.2, with addresses and words of 8 bytes: SD, an address and a word;
 * SSD, an address, a length and neighbouring words; MD, an address, a map of the page and the words that changed; EP, an address
 * and the whole page. A page gets the shorter of SD with SSD and MD; EP is shorter where more than 504 of 512 words changed, and
 * was left to new pages, because it cannot be merged. Times are processor time of this thread, the best of five turns; GB/s is of
 * the memory that is compared (make) and of the values that are written to memory and its copy (apply). */
#include "delta/delta.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 5, PAGE_WORDS = 512 };

typedef struct memory {
    size_t words;
    uint64_t *now, *then, *other, *third;
} memory;

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what changes ---- */

typedef struct pattern {
    const char *text;
    double density; /* of words, at random places */
    unsigned run;   /* words in a run; their density is that of words */
    bool low_bytes; /* of a word two bytes change, as of a double that changes little */
} pattern;

static const pattern patterns[] = {
    {"nothing", 0, 1, false},
    {"1 in 1,000 words, at random", 0.001, 1, false},
    {"1 in 1,000, in runs of 1,000", 0.001, 1000, false},
    {"1 %, at random", 0.01, 1, false},
    {"12.5 %, at random", 0.125, 1, false},
    {"50 %, at random", 0.5, 1, false},
    {"all", 1, 1, false},
    {"all, two low bytes of each", 1, 1, true},
};

static uint64_t random_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t change(memory *m, const pattern *p, int turn)
{
    uint64_t state = UINT64_C(88172645463325252) + (uint64_t)turn;
    size_t changed = 0;
    for (size_t k = 0; k < m->words; k += p->run) {
        if ((double)(random_number(&state) >> 11) * 0x1p-53 >= p->density)
            continue;
        for (size_t j = k; j < k + p->run && j < m->words; j++, changed++)
            m->now[j] ^= p->low_bytes ? 0x0101 : 0x0101010101010101;
    }
    return changed;
}

/* ---- the representations of CAPE ---- */

static size_t page_runs(const uint64_t *now, const uint64_t *then, uint64_t address, uint64_t *out)
{
    size_t used = 0;
    for (size_t k = 0; k < PAGE_WORDS; k++) {
        if (now[k] == then[k])
            continue;
        size_t end = k + 1;
        while (end < PAGE_WORDS && now[end] != then[end])
            end++;
        out[used++] = (address + 8 * k) | (end - k > 1);
        if (end - k > 1)
            out[used++] = end - k;
        memcpy(out + used, now + k, 8 * (end - k));
        used += end - k;
        k = end;
    }
    return used;
}

static size_t page_map(const uint64_t *now, const uint64_t *then, uint64_t address, uint64_t *out)
{
    size_t used = 1 + PAGE_WORDS / 64;
    out[0] = address | 2;
    memset(out + 1, 0, PAGE_WORDS / 8);
    for (size_t k = 0; k < PAGE_WORDS; k++) {
        uint64_t differs = now[k] != then[k];
        out[1 + k / 64] |= differs << k % 64;
        out[used] = now[k];
        used += differs;
    }
    return used;
}

/* Words written. out has room for a page more than the memory twice. */
static size_t cape(const memory *m, uint64_t *out)
{
    uint64_t runs[PAGE_WORDS * 2 + 2], map[PAGE_WORDS + 16];
    size_t used = 0;
    for (size_t at = 0; at + PAGE_WORDS <= m->words; at += PAGE_WORDS) {
        size_t a = page_runs(m->now + at, m->then + at, 8 * at, runs);
        if (!a)
            continue;
        size_t b = page_map(m->now + at, m->then + at, 8 * at, map);
        memcpy(out + used, a <= b ? runs : map, 8 * (a <= b ? a : b));
        used += a <= b ? a : b;
    }
    memcpy(m->then, m->now, 8 * m->words);
    return used;
}

static void cape_apply(const uint64_t *in, size_t words, uint64_t *memory, uint64_t *twin)
{
    for (const uint64_t *end = in + words; in < end;) {
        uint64_t kind = in[0] & 7, at = (in[0] & ~(uint64_t)7) / 8;
        if (kind == 2) {
            const uint64_t *values = in + 1 + PAGE_WORDS / 64;
            for (size_t k = 0; k < PAGE_WORDS; k++)
                if (in[1 + k / 64] >> k % 64 & 1)
                    memory[at + k] = twin[at + k] = *values++;
            in = values;
            continue;
        }
        size_t count = kind ? in[1] : 1;
        in += 1 + kind;
        memcpy(memory + at, in, 8 * count);
        memcpy(twin + at, in, 8 * count);
        in += count;
    }
}

/* ---- measuring ---- */

typedef struct figures {
    double make, apply; /* s */
    double bytes, payload;
} figures;

static void keep_least(double *least, double seconds)
{
    if (*least == 0 || seconds < *least)
        *least = seconds;
}

static void prepare(memory *m, const pattern *p, int turn, double *payload)
{
    memcpy(m->then, m->now, 8 * m->words);
    memcpy(m->other, m->now, 8 * m->words);
    memcpy(m->third, m->now, 8 * m->words);
    *payload = (double)change(m, p, turn) * (p->low_bytes ? 2 : 8);
}

static void check(const memory *m)
{
    if (memcmp(m->now, m->then, 8 * m->words) || memcmp(m->now, m->other, 8 * m->words) ||
        memcmp(m->now, m->third, 8 * m->words)) {
        fprintf(stderr, "delta: what was applied differs from the memory\n");
        exit(1);
    }
}

static figures measure(memory *m, const pattern *p, unsigned unit)
{
    figures f = {0};
    dome_delta *delta = dome__delta_new(unit);
    for (int turn = 0; turn < TURNS; turn++) {
        prepare(m, p, turn, &f.payload);
        dome__delta_clear(delta);
        double begin = processor_time();
        dome__delta_find(delta, 0, m->now, m->then, 8 * m->words, DOME_DELTA_TAKE);
        keep_least(&f.make, processor_time() - begin);
        begin = processor_time();
        dome__delta_apply(delta, m->other, 8 * m->words, m->third);
        keep_least(&f.apply, processor_time() - begin);
        check(m);
    }
    size_t bytes;
    dome__delta_records(delta, &bytes);
    f.bytes = (double)bytes;
    dome__delta_free(delta);
    return f;
}

static figures measure_cape(memory *m, const pattern *p, uint64_t *out)
{
    figures f = {0};
    for (int turn = 0; turn < TURNS; turn++) {
        prepare(m, p, turn, &f.payload);
        double begin = processor_time();
        size_t words = cape(m, out);
        keep_least(&f.make, processor_time() - begin);
        begin = processor_time();
        cape_apply(out, words, m->other, m->third);
        keep_least(&f.apply, processor_time() - begin);
        check(m);
        f.bytes = 8 * (double)words;
    }
    return f;
}

static void print_figures(const memory *m, figures f)
{
    printf(" | %5.1f ", 8e-9 * (double)m->words / f.make);
    printf(f.payload > 0 ? "%6.1f %6.2f" : "     -      -", 1e-9 * f.payload / f.apply, f.bytes / f.payload);
}

/* The time of memcmp and memcpy: what no delta can be faster than. */
static double measure_plain(memory *m, bool copy)
{
    double least = 0;
    memcpy(m->then, m->now, 8 * m->words);
    for (int turn = 0; turn < TURNS; turn++) {
        double begin = processor_time();
        if (copy)
            memcpy(m->other, m->now, 8 * m->words);
        else if (memcmp(m->now, m->then, 8 * m->words))
            abort();
        keep_least(&least, processor_time() - begin);
    }
    return least;
}

static uint64_t *get(size_t words)
{
    uint64_t *memory = malloc(8 * words);
    if (!memory) {
        fprintf(stderr, "delta: there is no memory for %zu MiB\n", words >> 17);
        exit(1);
    }
    memset(memory, 1, 8 * words); /* pages are touched here, and not while the time is taken */
    return memory;
}

int main(int argc, char **argv)
{
    char *end = "";
    unsigned long mebibytes = argc > 1 ? strtoul(argv[1], &end, 10) : 64;
    if (argc > 2 || *end || mebibytes < 1 || mebibytes > 4096) {
        fprintf(stderr, "usage: delta [MEBIBYTES]\n");
        return 2;
    }
    size_t words = mebibytes << 17;
    memory m = {words, get(words), get(words), get(words), get(words)};
    uint64_t *out = get(2 * words + 4096);
    double compare = measure_plain(&m, false), copy = measure_plain(&m, true);
    printf("%lu MiB, code for %s: memcmp %.1f GB/s, memcpy %.1f GB/s\n\n", mebibytes, dome__delta_limit("auto"),
           8e-9 * (double)words / compare, 8e-9 * (double)words / copy);
    printf("%-30s | %-19s | %-19s | %-19s\n", "", "words of 8 bytes", "bytes", "CAPE");
    printf("%-30s", "changed");
    for (int k = 0; k < 3; k++)
        printf(" |  make  apply  size");
    printf("\n");
    double nothing = 0;
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        printf("%-30s", patterns[k].text);
        figures by_words = measure(&m, &patterns[k], 8);
        if (!k)
            nothing = by_words.make;
        print_figures(&m, by_words);
        print_figures(&m, measure(&m, &patterns[k], 1));
        print_figures(&m, measure_cape(&m, &patterns[k], out));
        printf("\n");
    }
    memory million = {1000000, m.now, m.then, m.other, m.third};
    figures dense = measure(&million, &patterns[6], 8);
    printf("\nmake, apply: GB/s; size: bytes over those that changed\n");
    printf("unchanged memory: %.2f of memcmp's speed (to reach 0.9); 10^6 dense doubles: made in %.2f ms, applied to memory and "
           "its copy in "
           "%.2f ms (1.5, 1.5)\n",
           compare / nothing, 1e3 * dense.make, 1e3 * dense.apply);
    return 0;
}
