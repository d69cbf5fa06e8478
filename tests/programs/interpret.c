/* Reads calls of the library from a file and makes them: tests/campaign/numpy_cases.py makes the same with NumPy.
 *
 *     interpret FILE
 *
 *     new K TYPE LENGTH WIDTH DISTRIBUTION     vector number K; TYPE is i8 ... c128, DISTRIBUTION the enumerator's number
 *     set K HEX                                its values, as they lie in memory
 *     OPERATION Z X [Y] [A]                    by the name behind "dvec_"; numbers of vectors, and a double as %a
 *     sum X, dot X Y, ...                      prints the result
 *     columns X                                prints each column's sum, then each smallest, then each largest value
 *     unique K X, nonzero K X, compress K X M, slice K X FIRST COUNT STEP, concatenate K X Y
 *                                              new vector number K
 *     take K X VIEW, put K VIEW X, roll_view K X VIEW AXIS DISTANCE, join K X VIEW AXIS (X and itself),
 *     reduce K X VIEW OPERATION AXES, scan_view K X VIEW OPERATION AXIS
 *                                              new vector number K but for put; VIEW is a text such as
 *                                              s3,4;t1,0;l0,2,3,-1;f1;i0,2;e0;b5,3,4: the shape, then axes transposed, a
 *                                              slice of an axis, a flipped axis, an index, a new axis, a broadcast
 *     by X L K                                 prints the sums, then smallest and largest values by label, then the numbers
 *     histogram X BINS LOW HIGH                prints the numbers of values
 *     histogram_edges X BINS LOW A             the same for the edges LOW + j * j * A
 *     get_many X FIRST STEP COUNT              prints elements FIRST, FIRST + STEP, ..., around the end, as hex
 *     dots X Y                                 prints three dot products at once: X Y, X X, Y X
 *     sum_c128 X, prod_c128 X, dot_c128 X Y    prints real and imaginary part
 *     transpose_matmul X Y                     prints the values of the product
 *     topk X K LARGEST                         prints the positions, then the values as hex
 *     factorize K X SORT L                     new vector number K: the different keys; vector L gets the labels
 *     random_normal X SEED
 *     print K                                  prints the values as hex
 *     text K ROWS                              prints dvec_text with the shape of ROWS rows (0: the vector's), newlines as |
 *     free K
 */
#include <dome/dome.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = 16 };
static dvec *v[VECTORS];

