/* table CASES: reads text files by dvec_read_columns and dvec_read_text. Each line of the file CASES, which task 0 alone reads,
 * is
 *
 *     FILE SEPARATOR COMMENT SKIP COLUMN...
 *
 * with characters as numbers. COLUMN is TYPE:NUMBER, TYPE:=NAME (+ for a blank), tWIDTH:NUMBER or tWIDTH:=NAME; the one
 * word `all` stands for dvec_read_text. Prints for each case the values of each vector as hex, or the line that says why not. */
#include <dome/dome.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8 };

static void show(dome_env *env, dvec *x)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *values = dvec_allgather(x);
    const size_t bytes = (size_t)dvec_length(x) * dvec_width(x) * dome_type_size(dvec_type(x));
    char *text = malloc(2 * bytes + 1);
    for (size_t k = 0; k < bytes; k++) {
        text[2 * k] = digits[values[k] >> 4];
        text[2 * k + 1] = digits[values[k] & 15];
    }
    text[2 * bytes] = 0;
    dome_print(env, " %" PRIu64 "x%zu:%s", dvec_length(x), dvec_width(x), text);
    free(text);
    dvec_free(x);
}

static dvec_column column_of(char *word)
{
    char *of = strchr(word, ':') + 1;
    dvec_column column = DVEC_COLUMN(.name = NULL);
    for (char *at = of; *at; at++)
        *at = *at == '+' ? ' ' : *at;
    if (*of == '=')
        column.name = of + 1;
    else
        column.number = strtoul(of, NULL, 10);
    if (*word == 't')
        column.width = strtoul(word + 1, NULL, 10);
    else
        column.type = strncmp(word, "i64", 3) == 0 ? DOME_I64 : strncmp(word, "f32", 3) == 0 ? DOME_F32 : DOME_F64;
    return column;
}

static void read_case(dome_env *env, char *line)
{
    char *word[4 + COLUMNS];
    size_t words = 0;
    for (char *at = strtok(line, " \n"); at && words < 4 + COLUMNS; at = strtok(NULL, " \n"))
        word[words++] = at;
    if (words < 5)
        return;
    const dvec_text_options options = {.size = sizeof options,
                                       .separator = (char)atoi(word[1]),
                                       .comment = (char)atoi(word[2]),
                                       .skip = strtoul(word[3], NULL, 10)};
    dvec_column columns[COLUMNS];
    dvec *found[COLUMNS] = {NULL};
    size_t n = words - 4;
    dome_print(env, "%s", word[0]);
    if (strcmp(word[4], "all") == 0) {
        found[0] = dvec_read_text(env, NULL, word[0], &options);
        n = found[0] ? 1 : 0;
    } else {
        for (size_t k = 0; k < n; k++)
            columns[k] = column_of(word[4 + k]);
        if (dvec_read_columns(env, word[0], n, columns, &options, found) != DOME_OK)
            n = 0;
    }
    for (size_t k = 0; k < n; k++)
        show(env, found[k]);
    dome_print(env, n ? "\n" : " failed: %s\n", dome_error_message(env));
    dome_error_clear(env);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    dome_set_errors_return(env);
    FILE *cases = dome_rank(env) == 0 && argc > 1 ? fopen(argv[1], "r") : NULL;
    char line[1000];
    do {
        line[0] = 0;
        if (cases && !fgets(line, sizeof line, cases))
            line[0] = 0;
        dome_bcast(env, 0, DOME_U8, line, sizeof line);
        if (line[0])
            read_case(env, line);
    } while (line[0]);
    if (cases)
        fclose(cases);
    return dome_finalize(env);
}
