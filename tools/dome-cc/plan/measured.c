/* Places of polls by a run of the program.
 *
 * --polls=profile: the program counts, for each loop and each function, how often it is entered, its iterations or calls, and its
 * work in operations, with all that is inside of it: the sum, and the most of one entry. It adds them to a file at its end.
 * --polls=FILE: loops and recursions whose work is done well within --max-interval do not poll, and so neither do the functions
 * that contain no others; what is left polls after as many iterations as fit into that time. --max-overhead is compared with
 * what that costs, estimated from the counts. */
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

typedef struct record {
    double entries, turns, most, work;
} record;

static GHashTable *records; /* "KIND INDEX HASH KEY" -> record; NULL: no profile was read */

static double seconds, all_work, limit;

static bool counts;

/* Nanoseconds, about: a test of the status word; the two tests around a call; a countdown. */
static const double TEST = 0.6, CALL = 1.5, COUNT = 0.3;

bool measured_counts(void)
{
    return counts;
}

void measured_set_counts(void)
{
    counts = true;
}

/* ---- names of loops and functions, which stay while the function's text does ---- */

static char *name_of(unit *u, function *f, const char *kind, unsigned index)
{
    return g_strdup_printf("%s %u %" G_GINT64_MODIFIER "x %s", kind, index, text_hash(u, f->decl->a, f->decl->b), f->key);
}

static void name_loops(unit *u, function *f, node *n, unsigned *index)
{
    if (node_is_loop(n))
        g_hash_table_insert(u->loop_names, n, name_of(u, f, "loop", ++*index));
    for (unsigned i = 0; i < n->kids->len; i++)
        name_loops(u, f, node_kid(n, i), index);
}

void measured_name(unit *u)
{
    for (unsigned i = 0; i < u->functions->len; i++) {
        function *f = g_ptr_array_index(u->functions, i);
        unsigned index = 0;
        name_loops(u, f, f->body, &index);
    }
}

/* ---- the program that counts ---- */

static const char helpers[] =
    "struct dome__p_place { const char *head, *key; unsigned long long entries, turns, most, work; unsigned depth; };\n"
    "struct dome__p_span { struct dome__p_place *place; unsigned long long begin; };\n"
    "__attribute__((__weak__)) unsigned long long dome__p_work;\n"
    "extern long dome__p_clock(void) __asm__(\"clock\");\n"
    "extern char *dome__p_environment(const char *) __asm__(\"getenv\");\n"
    "extern struct _IO_FILE *dome__p_open(const char *, const char *) __asm__(\"fopen\");\n"
    "extern int dome__p_print(struct _IO_FILE *, const char *, ...) __asm__(\"fprintf\");\n"
    "extern int dome__p_close(struct _IO_FILE *) __asm__(\"fclose\");\n"
    "extern void dome__p_perror(const char *) __asm__(\"perror\");\n"
    "__attribute__((__unused__)) static struct dome__p_span dome__p_begin(struct dome__p_place *p) {\n"
    "    p->entries += !p->depth++; return (struct dome__p_span){p, dome__p_work}; }\n"
    "__attribute__((__unused__)) static void dome__p_end(struct dome__p_span *s) {\n"
    "    struct dome__p_place *p = s->place; unsigned long long work = dome__p_work - s->begin;\n"
    "    if (--p->depth) return;\n"
    "    p->work += work; if (work > p->most) p->most = work; }\n";

typedef struct counting {
    GString *places;
    unsigned n;
} counting;

static void add_place(counting *c, const char *name)
{
    char **words = g_strsplit(name, " ", 4), *key = g_strescape(words[3], NULL);
    g_string_append_printf(c->places, "{\"%s %s %s\", \"%s\"},\n", words[0], words[1], words[2], key);
    c->n++;
    g_free(key);
    g_strfreev(words);
}

/* Of evaluating n once, without loops inside; functions of the program count theirs themselves. */
static double own_work(program *p, unit *u, node *n)
{
    if (n->kind == CXCursor_UnaryExpr || node_is_loop(n))
        return 0;
    double k = work_own(p, u, n);
    for (unsigned i = 0; i < n->kids->len; i++)
        k += own_work(p, u, node_kid(n, i));
    return k;
}