static dome_type type_named(const char *name)
{
#define IF_NAMED(kind, ctype, suffix)                                                                                            \
    if (strcmp(name, #suffix) == 0)                                                                                              \
        return DOME_##kind;
    DOME_TYPE_LIST(IF_NAMED)
    return NULL;
}

static const struct {
    const char *name;
    dome_status (*call)(dvec *, const dvec *, const dvec *);
} binary[] = {{"add", dvec_add},
              {"sub", dvec_sub},
              {"mul", dvec_mul},
              {"div", dvec_div},
              {"min", dvec_min},
              {"max", dvec_max},
              {"pow", dvec_pow},
              {"eq", dvec_eq},
              {"ne", dvec_ne},
              {"lt", dvec_lt},
              {"le", dvec_le},
              {"gt", dvec_gt},
              {"ge", dvec_ge},
              {"and", dvec_and},
              {"or", dvec_or},
              {"xor", dvec_xor},
              {"fmod", dvec_fmod},
              {"atan2", dvec_atan2},
              {"hypot", dvec_hypot},
              {"floor_divide", dvec_floor_divide},
              {"remainder", dvec_remainder},
              {"copysign", dvec_copysign},
              {"nextafter", dvec_nextafter},
              {"logaddexp", dvec_logaddexp},
              {"bitand", dvec_bitand},
              {"bitor", dvec_bitor},
              {"bitxor", dvec_bitxor},
              {"lshift", dvec_lshift},
              {"rshift", dvec_rshift},
              {"gather", dvec_gather},
              {"scatter", dvec_scatter},
              {"matmul", dvec_matmul}};

static const struct {
    const char *name;
    dome_status (*call)(dvec *, const dvec *, double);
} scalar[] = {{"adds", dvec_adds},
              {"subs", dvec_subs},
              {"muls", dvec_muls},
              {"divs", dvec_divs},
              {"mins", dvec_mins},
              {"maxs", dvec_maxs},
              {"pows", dvec_pows},
              {"rsubs", dvec_rsubs},
              {"rdivs", dvec_rdivs},
              {"rpows", dvec_rpows},
              {"fmods", dvec_fmods},
              {"floor_divides", dvec_floor_divides},
              {"remainders", dvec_remainders},
              {"bitands", dvec_bitands},
              {"bitors", dvec_bitors},
              {"bitxors", dvec_bitxors},
              {"lshifts", dvec_lshifts},
              {"rshifts", dvec_rshifts},
              {"eqs", dvec_eqs},
              {"nes", dvec_nes},
              {"lts", dvec_lts},
              {"les", dvec_les},
              {"gts", dvec_gts},
              {"ges", dvec_ges}};

static const struct {
    const char *name;
    dome_status (*call)(dvec *, const dvec *);
} unary[] = {{"copy", dvec_copy},
             {"convert", dvec_convert},
             {"neg", dvec_neg},
             {"abs", dvec_abs},
             {"sqrt", dvec_sqrt},
             {"exp", dvec_exp},
             {"log", dvec_log},
             {"sin", dvec_sin},
             {"cos", dvec_cos},
             {"tan", dvec_tan},
             {"asin", dvec_asin},
             {"acos", dvec_acos},
             {"atan", dvec_atan},
             {"sinh", dvec_sinh},
             {"cosh", dvec_cosh},
             {"tanh", dvec_tanh},
             {"asinh", dvec_asinh},
             {"acosh", dvec_acosh},
             {"atanh", dvec_atanh},
             {"sign", dvec_sign},
             {"isnan", dvec_isnan},
             {"isinf", dvec_isinf},
             {"isfinite", dvec_isfinite},
             {"signbit", dvec_signbit},
             {"exp2", dvec_exp2},
             {"expm1", dvec_expm1},
             {"log2", dvec_log2},
             {"log10", dvec_log10},
             {"log1p", dvec_log1p},
             {"cbrt", dvec_cbrt},
             {"erf", dvec_erf},
             {"erfc", dvec_erfc},
             {"floor", dvec_floor},
             {"ceil", dvec_ceil},
             {"round", dvec_round},
             {"trunc", dvec_trunc},
             {"conj", dvec_conj},
             {"bitnot", dvec_bitnot},
             {"not", dvec_not},
             {"scan", dvec_scan},
             {"sort", dvec_sort},
             {"argsort", dvec_argsort},
             {"cumprod", dvec_cumprod},
             {"exscan", dvec_exscan},
             {"real", dvec_real},
             {"imag", dvec_imag},
             {"arg", dvec_arg}};

static const struct {
    const char *name;
    double (*call)(const dvec *);
} reduce[] = {{"sum", dvec_sum},     {"prod", dvec_prod},   {"min_value", dvec_min_value}, {"max_value", dvec_max_value},
              {"norm2", dvec_norm2}, {"norm1", dvec_norm1}, {"norm_inf", dvec_norm_inf}};

static const struct {
    const char *name;
    int64_t (*call)(const dvec *);
} reduce_i64[] = {{"sum_i64", dvec_sum_i64}, {"min_value_i64", dvec_min_value_i64}, {"max_value_i64", dvec_max_value_i64}};

#define CALL(table, ...)                                                                                                         \
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)                                                                    \
        if (strcmp(name, table[i].name) == 0) {                                                                                  \
            __VA_ARGS__;                                                                                                         \
            return;                                                                                                              \
        }

static size_t value_bytes(const dvec *x)
{
    return dome_type_size(dvec_type(x));
}

static void set(dvec *x, const char *hex)
{
    size_t element = value_bytes(x) * dvec_width(x);
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < spans[s].count * element; i++) {
            unsigned byte = 0;
            sscanf(hex + 2 * (spans[s].first * element + i), "%2x", &byte);
            ((unsigned char *)spans[s].data)[i] = (unsigned char)byte;
        }
}

