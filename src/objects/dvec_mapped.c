#include "objects/dvec_mapped.h"

#include "core/type_private.h"
#include "kernels/kernels_reduce.h"

#include <string.h>

struct dvec_mapped {
    uint64_t version; /* of the values that dvec_map has written */
    bool wanted;      /* the sum was asked for after the last dvec_map */
    bool known;       /* the sums are those of the version */
    bool used;
    dome_sum_kernel kernel;
    dome_exact_sum sums[2];
};

bool dvec__mapped_begin(dvec *out)
{
    struct dvec_mapped *m = out->lazy->mapped;
    if (!m)
        return false;
    m->wanted = m->wanted && (m->used || !m->known); /* not if the program has not asked for the last one */
    if (!m->wanted || out->lazy->pointed)
        return false;
    m->known = false;
    m->kernel = dome__sum_kernel(DOME_TERMS_SUM, out->type);
    dome__exact_init(&m->sums[0]);
    dome__exact_init(&m->sums[1]);
    return m->kernel != NULL;
}

void dvec__mapped_add(dvec *out, const char *data, uint64_t count)
{
    struct dvec_mapped *m = out->lazy->mapped;
    m->kernel(data, NULL, count * out->width, dome_layout_block_size(out->layout) * out->width, NULL, m->sums);
}

void dvec__mapped_end(dvec *out, bool with_sums)
{
    struct dvec_mapped *m = out->lazy->mapped;
    if (!m)
        m = out->lazy->mapped = g_new0(struct dvec_mapped, 1);
    m->known = with_sums;
    m->used = false;
    m->version = out->version;
}

bool dvec__mapped_sums(const dvec *x, dome_exact_sum sums[2])
{
    struct dvec_mapped *m = x->lazy->mapped;
    if (!m || m->version != x->version || x->lazy->value)
        return false;
    m->wanted = m->used = true;
    if (m->known)
        memcpy(sums, m->sums, sizeof m->sums);
    return m->known;
}