static void count_loops(program *p, unit *u, node *n, unsigned depth, counting *c)
{
    if (n->kind == CXCursor_UnaryExpr)
        return;
    if (node_is_loop(n) && counted_is_plain(n)) {
        node *body = node_kid(n, n->kind == CXCursor_DoStmt ? 0 : n->kids->len - 1);
        double work = 2;
        for (unsigned i = 0; i < n->kids->len; i++)
            work += own_work(p, u, node_kid(n, i));
        char *before = g_strdup_printf("{ struct dome__p_span dome__p_s __attribute__((__cleanup__(dome__p_end))) = "
                                       "dome__p_begin(&dome__p_places[%u]); ",
                                       c->n);
        char *turn = g_strdup_printf("{ dome__p_places[%u].turns++; dome__p_work += %.0f; ", c->n, work);
        unsigned end = text_skip(u, n->b), body_end = text_skip(u, body->b);
        end = end < u->length && u->original[end] == ';' ? end + 1 : n->b;
        body_end = body_end < u->length && u->original[body_end] == ';' ? body_end + 1 : body->b;
        edit_around(u, n->a, end, 2 * depth, before, " }");
        edit_around(u, body->a, body_end, 2 * depth + 1, turn, " }");
        add_place(c, g_hash_table_lookup(u->loop_names, n));
        g_free(turn);
        g_free(before);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        count_loops(p, u, node_kid(n, i), depth + 1, c);
}

/* Edits of a unit that counts. `output`: the program, beside which the file is. */
void measured_edit(program *p, unit *u, const char *output)
{
    counting c = {g_string_new(NULL), 0};
    for (unsigned i = 0; i < u->functions->len; i++) {
        function *f = g_ptr_array_index(u->functions, i);
        char *name = name_of(u, f, "function", 0);
        char *begin = g_strdup_printf(" struct dome__p_span dome__p_f __attribute__((__cleanup__(dome__p_end))) = "
                                      "dome__p_begin(&dome__p_places[%u]); dome__p_places[%u].turns++; dome__p_work += %.0f; ",
                                      c.n, c.n, own_work(p, u, f->body) + 5);
        edit_around(u, f->body->a + 1, f->body->a + 1, 0, begin, "");
        add_place(&c, name);
        count_loops(p, u, f->body, 1, &c);
        g_free(begin);
        g_free(name);
    }
    g_string_append(u->prelude, helpers);
    g_string_append_printf(u->prelude, "static struct dome__p_place dome__p_places[%u];\n", MAX(c.n, 1));
    char *here = g_get_current_dir(),
         *whole = g_path_is_absolute(output) ? g_strdup(output) : g_build_filename(here, output, NULL);
    char *path = g_strescape(whole, NULL);
    g_string_append_printf(u->tail,
                           "static struct dome__p_place dome__p_places[%u] = {%s};\n"
                           "__attribute__((__destructor__)) static void dome__p_write(void) {\n"
                           "    const char *path = dome__p_environment(\"DOME_POLLS\"); if (!path) path = \"%s.polls\";\n"
                           "    struct _IO_FILE *out = dome__p_open(path, \"a\"); if (!out) { dome__p_perror(path); return; }\n"
                           "    for (unsigned i = 0; i < %u; i++) { struct dome__p_place *p = &dome__p_places[i];\n"
                           "        dome__p_print(out, \"%%s %%llu %%llu %%llu %%llu %%s\\n\", p->head, p->entries, p->turns, "
                           "p->most, p->work, p->key); }\n"
                           "    %sdome__p_close(out); }\n",
                           MAX(c.n, 1), c.places->str, path, c.n,
                           u->main ? "dome__p_print(out, \"run 0 0 %ld 0 0 %llu -\\n\", dome__p_clock(), dome__p_work); " : "");
    g_string_free(c.places, TRUE);
    g_free(path);
    g_free(whole);
    g_free(here);
}

/* ---- the choice ---- */

/* False after a message. `interval` in seconds. */
bool measured_read(const char *path, double interval)
{
    char *text;
    GError *error = NULL;
    if (!g_file_get_contents(path, &text, NULL, &error)) {
        fprintf(stderr,
                "dome-cc: error: --polls=%s: not auto, every, none, operations, profile or a number from -1 to 31, and as a "
                "profile it "
                "cannot be read: %s\n",
                path, error->message);
        g_error_free(error);
        return false;
    }
    records = g_hash_table_new(g_str_hash, g_str_equal);
    char **lines = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; lines[i] && *lines[i]; i++) {
        char kind[16];
        unsigned index;
        guint64 hash;
        record r;
        int at = 0;
        if (sscanf(lines[i], "%15s %u %" G_GINT64_MODIFIER "x %lf %lf %lf %lf %n", kind, &index, &hash, &r.entries, &r.turns,
                   &r.most, &r.work, &at) != 7 ||
            at == 0) {
            fprintf(stderr, "dome-cc: error: %s:%u: not a line of a profile, as a program of --polls=profile writes it\n", path,
                    i + 1);
            return false;
        }
        if (strcmp(kind, "run") == 0) {
            seconds += r.entries / 1e6; /* CLOCKS_PER_SEC of POSIX */
            all_work += r.work;
            continue;
        }
        char *name = g_strdup_printf("%s %u %" G_GINT64_MODIFIER "x %s", kind, index, hash, lines[i] + at);
        record *sum = g_hash_table_lookup(records, name);
        if (!sum)
            g_hash_table_insert(records, name, sum = g_new0(record, 1));
        sum->entries += r.entries;
        sum->turns += r.turns;
        sum->work += r.work;
        sum->most = MAX(sum->most, r.most);
    }
    g_strfreev(lines);
    g_free(text);
    if (seconds <= 0 || all_work <= 0) {
        fprintf(stderr, "dome-cc: error: %s: the program that counted ran for no time: give it more to do\n", path);
        return false;
    }
    limit = interval / 2 * all_work / seconds;
    polls_strip_work = (int)CLAMP(limit / 2, 1000, 500000000);
    return true;
}

