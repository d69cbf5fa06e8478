/* deltas STEPS: writes here and there, in a vector, a region, structs and a scalar, before each loop boundary; once
 * all, and sometimes nothing. What is written depends on the step alone, so every run prints the same sums, from whichever
 * checkpoint it goes on. */
#include <dome/dome.h>
#include <dome/region.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 40000, PLACES = 25 };

typedef struct pair {
    uint8_t tag;
    int32_t values[3];
} pair;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

typedef struct state {
    dome_env *env;
    dvec *x, *pairs, *small;
    int32_t *shared;
    dome_region *region;
    dscalar *steps;
} state;

static state make(dome_env *env)
{
    const dome_field fields[] = {{"tag", DOME_U8, offsetof(pair, tag), 1}, {"values", DOME_I32, offsetof(pair, values), 3}};
    state s = {.env = env};
    s.x = dvec_new(env, "x", DOME_F64, LENGTH);
    s.pairs = dvec_new(env, "pairs", dome_type_struct(env, "pair", sizeof(pair), fields, 2, sizeof(dome_field)), LENGTH / 4);
    s.small = dvec_new(env, "small", DOME_I16, 700);
    s.region = dome_region_new(env, "region", DOME_I32, LENGTH, NULL);
    s.shared = dome_region_data(s.region);
    s.steps = dscalar_new(env, "steps", DOME_I64);
    return s;
}

/* Sets the elements of a vector that this task has, among these places. */
static void scatter(dvec *x, uint64_t step, uint64_t salt, void (*set)(void *element, uint64_t value))
{
    const size_t size = dome_type_size(dvec_type(x));
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    for (uint64_t k = 0; k < PLACES; k++) {
        const uint64_t value = mix(step * 1000 + salt + k), place = value % dvec_length(x);
        for (int i = 0; i < 2; i++)
            if (place >= spans[i].first && place - spans[i].first < spans[i].count)
                set((char *)spans[i].data + (place - spans[i].first) * size, value);
    }
}

static void set_double(void *element, uint64_t value)
{
    *(double *)element = (double)(value % 100000) / 8;
}

static void set_pair(void *element, uint64_t value)
{
    pair *p = element;
    p->tag = (uint8_t)value;
    p->values[value % 3] = (int32_t)(value >> 32);
}

static void step(const state *s, uint64_t number)
{
    if (number == 20) /* everything */
        dvec_adds(s->x, s->x, 1);
    if (number % 5 != 2) { /* else nothing but the steps */
        scatter(s->x, number, 1, set_double);
        scatter(s->pairs, number, 2, set_pair);
    }
    for (uint64_t k = 0; k < PLACES && number % 5 != 2; k++) {
        const uint64_t value = mix(number * 777 + k), place = value % LENGTH;
        if (place % (uint64_t)dome_size(s->env) == (uint64_t)dome_rank(s->env))
            s->shared[place] = (int32_t)(value >> 33);
    }
    dscalar_set_i64(s->steps, (int64_t)number + 1);
}

static void print_sums(const state *s)
{
    uint64_t shared = 0, pairs = 0;
    dome_barrier(s->env);
    for (uint64_t i = 0; i < LENGTH; i++)
        shared = mix(shared ^ (uint32_t)s->shared[i]);
    const pair *all = dvec_allgather(s->pairs);
    for (uint64_t i = 0; i < dvec_length(s->pairs); i++)
        pairs = mix(pairs ^ all[i].tag ^ (uint64_t)(uint32_t)all[i].values[0] << 8 ^ (uint32_t)all[i].values[1]);
    const double sum = dvec_sum(s->x);
    if (dome_rank(s->env) == 0)
        printf("%.17g %" PRIx64 " %" PRIx64 "\n", sum, pairs, shared);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const state s = make(env);
    const uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
    for (uint64_t k = (uint64_t)dscalar_get_i64(s.steps); k < steps; k++) {
        step(&s, k);
        dome_checkpoint(env);
    }
    print_sums(&s);
    return dome_finalize(env);
}
