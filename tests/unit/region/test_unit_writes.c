/* Which elements tasks write in turns, and when that is false sharing. */
#include "region/unit_writes.h"

#include <string.h>

enum { UNIT = 4096, UNITS = 4, ELEMENT = 8 };

static dome_unit_writes *new_writes(int task, uint64_t element)
{
    dome_unit_writes *w = dome__unit_writes_new(&(dome_unit_writes_setup){task, element, UNIT, UNITS});
    g_assert_nonnull(w);
    return w;
}

static void clear_told(gpointer data)
{
    dome_unit_told *told = data;
    g_array_unref(told->written);
    g_array_unref(told->read);
}

static GArray *new_told(void)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(dome_unit_told));
    g_array_set_clear_func(all, clear_told);
    return all;
}

static void keep(void *ctx, const dome_unit_told *told)
{
    GArray *all = ctx;
    dome_unit_told one = *told;
    one.written = g_array_ref(told->written);
    one.read = g_array_ref(told->read);
    g_array_append_val(all, one);
}

static GArray *tell(dome_unit_writes *w, bool all)
{
    GArray *told = new_told();
    dome__unit_writes_tell(w, all, keep, told);
    return told;
}

static void expect_runs(const GArray *runs, const char *wanted)
{
    GString *text = g_string_new(NULL);
    for (guint k = 0; k < runs->len; k++) {
        const dome_element_run *r = &g_array_index(runs, dome_element_run, k);
        g_string_append_printf(text, "%d+%d ", (int)r->first, (int)r->count);
    }
    g_assert_cmpstr(text->str, ==, wanted);
    g_string_free(text, TRUE);
}

/* One turn at a unit: it comes, these elements are written, it goes. */
static void turn(dome_unit_writes *w, uint64_t unit, int64_t *values, uint64_t first, uint64_t step, uint64_t count)
{
    dome__unit_writes_begin(w, unit, values);
    for (uint64_t k = 0; k < count; k++)
        values[first + k * step]++;
    dome__unit_writes_end(w, unit, values);
}

/* What other members have had added here is not this one's. */
static void test_others(void)
{
    static int64_t values[UNIT / ELEMENT];
    dome_unit_writes *w = new_writes(0, ELEMENT);
    dome__unit_writes_begin(w, 1, values);
    values[9] = 4;
    dome__unit_writes_others(w, UNIT + 9 * ELEMENT, &values[9], ELEMENT);
    values[11] = 1;
    dome__unit_writes_end(w, 1, values);
    GArray *told = tell(w, true);
    g_assert_cmpuint(told->len, ==, 1);
    expect_runs(g_array_index(told, dome_unit_told, 0).written, "523+1 ");
    g_array_unref(told);
    dome__unit_writes_stop(w);
    dome__unit_writes_others(w, UNIT, values, ELEMENT);
    dome__unit_writes_free(w);
}

static void test_comparing(void)
{
    static int64_t values[UNIT / ELEMENT];
    dome_unit_writes *w = new_writes(3, ELEMENT);
    dome__unit_writes_end(w, 1, values); /* it was there from the start: what was written before is not known */
    values[5]++;
    dome__unit_writes_end(w, 1, values); /* it stayed, to be read, and was written again */
    turn(w, 1, values, 100, 1, 3);
    turn(w, 1, values, 7, 2, 2);
    turn(w, 2, values, 0, 1, 0); /* nothing is written: that is no turn */
    dome__unit_writes_touch(w, 2 * UNIT + 17, true);
    dome__unit_writes_touch(w, UNIT + 40 * ELEMENT + 3, false);
    GArray *told = tell(w, true);
    g_assert_cmpuint(told->len, ==, 2);
    const dome_unit_told *one = &g_array_index(told, dome_unit_told, 0), *two = one + 1;
    g_assert_cmpint(one->task, ==, 3);
    g_assert_cmpuint(one->unit, ==, 1);
    g_assert_cmpuint(one->turns, ==, 3);
    expect_runs(one->written, "517+1 519+1 521+1 612+3 ");
    expect_runs(one->read, "552+1 ");
    g_assert_cmpuint(two->unit, ==, 2);
    g_assert_cmpuint(two->turns, ==, 0);
    expect_runs(two->written, "1026+1 ");
    g_array_unref(told);
    told = tell(w, false); /* nothing is new */
    g_assert_cmpuint(told->len, ==, 0);
    g_array_unref(told);
    turn(w, 2, values, 0, 1, 1);
    told = tell(w, false);
    g_assert_cmpuint(told->len, ==, 1);
    g_assert_cmpuint(g_array_index(told, dome_unit_told, 0).unit, ==, 2);
    g_array_unref(told);
    dome__unit_writes_stop(w); /* the region is freed: what is known stays */
    turn(w, 2, values, 0, 1, 1);
    told = tell(w, true);
    g_assert_cmpuint(g_array_index(told, dome_unit_told, 1).turns, ==, 1);
    g_array_unref(told);
    dome__unit_writes_free(w);
    dome__unit_writes_touch(NULL, 0, true);
}

/* Elements of 24 bytes lie across units: the last one of a unit and the first one of the next are one element. */
static void test_elements_across_units(void)
{
    dome_unit_writes *w = new_writes(0, 24);
    dome__unit_writes_add(w, UNIT - 30, 60);
    GArray *told = tell(w, true);
    g_assert_cmpuint(told->len, ==, 2);
    expect_runs(g_array_index(told, dome_unit_told, 0).written, "169+2 ");
    expect_runs(g_array_index(told, dome_unit_told, 1).written, "170+2 ");
    g_array_unref(told);
    dome__unit_writes_free(w);
}

