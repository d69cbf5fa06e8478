/* Rank 0 where hosts have pieces (piece.c). It also leads the first group. */
#include "ckpt/writer_private.h"

typedef struct lead {
    dome_ckpt_leader all;
    const dome_ckpt_pieces *pieces;
    dome_ckpt **piece; /* planned; NULL: there is nothing to write */
    dome_ckpt_part *own;
} lead;

/* Plans a piece: the blocks of its group and those of the group before. */
static dome_ckpt *plan_piece(lead *l, int g)
{
    const dome_ckpt_pieces *p = l->pieces;
    const dome_ckpt *whole = l->all.job->ckpt;
    dome_ckpt *piece = dome__ckpt_whole_of(whole);
    piece->piece = (uint32_t)g + 1;
    piece->pieces = (uint32_t)p->count;
    for (int rank = 0; rank < l->all.link->size; rank++) {
        if (p->group[rank] != g && (p->group[rank] + 1) % p->count != g)
            continue;
        for (guint i = 0; i < l->all.claims[rank]->len; i++) {
            dome_ckpt_claim c = g_array_index(l->all.claims[rank], dome_ckpt_claim, i);
            for (uint64_t k = 0; k < c.count; k++) {
                piece->table[c.entry + k] = whole->table[c.entry + k];
                piece->table[c.entry + k].source = whole->number;
            }
        }
    }
    dome__ckpt_plan(piece, NULL, &l->all.problem);
    return piece;
}

static void plan_pieces(lead *l)
{
    l->piece = g_new0(dome_ckpt *, l->pieces->count + 1);
    for (int g = 0; g < l->pieces->count && !l->all.problem; g++)
        l->piece[g] = plan_piece(l, g);
}

/* The offsets of a task's blocks in its group's piece and in the next group's. */
static GArray *pair_offsets(const lead *l, int rank)
{
    int own = l->pieces->group[rank], next = (own + 1) % l->pieces->count;
    GArray *offsets = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint i = 0; i < l->all.claims[rank]->len; i++) {
        dome_ckpt_claim c = g_array_index(l->all.claims[rank], dome_ckpt_claim, i);
        for (uint64_t k = 0; k < c.count; k++) {
            g_array_append_val(offsets, l->piece[own]->table[c.entry + k].offset);
            g_array_append_val(offsets, l->piece[next]->table[c.entry + k].offset);
        }
    }
    return offsets;
}

/* The order for one task. */
static GByteArray *order_for(const lead *l, int rank, dome_ckpt_order_kind kind)
{
    GByteArray *m = g_byte_array_new();
    dome_ckpt_order order = {.kind = kind};
    void *head = NULL;
    if (kind == DOME_CKPT_WRITE) {
        dome_ckpt *piece = l->piece[l->pieces->group[rank]];
        order.number = l->all.job->ckpt->number;
        order.offsets = pair_offsets(l, rank);
        if (dome__ckpt_leads_group(l->pieces, rank)) {
            order.head = head = dome__ckpt_encode(piece);
            order.head_bytes = piece->head_bytes;
            order.file_bytes = piece->file_bytes;
        }
    }
    dome__ckpt_put_order(m, &order);
    if (order.offsets)
        g_array_unref(order.offsets);
    g_free(head);
    return m;
}

/* Sends orders to the leaders of groups, or to all others, and receives the leaders' results. */
static void send_orders(lead *l, bool leaders, dome_ckpt_order_kind kind)
{
    for (int rank = 1; rank < l->all.link->size; rank++)
        if (dome__ckpt_leads_group(l->pieces, rank) == leaders)
            l->all.writes[rank] = dome__ckpt_leader_send(&l->all, rank, order_for(l, rank, kind)) && kind != DOME_CKPT_NOTHING;
}

static void send_word(lead *l, uint64_t word)
{
    for (int rank = 1; rank < l->all.link->size; rank++) {
        if (!dome__ckpt_leads_group(l->pieces, rank))
            continue;
        GByteArray *m = g_byte_array_new();
        dome__ckpt_put_word(m, word);
        dome__ckpt_send(l->all.link, rank, m, &l->all.problem);
    }
}

static void note_own(lead *l)
{
    dome__ckpt_note(&l->all.problem, g_steal_pointer(dome__ckpt_part_problem(l->own)));
}

static void gather(lead *l)
{
    dome_ckpt_snapshot *snapshot = l->all.job->snapshot;
    dome_ckpt_output none = dome__ckpt_output_begin(l->all.link, snapshot);
    dome__ckpt_leader_gather(&l->all);
    for (int rank = 1; rank < l->all.link->size; rank++)
        l->all.writes[rank] = true; /* tasks that are gone are detected again */
    dome__ckpt_output_convert(&none, snapshot, &l->all.problem);
    dome__ckpt_leader_gather_sums(&l->all, NULL);
    for (int rank = 1; rank < l->all.link->size; rank++)
        l->all.writes[rank] = false;
}

/* Leaders make their files first, so that the others can open them. */
static dome_ckpt_order_kind write_all(lead *l)
{
    dome_ckpt_order_kind kind = l->all.problem ? DOME_CKPT_NOTHING : DOME_CKPT_WRITE;
    send_orders(l, true, kind);
    GByteArray *m = order_for(l, 0, kind);
    dome__ckpt_part_take_order(l->own, m->data, m->len);
    g_byte_array_unref(m);
    dome__ckpt_leader_wait(&l->all);
    if (*dome__ckpt_part_problem(l->own))
        dome__ckpt_note(&l->all.problem, g_strdup(*dome__ckpt_part_problem(l->own)));
    send_orders(l, false, kind == DOME_CKPT_WRITE && l->all.problem ? DOME_CKPT_GIVE_UP : kind);
    dome__ckpt_part_write(l->own);
    dome__ckpt_leader_wait(&l->all);
    note_own(l);
    return kind;
}

/* Gives all pieces their names; then files that are not needed any more may be removed. */
static void commit(lead *l)
{
    note_own(l);
    for (int rank = 1; rank < l->all.link->size; rank++)
        l->all.writes[rank] = dome__ckpt_leads_group(l->pieces, rank);
    dome__ckpt_leader_wait(&l->all);
    l->all.job->written = !l->all.problem;
    send_word(l, l->all.job->written);
}

void dome__ckpt_lead_pieces(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    lead l = {.pieces = job->pieces, .own = dome__ckpt_part_new(job, link)};
    dome__ckpt_leader_begin(&l.all, job, link);
    gather(&l);
    if (!l.all.problem)
        plan_pieces(&l);
    dome_ckpt_order_kind kind = write_all(&l);
    bool good = kind == DOME_CKPT_WRITE && !l.all.problem;
    if (kind == DOME_CKPT_WRITE)
        send_word(&l, good);
    dome__ckpt_part_end(l.own, good);
    if (good)
        commit(&l);
    if (job->written) {
        for (int g = 0; g < l.pieces->count; g++)
            job->data_bytes += dome__ckpt_data_bytes(l.piece[g]);
        dome__ckpt_leader_conclude(&l.all);
    }
    for (int g = 0; l.piece && g < l.pieces->count; g++)
        dome__ckpt_free(l.piece[g]);
    g_free(l.piece);
    dome__ckpt_part_free(l.own);
    dome__ckpt_leader_end(&l.all);
}
