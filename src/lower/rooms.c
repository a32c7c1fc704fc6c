/* Where workspaces lie. In: a path through the host function with its launches. Out: for each workspace an
 * offset, so that two of them share memory where no launch needs both: between the last launch that touches
 * the one and the first that touches the other stands a SyncAll.
 *
 *     launch   0  1  2  3  4
 *     w0       ────                    at 0
 *     w1          ────                 after w0
 *     w2             ────              at 0 again
 *
 * Sizes that are numbers are placed largest first, each as low as it can lie; those that are numbers times one
 * size of the program (samples, say) likewise, counted in that size, after them. Of others only equal ones are
 * known to fit into each other's place; their places come last. */
#include "lower/lower_int.h"

typedef struct Place {
    IrExprId bytes;
    VEC(uint32_t) rooms;
} Place;

typedef struct Rooms {
    Lower *l;
    AscPath *path;
    bool *placed; /* by room */
    IrExprId end; /* of the rooms that are placed; 0: none is */
    VEC(Place) places;
} Rooms;

static AscRoom *room_of(AscPath *path, uint32_t tensor)
{
    for (uint32_t i = 0; i < path->rooms.len; i++)
        if (path->rooms.at[i].tensor == tensor)
            return &path->rooms.at[i];
    return NULL;
}

static void touch_tensor(Lower *l, AscPath *path, uint32_t tensor, uint32_t launch)
{
    const IrTensor *t = &l->ir->tensors.at[tensor];
    AscRoom *known = room_of(path, tensor);
    if (t->role != IR_ROLE_WORKSPACE)
        return;
    if (known) {
        known->last = launch;
        return;
    }
    AscRoom r = {.tensor = tensor, .field = UINT32_MAX, .first = launch, .last = launch};
    r.bytes = lx_int(l, (int64_t)dtype_bytes(t->dtype));
    for (uint32_t i = 0; i < t->rank; i++)
        r.bytes = lx_mul(l, r.bytes, t->shape[i]);
    r.bytes = lx_align(l, r.bytes, ASC_ROOM_ALIGN);
    vec_push(l->arena, &path->rooms, r);
}

static void find_rooms(Lower *l, AscPath *path)
{
    for (uint32_t i = 0; i < path->launches.len; i++) {
        const IrStmt *s = &l->ir->stmts.at[path->launches.at[i].stmt];
        for (uint32_t k = 0; k < s->args.len; k++)
            if (s->args.at[k].is_tensor)
                touch_tensor(l, path, s->args.at[k].tensor, i);
    }
}

static bool meet(const AscRoom *a, const AscRoom *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* ---- sizes that are numbers ---- */

typedef struct RoomSpan {
    int64_t at, bytes; /* at -1: not placed */
} RoomSpan;

/* The lowest offset where the room meets no other of its time. */
static int64_t lowest_offset(const AscPath *path, const RoomSpan *spans, uint32_t room)
{
    int64_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < path->rooms.len; i++) {
            const RoomSpan *s = &spans[i];
            if (i == room || s->at < 0 || !meet(&path->rooms.at[i], &path->rooms.at[room]) ||
                at >= s->at + s->bytes || at + spans[room].bytes <= s->at)
                continue;
            at = s->at + s->bytes;
            moved = true;
        }
    }
    return at;
}

/* bytes = number x size; size 0: a number alone. False: it is no such product. */
static bool is_multiple(const IrProgram *p, IrExprId bytes, int64_t *number, IrExprId *size)
{
    const IrExpr *e = &p->exprs.at[bytes];
    int64_t one = 1;
    IrExprId left = 0, right = 0;
    *number = 1;
    *size = 0;
    if (ir_is_int(p, bytes, number))
        return true;
    if (e->op == IR_E_VAR) {
        *size = bytes;
        return true;
    }
    bool product = e->op == IR_E_MUL && is_multiple(p, e->arg[0], number, &left) &&
                   is_multiple(p, e->arg[1], &one, &right) && !(left && right) &&
                   one <= INT64_MAX / (*number ? *number : 1);
    *number *= one;
    *size = left ? left : right;
    return product;
}