typedef struct writer {
    int task;
    unsigned turns;
    uint64_t first, step, count, reads; /* reads: an element at which it faults; UNIT: none */
} writer;

/* Of all writers at unit 1, how many share it falsely? Checks which two are named. */
static void expect_sharing(const writer *writers, size_t count, int a, int b)
{
    static int64_t values[UNIT / ELEMENT];
    GArray *all = new_told();
    for (size_t k = 0; k < count; k++) {
        dome_unit_writes *w = new_writes(writers[k].task, ELEMENT);
        for (unsigned j = 0; j < writers[k].turns; j++)
            turn(w, 1, values, writers[k].first, writers[k].step, writers[k].count);
        if (writers[k].reads < UNIT)
            dome__unit_writes_touch(w, UNIT + writers[k].reads * ELEMENT, false);
        dome__unit_writes_tell(w, true, keep, all);
        dome__unit_writes_free(w);
    }
    const dome_false_sharing found = dome__false_sharing_find(all);
    g_assert_cmpuint(found.units, ==, a >= 0 ? 1 : 0);
    g_assert_true((found.a != NULL) == (a >= 0));
    if (found.a) {
        g_assert_cmpint(found.a->task, ==, a);
        g_assert_cmpint(found.b->task, ==, b);
    }
    g_array_unref(all);
}

static void test_judging(void)
{
    const writer halves[] = {{0, 5, 0, 1, 256, UNIT}, {1, 5, 256, 1, 256, UNIT}};
    const writer every_other[] = {{4, 5, 0, 2, 256, UNIT}, {7, 5, 1, 2, 256, UNIT}};
    const writer one_in_common[] = {{0, 5, 0, 1, 257, UNIT}, {1, 5, 256, 1, 256, UNIT}};
    const writer reads_the_others[] = {{0, 5, 0, 1, 10, UNIT}, {1, 5, 256, 1, 10, 3}};
    const writer seldom[] = {{0, 2, 0, 1, 256, UNIT}, {1, 5, 256, 1, 256, UNIT}};
    const writer alone[] = {{0, 9, 0, 1, 256, UNIT}};
    const writer same_member[] = {{2, 5, 0, 1, 256, UNIT}, {2, 5, 256, 1, 256, UNIT}};
    const writer second_task_of_a_member[] = {{0, 5, 0, 1, 9, UNIT}, {1, 5, 256, 1, 9, UNIT}, {1, 1, 3, 1, 1, UNIT}};
    const writer three[] = {{0, 5, 0, 1, 9, UNIT}, {1, 9, 100, 1, 9, UNIT}, {2, 8, 200, 1, 9, UNIT}};
    expect_sharing(halves, 2, 0, 1);
    expect_sharing(every_other, 2, 4, 7);
    expect_sharing(one_in_common, 2, -1, -1);
    expect_sharing(reads_the_others, 2, -1, -1);
    expect_sharing(seldom, 2, -1, -1);
    expect_sharing(alone, 1, -1, -1);
    expect_sharing(same_member, 2, -1, -1);
    expect_sharing(second_task_of_a_member, 3, -1, -1);
    expect_sharing(three, 3, 1, 2);
    expect_sharing(NULL, 0, -1, -1);
}

static void expect_text(const char *wanted, unsigned count, const dome_element_run *runs)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof *runs);
    g_array_append_vals(all, runs, count);
    char *text = dome__element_runs_text(all);
    g_assert_cmpstr(text, ==, wanted);
    g_free(text);
    g_array_unref(all);
}

static void test_text(void)
{
    const dome_element_run runs[] = {{7, 1}, {9, 4}, {20, 1}};
    expect_text("element 7", 1, runs);
    expect_text("elements 7, 9 to 12", 2, runs);
    expect_text("elements 9 to 12", 1, runs + 1);
    expect_text("elements 7, 9 to 12 and others", 3, runs);
}

/* With more units than can be watched, the first ones are. */
static void test_many_units(void)
{
    enum { MANY = 6000, SMALL = 64 };
    dome_unit_writes *w = dome__unit_writes_new(&(dome_unit_writes_setup){0, 8, SMALL, MANY});
    for (uint64_t k = 0; k < MANY; k++) {
        dome__unit_writes_touch(w, k * SMALL, true);
        dome__unit_writes_turn(w, k);
    }
    for (int k = 0; k < 3; k++)
        dome__unit_writes_turn(w, 17);
    GArray *told = tell(w, true);
    g_assert_cmpuint(told->len, >, 10);
    g_assert_cmpuint(g_array_index(told, dome_unit_told, 0).unit, ==, 17);
    g_assert_cmpuint(g_array_index(told, dome_unit_told, 0).turns, ==, 4);
    g_array_unref(told);
    dome__unit_writes_free(w);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/unit_writes/comparing", test_comparing);
    g_test_add_func("/unit_writes/others", test_others);
    g_test_add_func("/unit_writes/elements_across_units", test_elements_across_units);
    g_test_add_func("/unit_writes/judging", test_judging);
    g_test_add_func("/unit_writes/text", test_text);
    g_test_add_func("/unit_writes/many_units", test_many_units);
    return g_test_run();
}