static void print(dome_env *env, const dvec *x)
{
    size_t bytes = dvec_length(x) * dvec_width(x) * value_bytes(x);
    const unsigned char *whole = dvec_allgather(x);
    char *text = calloc(2 * bytes + 1, 1);
    for (size_t i = 0; i < bytes; i++)
        sprintf(text + 2 * i, "%02x", whole[i]);
    dome_print(env, "%s\n", text);
    free(text);
}

/* Sums, smallest and largest values of all columns, in one line. */
static void columns(dome_env *env, const dvec *x)
{
    size_t width = dvec_width(x), at = 0;
    double *result = calloc(3 * width, sizeof *result);
    char *text = calloc(3 * width, 32);
    dvec_column_sums(x, NULL, result);
    dvec_column_min_values(x, NULL, result + width);
    dvec_column_max_values(x, NULL, result + 2 * width);
    for (size_t k = 0; k < 3 * width; k++)
        at += (size_t)sprintf(text + at, "%a ", result[k]);
    dome_print(env, "%s\n", text);
    free(result);
    free(text);
}

/* Reductions by label. */
static void by_label(dome_env *env, const dvec *x, const dvec *labels, uint64_t k)
{
    size_t results = (size_t)k * dvec_width(x), at = 0;
    double *result = calloc(3 * results + 1, sizeof *result);
    uint64_t *count = calloc((size_t)k + 1, sizeof *count);
    char *text = calloc(3 * results + k + 1, 32);
    dvec_sum_by(x, labels, k, result);
    dvec_min_by(x, labels, k, result + results);
    dvec_max_by(x, labels, k, result + 2 * results);
    dvec_count_by(labels, k, count);
    for (size_t j = 0; j < 3 * results; j++)
        at += (size_t)sprintf(text + at, "%a ", result[j]);
    for (size_t j = 0; j < k; j++)
        at += (size_t)sprintf(text + at, "%" PRIu64 " ", count[j]);
    dome_print(env, "%s\n", text);
    free(result);
    free(count);
    free(text);
}

static void histogram(dome_env *env, const dvec *x, uint64_t bins, double low, double high)
{
    uint64_t *count = calloc((size_t)bins + 1, sizeof *count);
    char *text = calloc((size_t)bins + 1, 24);
    size_t at = 0;
    dvec_histogram(x, bins, low, high, count);
    for (size_t j = 0; j < bins; j++)
        at += (size_t)sprintf(text + at, "%" PRIu64 " ", count[j]);
    dome_print(env, "%s\n", text);
    free(count);
    free(text);
}

static void histogram_edges(dome_env *env, const dvec *x, uint64_t bins, double low, double a)
{
    uint64_t *count = calloc((size_t)bins + 1, sizeof *count);
    double *edges = calloc((size_t)bins + 1, sizeof *edges);
    char *text = calloc((size_t)bins + 1, 24);
    size_t at = 0;
    for (size_t j = 0; j <= bins; j++)
        edges[j] = low + (double)(j * j) * a;
    dvec_histogram_edges(x, bins, edges, count);
    for (size_t j = 0; j < bins; j++)
        at += (size_t)sprintf(text + at, "%" PRIu64 " ", count[j]);
    dome_print(env, "%s\n", text);
    free(count);
    free(edges);
    free(text);
}

static void get_many(dome_env *env, const dvec *x, uint64_t first, uint64_t step, size_t count)
{
    const size_t bytes = count * dvec_width(x) * value_bytes(x);
    uint64_t *index = calloc(count + 1, sizeof *index);
    unsigned char *elements = malloc(bytes + 1);
    char *text = calloc(2 * bytes + 1, 1);
    for (size_t j = 0; j < count; j++)
        index[j] = (first + j * step) % dvec_length(x);
    dvec_get_many(x, count, index, elements);
    for (size_t i = 0; i < bytes; i++)
        sprintf(text + 2 * i, "%02x", elements[i]);
    dome_print(env, "%s\n", text);
    free(index);
    free(elements);
    free(text);
}