static bool same_size(const IrProgram *p, IrExprId a, IrExprId b)
{
    return a == b || (a && b && ir_same(p, a, b));
}

/* All rooms of a number of bytes times `size`, which is 0 for numbers alone. */
static void place_multiples(Rooms *r, IrExprId size)
{
    AscPath *path = r->path;
    RoomSpan *spans = arena_array(r->l->arena, RoomSpan, path->rooms.len + 1);
    int64_t top = 0;
    for (uint32_t i = 0; i < path->rooms.len; i++) {
        IrExprId of = 0;
        int64_t number = 0;
        bool mine = !r->placed[i] && is_multiple(r->l->ir, path->rooms.at[i].bytes, &number, &of) &&
                    same_size(r->l->ir, of, size);
        spans[i] = (RoomSpan){-1, mine ? number : -1};
    }
    for (;;) {
        uint32_t next = UINT32_MAX;
        for (uint32_t i = 0; i < path->rooms.len; i++)
            if (spans[i].at < 0 && spans[i].bytes >= 0 &&
                (next == UINT32_MAX || spans[i].bytes > spans[next].bytes))
                next = i;
        if (next == UINT32_MAX)
            break;
        int64_t at = lowest_offset(path, spans, next), stop = at + spans[next].bytes;
        IrExprId offset = !at ? 0 : size ? lx_mul(r->l, lx_int(r->l, at), size) : lx_int(r->l, at);
        spans[next].at = at;
        path->rooms.at[next].offset = offset && r->end ? lx_add(r->l, r->end, offset)
                                      : offset         ? offset
                                                       : r->end;
        r->placed[next] = true;
        top = stop > top ? stop : top;
    }
    IrExprId all = !top ? 0 : size ? lx_mul(r->l, lx_int(r->l, top), size) : lx_int(r->l, top);
    r->end = all && r->end ? lx_add(r->l, r->end, all) : all ? all : r->end;
}

/* ---- the others ---- */

static bool has_room(const Rooms *r, const Place *place, const AscRoom *room)
{
    if (!ir_same(r->l->ir, place->bytes, room->bytes))
        return false;
    for (uint32_t i = 0; i < place->rooms.len; i++)
        if (meet(&r->path->rooms.at[place->rooms.at[i]], room))
            return false;
    return true;
}

static void place_other(Rooms *r, uint32_t number)
{
    const AscRoom *room = &r->path->rooms.at[number];
    uint32_t at = 0;
    while (at < r->places.len && !has_room(r, &r->places.at[at], room))
        at++;
    if (at == r->places.len)
        vec_push(r->l->arena, &r->places, ((Place){.bytes = room->bytes}));
    vec_push(r->l->arena, &r->places.at[at].rooms, number);
}

/* requires: the launches of the path.
 * keeps: them; adds a room for each workspace that one of them is handed. */
void lower_rooms(Lower *l, AscPath *path)
{
    Rooms r = {.l = l, .path = path};
    find_rooms(l, path);
    r.placed = arena_array(l->arena, bool, path->rooms.len + 1);
    place_multiples(&r, 0);
    for (uint32_t i = 0; i < path->rooms.len; i++) {
        IrExprId size = 0;
        int64_t number = 0;
        if (!r.placed[i] && is_multiple(l->ir, path->rooms.at[i].bytes, &number, &size))
            place_multiples(&r, size);
    }
    for (uint32_t i = 0; i < path->rooms.len; i++)
        if (!r.placed[i])
            place_other(&r, i);
    for (uint32_t i = 0; i < r.places.len; i++) {
        const Place *place = &r.places.at[i];
        for (uint32_t k = 0; k < place->rooms.len; k++)
            path->rooms.at[place->rooms.at[k]].offset = r.end;
        r.end = lx_add(l, r.end, place->bytes);
    }
    path->room_bytes = r.end;
}
