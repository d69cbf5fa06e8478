#include "objects/eval.h"

#include "objects/kernels.h"

#include <string.h>

/* Operations a list holds before they are run in any case. */
#define OPERATIONS_MAX 64

/* Values that are worked on at a time: blocks smaller than this are taken several together, so that a chain of operations
 * finds its operands in the cache but is not called too often. */
#define CHUNK_VALUES 4096

/* A list of more pieces than this is long enough for its operations to be timed apart in one of them. */
#define MANY_PIECES 8

/* Recorded operations whose outputs share a layout, in the order of the calls. A vector with recorded work is in one list
 * only: work in another list that it takes part in is run first. So lists do not depend on each other. */
typedef struct eval_list {
    dome_layout *layout;
    int rank;
    unsigned count, done; /* done: those in front that have been run ahead of need (dome__eval_settle) */
    char *failure;        /* the first of theirs; nobody has asked for the values yet */
    dome_eval_op op[OPERATIONS_MAX];
} eval_list;

struct dome_eval {
    GPtrArray *lists;
    int status; /* of work that failed and has not been reported, with its text */
    char *failure;
};

dome_eval *dome__eval_new(void)
{
    dome_eval *eval = g_new0(dome_eval, 1);
    eval->lists = g_ptr_array_new();
    return eval;
}

static void list_free(eval_list *list)
{
    for (unsigned k = 0; k < list->count; k++)
        g_free(list->op[k].value);
    dome_layout_unref(list->layout);
    g_free(list->failure);
    g_free(list);
}

void dome__eval_free(dome_eval *eval)
{
    if (!eval)
        return;
    for (guint k = 0; k < eval->lists->len; k++)
        list_free(g_ptr_array_index(eval->lists, k));
    g_ptr_array_free(eval->lists, TRUE);
    g_free(eval->failure);
    g_free(eval);
}

/* ---- running ---- */

/* One operation made ready: its kernel, and its operands as addresses that belong to an element of the list's layout. */
typedef struct prepared {
    dome_kernel kernel;
    dome_kernel_args args;
    struct operand {
        char *data;
        uint64_t element; /* bytes */
        bool global;      /* addressed by global index, not by place in the task's part */
    } operand[4];         /* the output, then the inputs */
    uint64_t bad;         /* the first value without a result; UINT64_MAX if none */
} prepared;

static bool is_comparison(dome_operation_code code)
{
    return code >= DOME_OP_DVEC_EQ && code <= DOME_OP_DVEC_GES;
}

static prepared prepare(const eval_list *list, const dome_eval_op *op)
{
    prepared p = {.bad = UINT64_MAX};
    const dvec *vector[4] = {op->out, op->in[0], op->in[1], op->in[2]};
    for (int k = 0; k < 4; k++)
        if (vector[k])
            p.operand[k] =
                (struct operand){vector[k]->data, DVEC_ELEMENT(vector[k]), !dome_layout_equal(vector[k]->layout, list->layout)};
    p.args.value = op->value;
    p.args.width = op->out->width;
    p.args.bytes = DVEC_VALUE(op->out);
    if (op->code == DOME_OP_DVEC_RANDOM)
        p.args.seed = op->scalar.u64;
    else
        p.args.a = op->scalar.f64;
    if (op->value)
        p.kernel = dome__kernel_fill_value;
    else
        p.kernel =
            dome__kernel(op->code, is_comparison(op->code) ? op->in[0]->type : op->out->type, op->in[0] ? op->in[0]->type : NULL);
    return p;
}

/* Applies an operation to count elements from global index first, which is the task's element number place. */
static void apply(prepared *p, uint64_t first, uint64_t place, uint64_t count)
{
    void *address[4];
    for (int k = 0; k < 4; k++) {
        const struct operand *operand = &p->operand[k];
        address[k] = operand->data ? operand->data + (operand->global ? first : place) * operand->element : NULL;
    }
    p->args.out = address[0];
    memcpy(p->args.in, address + 1, sizeof p->args.in);
    p->args.first = first;
    uint64_t values = count * p->args.width, done = p->kernel(&p->args, values);
    if (done < values && p->bad > first * p->args.width + done)
        p->bad = first * p->args.width + done;
}