/* As text, with the shape (length / rows, rows, width), or the vector's own. */
static void text_of(dome_env *env, dvec *x, uint64_t rows)
{
    if (rows)
        dvec_set_shape(x, 3, (uint64_t[]){dvec_length(x) / rows, rows, dvec_width(x)});
    char *text = strdup(dvec_text(x));
    for (char *at = text; *at; at++)
        *at = *at == '\n' ? '|' : *at;
    dome_print(env, "%s\n", text);
    dvec_set_shape(x, 0, NULL);
    free(text);
}

static void topk(dome_env *env, const dvec *x, size_t k, bool largest)
{
    uint64_t *position = calloc(k + 1, sizeof *position);
    unsigned char *values = malloc(k * value_bytes(x) + 1);
    char *text = calloc(k + 1, 24 + 2 * value_bytes(x));
    size_t at = 0;
    dvec_topk(x, k, largest, values, position);
    for (size_t j = 0; j < k; j++)
        at += (size_t)sprintf(text + at, "%" PRIu64 " ", position[j]);
    for (size_t i = 0; i < k * value_bytes(x); i++)
        at += (size_t)sprintf(text + at, "%02x", values[i]);
    dome_print(env, "%s\n", text);
    free(position);
    free(values);
    free(text);
}

/* Reductions of several numbers. Returns whether the line is one. */
static bool several_results(dome_env *env, const char *name, const dvec *x, const dvec *y)
{
    double result[3] = {0};
    if (strcmp(name, "dots") == 0) {
        dvec_dots(3, (const dvec *const[]){x, x, y}, (const dvec *const[]){y, x, x}, result);
        dome_print(env, "%a %a %a\n", result[0], result[1], result[2]);
        return true;
    }
    if (strcmp(name, "sum_c128") == 0)
        dvec_sum_c128(x, result);
    else if (strcmp(name, "prod_c128") == 0)
        dvec_prod_c128(x, result);
    else if (strcmp(name, "dot_c128") == 0)
        dvec_dot_c128(x, y, result);
    else
        return false;
    dome_print(env, "%a %a\n", result[0], result[1]);
    return true;
}

static void transposed_product(dome_env *env, const dvec *x, const dvec *y)
{
    size_t values = dvec_width(x) * dvec_width(y), at = 0;
    double *result = calloc(values, sizeof *result);
    char *text = calloc(values, 32);
    dvec_transpose_matmul(x, y, result);
    for (size_t k = 0; k < values; k++)
        at += (size_t)sprintf(text + at, "%a ", result[k]);
    dome_print(env, "%s\n", text);
    free(result);
    free(text);
}

/* Makes one change of a view: a letter and numbers behind it. */
static bool change_view(dvec_view *v, const char *text)
{
    long long n[DVEC_MAX_AXES] = {0};
    uint64_t extents[DVEC_MAX_AXES];
    int axes[DVEC_MAX_AXES], count = 0;
    for (const char *at = text + 1; *at && count < DVEC_MAX_AXES; at += strcspn(at, ","), at += *at == ',')
        n[count++] = atoll(at);
    for (int d = 0; d < count; d++) {
        extents[d] = (uint64_t)n[d];
        axes[d] = (int)n[d];
    }
    switch (*text) {
    case 's':
        return dvec_view_array(v, count, extents);
    case 't':
        return dvec_view_transpose(v, axes);
    case 'l':
        return dvec_view_slice(v, axes[0], extents[1], extents[2], n[3]);
    case 'f':
        return dvec_view_flip(v, axes[0]);
    case 'i':
        return dvec_view_index(v, axes[0], extents[1]);
    case 'e':
        return dvec_view_insert(v, axes[0]);
    default:
        return *text == 'b' && dvec_view_broadcast(v, count, extents);
    }
}