bool measured_chooses(void)
{
    return records != NULL;
}

double measured_limit(void)
{
    return limit;
}

/* The work of one iteration on average, and the most of one entry. False: it was never entered, or its function is another now.
 */
bool measured_loop(unit *u, node *n, double *iteration, double *most)
{
    const char *name = records ? g_hash_table_lookup(u->loop_names, n) : NULL;
    const record *r = name ? g_hash_table_lookup(records, name) : NULL;
    if (!r || r->entries == 0)
        return false;
    *iteration = r->turns > 0 ? r->work / r->turns : 0;
    *most = r->most;
    return true;
}

static const record *function_record(function *f)
{
    char *name = name_of(f->unit, f, "function", 0);
    const record *r = g_hash_table_lookup(records, name);
    g_free(name);
    return r && r->turns > 0 ? r : NULL;
}

bool measured_function(function *f, double *most)
{
    const record *r = records ? function_record(f) : NULL;
    *most = r ? r->most : 0;
    return r != NULL;
}

/* Nanoseconds that a loop's own polls would have cost in the run. */
static double loop_cost(const loop_plan *l, const record *r)
{
    switch (l->class) {
    case LOOP_EACH:
        return (r->turns + r->entries) * TEST;
    case LOOP_STRIP:
        return (r->turns / l->stride + r->entries) * TEST;
    case LOOP_BITS:
    case LOOP_COUNTDOWN:
        return r->turns * COUNT + (r->turns / l->stride + (l->twice ? 0 : r->entries)) * TEST;
    case LOOP_FREE:
        break;
    }
    return l->polls ? r->turns * TEST : 0;
}

/* Loops of functions that are not saved never poll. */
static bool is_held(const unit *u, const node *n)
{
    while (n->up)
        n = n->up;
    for (unsigned i = 0; i < u->functions->len; i++) {
        const function *f = g_ptr_array_index(u->functions, i);
        if (f->decl == n)
            return f->held;
    }
    return false;
}

/* Compares what the polls cost with what they may; false after a message. */
bool measured_judge(program *p, double most)
{
    double all = 0, worst = 0;
    char *where = NULL;
    for (unsigned i = 0; i < p->units->len; i++) {
        unit *u = g_ptr_array_index(p->units, i);
        GHashTableIter iter;
        gpointer key, value;
        g_hash_table_iter_init(&iter, u->loops);
        while (g_hash_table_iter_next(&iter, &key, &value)) {
            const char *name = g_hash_table_lookup(u->loop_names, key);
            const record *r = name ? g_hash_table_lookup(records, name) : NULL;
            double cost = r && !is_held(u, key) ? loop_cost(value, r) : 0;
            all += cost;
            if (cost > worst) {
                char *file;
                unsigned line;
                worst = cost;
                g_free(where);
                unit_place(u, ((node *)key)->a, &file, &line);
                where = g_strdup_printf("the loop at %s:%u", file, line);
                g_free(file);
            }
        }
        for (unsigned k = 0; k < u->functions->len; k++) {
            function *f = g_ptr_array_index(u->functions, k);
            const record *r = f->polls ? function_record(f) : NULL;
            double cost = r ? r->turns * CALL : 0;
            all += cost;
            if (cost > worst) {
                worst = cost;
                g_free(where);
                where = g_strdup_printf("the calls of %s", f->name);
            }
        }
    }
    double share = all / 1e9 / seconds;
    if (share > most)
        fprintf(stderr,
                "dome-cc: error: --max-overhead=%g%%: polls that keep --max-interval would cost about %.1f%% of the run that was "
                "counted, most of it for %s: raise one of the two\n",
                100 * most, 100 * share, where);
    else
        fprintf(stderr, "dome-cc: by the profile, polls cost about %.1f%% of the time%s%s\n", 100 * share,
                where ? ", most of it for " : "", where ? where : "");
    g_free(where);
    return share <= most;
}