static void note_failure(eval_list *list, const dome_eval_op *op, uint64_t bad)
{
    if (list->failure)
        return;
    bool power = op->code == DOME_OP_DVEC_POW || op->code == DOME_OP_DVEC_POWS;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s into '%s': element %" G_GUINT64_FORMAT, dome__operation_name(op->code),
                           dome_object_name(op->out->object), bad / op->out->width);
    if (op->out->width > 1)
        g_string_append_printf(text, ", value %" G_GUINT64_FORMAT ",", bad % op->out->width);
    g_string_append(text, power ? " is 0 raised to a negative power" : " is an integer divided by zero");
    list->failure = g_string_free(text, FALSE);
}

static void count_pending(const dome_eval_op *op, int by)
{
    op->out->pending += by;
    for (int k = 0; k < 3; k++)
        if (op->in[k])
            ((dvec *)op->in[k])->pending += by;
}

static uint64_t bytes_of(const eval_list *list, const dome_eval_op *op)
{
    uint64_t element = DVEC_ELEMENT(op->out);
    for (int k = 0; k < 3; k++)
        element += op->in[k] ? DVEC_ELEMENT(op->in[k]) : 0;
    return element * dome_layout_local(list->layout, list->rank);
}

/* Tells the clock what the rest of a list took. weight: of each operation, in any unit. */
static void charge(const eval_list *list, const double weight[], uint64_t ns)
{
    dome_env *env = list->op[0].out->env;
    double sum = 0;
    for (unsigned k = list->done; k < list->count; k++)
        sum += weight[k - list->done];
    for (unsigned k = list->done; k < list->count; k++) {
        const dome_eval_op *op = &list->op[k];
        uint64_t part = sum > 0 ? (uint64_t)((double)ns * (weight[k - list->done] / sum)) : 0;
        env->clock[op->code].compute_ns += part;
        env->clock[op->code].bytes += bytes_of(list, op);
        dome__object_charge(op->out->object, part);
    }
    env->eval_ns += ns;
}

/* All operations on one piece; their times, if weight is not NULL. */
static void run_piece(prepared work[], unsigned n, uint64_t first, uint64_t place, uint64_t count, double weight[])
{
    uint64_t before = weight ? dome__now_ns() : 0;
    for (unsigned k = 0; k < n; k++) {
        apply(&work[k], first, place, count);
        if (weight) {
            uint64_t now = dome__now_ns();
            weight[k] = (double)(now - before);
            before = now;
        }
    }
}

/* Runs what has not been run of a list. */
static void run_rest(eval_list *list)
{
    unsigned n = list->count - list->done;
    const dome_eval_op *op = list->op + list->done;
    if (n == 0)
        return;
    uint64_t begin = dome__now_ns();
    prepared work[OPERATIONS_MAX];
    double weight[OPERATIONS_MAX];
    for (unsigned k = 0; k < n; k++) {
        work[k] = prepare(list, &op[k]);
        weight[k] = (double)bytes_of(list, &op[k]);
    }
    for (unsigned k = 0; k < n; k++)
        dvec__written(op[k].out);

    uint64_t widest = 1;
    for (unsigned k = 0; k < n; k++)
        widest = MAX(widest, work[k].args.width);
    uint64_t block = dome_layout_block_size(list->layout);
    uint64_t chunk = block * MAX(1, CHUNK_VALUES / widest / block);

    dome_span span[2];
    int spans = dome_layout_spans(list->layout, list->rank, span);
    uint64_t place = 0, probe = MANY_PIECES * chunk;
    for (int s = 0; s < spans; s++)
        for (uint64_t done = 0, count; done < span[s].count; done += count, place += count) {
            count = MIN(chunk, span[s].count - done);
            run_piece(work, n, span[s].first + done, place, count, place == probe ? weight : NULL);
        }

    for (unsigned k = 0; k < n; k++)
        if (work[k].bad != UINT64_MAX)
            note_failure(list, &op[k], work[k].bad);
    uint64_t took = dome__since_ns(begin);
    charge(list, weight, took);
    dome__trace_evaluation(op->out->env->trace, n, begin, took);
    list->done = list->count;
}