static dvec_view view_of(dome_env *env, const char *text)
{
    dvec_view v = {.ndim = 0};
    char part[256];
    for (; *text; text += strcspn(text, ";"), text += *text == ';') {
        snprintf(part, sizeof part, "%.*s", (int)strcspn(text, ";"), text);
        if (!change_view(&v, part))
            dome_abort(env, "no change of a view: %s", part);
    }
    return v;
}

/* Calls of dome/ndim.h. Returns whether the line is one. */
static bool views(dome_env *env, char *const word[], const int number[])
{
    const char *name = word[0];
    dvec **z = &v[number[1]], *x = v[number[2]];
    if (strcmp(name, "put") == 0) {
        const dvec_view view = view_of(env, word[2]);
        dvec_copy_view(*z, &view, v[number[3]], NULL);
        return true;
    }
    if (strcmp(name, "take") && strcmp(name, "roll_view") && strcmp(name, "join") && strcmp(name, "reduce") &&
        strcmp(name, "scan_view"))
        return false;
    const dvec_view view = view_of(env, word[3]);
    if (strcmp(name, "take") == 0)
        *z = dvec_take_view(x, &view, NULL);
    else if (strcmp(name, "roll_view") == 0)
        *z = dvec_roll_view(x, &view, atoi(word[4]), atoll(word[5]), NULL);
    else if (strcmp(name, "join") == 0)
        *z = dvec_join_views(2, (const dvec *const[]){x, x}, (const dvec_view[]){view, view}, atoi(word[4]), NULL);
    else if (strcmp(name, "reduce") == 0)
        *z = dvec_reduce_view(x, &view, (dvec_axis_operation)atoi(word[4]), (uint32_t)atoll(word[5]), NULL);
    else
        *z = dvec_scan_view(x, &view, (dvec_axis_operation)atoi(word[4]), atoi(word[5]), NULL);
    return true;
}

/* Calls of dome/arrays.h. Returns whether the line is one. */
static bool arrays(dome_env *env, char *const word[], const int number[])
{
    const char *name = word[0];
    dvec *x = v[number[1]], **z = &v[number[1]], *y = v[number[2]];
    if (strcmp(name, "unique") == 0)
        *z = dvec_unique(y, NULL);
    else if (strcmp(name, "nonzero") == 0)
        *z = dvec_nonzero(y, NULL);
    else if (strcmp(name, "compress") == 0)
        *z = dvec_compress(y, v[number[3]], NULL);
    else if (strcmp(name, "slice") == 0)
        *z = dvec_slice(y, (uint64_t)atoll(word[3]), (uint64_t)atoll(word[4]), atoll(word[5]), NULL);
    else if (strcmp(name, "concatenate") == 0)
        *z = dvec_concatenate(2, (const dvec *const[]){y, v[number[3]]}, NULL);
    else if (strcmp(name, "searchsorted") == 0)
        dvec_searchsorted(x, y, v[number[3]], atoi(word[4]));
    else if (strcmp(name, "by") == 0)
        by_label(env, x, y, (uint64_t)atoll(word[3]));
    else if (strcmp(name, "histogram") == 0)
        histogram(env, x, (uint64_t)atoll(word[2]), strtod(word[3], NULL), strtod(word[4], NULL));
    else if (strcmp(name, "histogram_edges") == 0)
        histogram_edges(env, x, (uint64_t)atoll(word[2]), strtod(word[3], NULL), strtod(word[4], NULL));
    else if (strcmp(name, "get_many") == 0)
        get_many(env, x, (uint64_t)atoll(word[2]), (uint64_t)atoll(word[3]), (size_t)atoll(word[4]));
    else if (strcmp(name, "transpose_matmul") == 0)
        transposed_product(env, x, y);
    else if (strcmp(name, "text") == 0)
        text_of(env, x, (uint64_t)atoll(word[2]));
    else if (strcmp(name, "topk") == 0)
        topk(env, x, (size_t)atoll(word[2]), atoi(word[3]));
    else if (strcmp(name, "factorize") == 0)
        *z = dvec_factorize(v[number[4]], y, atoi(word[3]), NULL);
    else if (strcmp(name, "random_normal") == 0)
        dvec_random_normal(x, strtoull(word[2], NULL, 10));
    else
        return views(env, word, number) || several_results(env, name, x, y);
    return true;
}

