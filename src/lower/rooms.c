/* Where workspaces lie. In: a way through the host function with its launches. Out: for each workspace an
 * offset, so that two of them share memory where no launch needs both: between the last launch that touches
 * the one and the first that touches the other stands a SyncAll.
 *
 *     launch   0  1  2  3  4
 *     w0       ────                    at 0
 *     w1          ────                 behind w0
 *     w2             ────              at 0 again
 *
 * Sizes that are numbers are placed largest first, each as low as it can lie. Of others only equal ones are
 * known to fit into each other's place; their places follow behind the numbers. */
#include "lower/lower_int.h"

typedef struct Place {
    IrExprId bytes;
    VEC(uint32_t) rooms;
} Place;

typedef struct Rooms {
    Lower *l;
    AscPath *path;
    int64_t top; /* end of the rooms whose sizes are numbers */
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

static void place_numbers(Rooms *r)
{
    AscPath *path = r->path;
    RoomSpan *spans = arena_array(r->l->arena, RoomSpan, path->rooms.len + 1);
    for (uint32_t i = 0; i < path->rooms.len; i++) {
        int64_t bytes = 0;
        bool number = ir_is_int(r->l->ir, path->rooms.at[i].bytes, &bytes);
        spans[i] = (RoomSpan){-1, number ? bytes : -1};
    }
    for (;;) {
        uint32_t next = UINT32_MAX;
        for (uint32_t i = 0; i < path->rooms.len; i++)
            if (spans[i].at < 0 && spans[i].bytes >= 0 &&
                (next == UINT32_MAX || spans[i].bytes > spans[next].bytes))
                next = i;
        if (next == UINT32_MAX)
            return;
        int64_t at = lowest_offset(path, spans, next), end = at + spans[next].bytes;
        spans[next].at = at;
        path->rooms.at[next].offset = at ? lx_int(r->l, at) : 0;
        r->top = end > r->top ? end : r->top;
    }
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
    place_numbers(&r);
    for (uint32_t i = 0; i < path->rooms.len; i++) {
        int64_t bytes = 0;
        if (!ir_is_int(l->ir, path->rooms.at[i].bytes, &bytes))
            place_other(&r, i);
    }
    IrExprId end = r.top ? lx_int(l, r.top) : 0;
    for (uint32_t i = 0; i < r.places.len; i++) {
        const Place *place = &r.places.at[i];
        for (uint32_t k = 0; k < place->rooms.len; k++)
            path->rooms.at[place->rooms.at[k]].offset = end;
        end = lx_add(l, end, place->bytes);
    }
    path->room_bytes = end;
}