/* Runs a list and takes it out of the evaluator, which has its failure from now on. */
static void run_list(dome_eval *eval, eval_list *list)
{
    g_ptr_array_remove(eval->lists, list);
    for (unsigned k = 0; k < list->count; k++)
        count_pending(&list->op[k], -1);
    run_rest(list);
    if (list->failure && !eval->failure) {
        eval->status = DOME_ERR_RANGE;
        eval->failure = g_steal_pointer(&list->failure);
    }
    list_free(list);
}

static bool list_has(const eval_list *list, const dvec *x)
{
    for (unsigned k = 0; k < list->count; k++) {
        const dome_eval_op *op = &list->op[k];
        if (op->out == x || op->in[0] == x || op->in[1] == x || op->in[2] == x)
            return true;
    }
    return false;
}

static eval_list *list_of(const dome_eval *eval, const dvec *x)
{
    if (!x->pending)
        return NULL;
    for (guint k = 0; k < eval->lists->len; k++) {
        eval_list *list = g_ptr_array_index(eval->lists, k);
        if (list_has(list, x))
            return list;
    }
    return NULL;
}

/* A list that has failed stays, so that its vectors still have something pending: who needs one of them gets the failure. */
bool dome__eval_settle(dome_env *env)
{
    dome_eval *eval = env->eval;
    bool ok = eval->status == DOME_OK;
    for (guint k = eval->lists->len; k-- > 0;) {
        eval_list *list = g_ptr_array_index(eval->lists, k);
        run_rest(list);
        if (list->failure)
            ok = false;
        else
            run_list(eval, list);
    }
    return ok;
}

int dome__eval_try(dome_env *env, const dvec *x, char **text)
{
    dome_eval *eval = env->eval;
    *text = NULL;
    if (!eval)
        return DOME_OK;
    if (x) {
        eval_list *list = list_of(eval, x);
        if (list)
            run_list(eval, list);
    }
    while (!x && eval->lists->len)
        run_list(eval, g_ptr_array_index(eval->lists, 0));
    int status = eval->status;
    *text = eval->failure;
    eval->status = DOME_OK;
    eval->failure = NULL;
    return status;
}

int dome__eval_run(dome_env *env, const dvec *x)
{
    char *text;
    int status = dome__eval_try(env, x, &text);
    if (status == DOME_OK)
        return status;
    status = dome__fail(env, status, "%s", text);
    g_free(text);
    return status;
}

/* ---- recording ---- */

static eval_list *list_for(dome_eval *eval, const dvec *out)
{
    for (guint k = 0; k < eval->lists->len; k++) {
        eval_list *list = g_ptr_array_index(eval->lists, k);
        if (list->rank == out->layout_rank && dome_layout_equal(list->layout, out->layout))
            return list;
    }
    return NULL;
}

int dome__eval_record(dome_env *env, const dome_eval_op *op)
{
    dome_eval *eval = env->eval;
    eval_list *list = list_for(eval, op->out);
    const dvec *vector[4] = {op->out, op->in[0], op->in[1], op->in[2]};
    for (int k = 0; k < 4; k++) {
        eval_list *other = vector[k] ? list_of(eval, vector[k]) : NULL;
        if (other && other != list)
            run_list(eval, other);
    }
    if (!list) {
        list = g_new(eval_list, 1);
        list->layout = dome_layout_ref(op->out->layout);
        list->rank = op->out->layout_rank;
        list->count = list->done = 0;
        list->failure = NULL;
        g_ptr_array_add(eval->lists, list);
    }
    list->op[list->count++] = *op;
    count_pending(op, 1);
    if (list->count == OPERATIONS_MAX)
        run_list(eval, list);

    /* With errors that return, the call that needs a value reports; it is one that all tasks make alike. */
    if (eval->failure && !env->errors_return) {
        char *text;
        int status = dome__eval_try(env, op->out, &text);
        status = dome__fail(env, status, "%s", text);
        g_free(text);
        return status;
    }
    return DOME_OK;
}