static void interpret(dome_env *env, char *line)
{
    char *word[6] = {0};
    int words = 0;
    for (char *at = strtok(line, " \n"); at && words < 6; at = strtok(NULL, " \n"))
        word[words++] = at;
    if (words < 2)
        return;
    const char *name = word[0];
    int number[6] = {0};
    for (int i = 1; i < words; i++)
        number[i] = atoi(word[i]) & (VECTORS - 1);
    dvec *x = v[number[1]];
    if (strcmp(name, "new") == 0) {
        const dvec_options options = {
            .size = sizeof options, .distribution = (dome_distribution)atoi(word[5]), .width = (size_t)atoll(word[4])};
        v[number[1]] = dvec_new_with(env, NULL, type_named(word[2]), (uint64_t)atoll(word[3]), &options);
    } else if (strcmp(name, "free") == 0) {
        dvec_free(x);
        v[number[1]] = NULL;
    } else if (strcmp(name, "set") == 0) {
        set(x, words > 2 ? word[2] : "");
    } else if (strcmp(name, "print") == 0) {
        print(env, x);
    } else if (strcmp(name, "fill") == 0) {
        dvec_fill(x, strtod(word[2], NULL));
    } else if (strcmp(name, "iota") == 0) {
        dvec_iota(x);
    } else if (strcmp(name, "axpy") == 0) {
        dvec_axpy(x, strtod(word[2], NULL), v[number[3]]);
    } else if (strcmp(name, "axpby") == 0) {
        dvec_axpby(x, strtod(word[2], NULL), v[number[3]], strtod(word[4], NULL));
    } else if (strcmp(name, "combination") == 0) {
        const double coefficients[] = {strtod(word[2], NULL), strtod(word[4], NULL)};
        dvec_linear_combination(x, 2, coefficients, (const dvec *const[]){v[number[3]], v[number[5]]});
    } else if (strcmp(name, "scatter_add") == 0) {
        dvec_scatter_add(x, v[number[2]], v[number[3]]);
    } else if (strcmp(name, "columns") == 0) {
        columns(env, x);
    } else if (strcmp(name, "select") == 0) {
        dvec_select(x, v[number[2]], v[number[3]], v[number[4]]);
    } else if (strcmp(name, "roll") == 0) {
        dvec_roll(x, v[number[2]], atoll(word[3]));
    } else if (strcmp(name, "shift") == 0) {
        dvec_shift(x, v[number[2]], atoll(word[3]), NULL);
    } else if (strcmp(name, "dot") == 0) {
        dome_print(env, "%a\n", dvec_dot(x, v[number[2]]));
    } else if (strcmp(name, "dot_i64") == 0) {
        dome_print(env, "%" PRId64 "\n", dvec_dot_i64(x, v[number[2]]));
    } else if (strcmp(name, "argmin") == 0 || strcmp(name, "argmax") == 0) {
        uint64_t position;
        (name[4] == 'i' ? dvec_argmin : dvec_argmax)(x, &position);
        dome_print(env, "%" PRIu64 "\n", position);
    } else if (!arrays(env, word, number)) {
        CALL(binary, binary[i].call(x, v[number[2]], v[number[3]]))
        CALL(scalar, scalar[i].call(x, v[number[2]], strtod(word[3], NULL)))
        CALL(unary, unary[i].call(x, v[number[2]]))
        CALL(reduce, dome_print(env, "%a\n", reduce[i].call(x)))
        CALL(reduce_i64, dome_print(env, "%" PRId64 "\n", reduce_i64[i].call(x)))
        dome_abort(env, "interpret: there is no call '%s'", name);
    }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file)
        dome_abort(env, "interpret: no file to read");
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0)
        interpret(env, line);
    free(line);
    fclose(file);
    return dome_finalize(env);
}
