/* Device memory and the plain events on it: allocate, copy, fill, write. */
#include "eval/device.h"

#include <string.h>

#define FIRST_ADDRESS 0x124000000000ull
#define ROOM_STEP 0x200000ull
#define MOST_BYTES (4ull << 30)
#define MORE_THAN_ANY_CHIP (256ull << 30)

void eval_device_open(EvalDevice *d) { *d = (EvalDevice){.next = FIRST_ADDRESS}; }

void eval_device_close(EvalDevice *d)
{
    for (uint32_t i = 0; i < d->rooms.len; i++)
        if (!d->rooms.at[i].lent)
            twin_tensor_free(&d->rooms.at[i].memory);
    d->rooms.len = 0;
}

static bool too_many(EvalJudge *j, uint64_t bytes)
{
    if (bytes > MORE_THAN_ANY_CHIP)
        return eval_judge_fail(j, VERDICT_CRASHED, STAGE_RUN,
                               str_format(j->arena,
                                          "host code asks for %llu bytes of device memory, more "
                                          "than any chip has",
                                          (unsigned long long)bytes));
    return eval_judge_fail(j, VERDICT_TOO_LARGE, STAGE_RUN,
                           str_format(j->arena, "host code asks for %llu bytes of device memory",
                                      (unsigned long long)bytes));
}

static EvalRoom *add_at(EvalJudge *j, EvalDevice *d, uint64_t address, uint64_t bytes)
{
    EvalRoom room = {.address = address};
    room.memory = (TwinTensor){.name = "memory", .dtype = DT_U8, .bytes = (size_t)bytes};
    bool sparse = j->config->no_values; /* pages that nobody touches cost nothing */
    if (bytes > (sparse ? MORE_THAN_ANY_CHIP : MOST_BYTES) || d->rooms.len > 4000 ||
        !twin_tensor_alloc(&room.memory)) {
        too_many(j, bytes);
        return NULL;
    }
    if (!sparse)
        memset(room.memory.data, 0xa5, room.memory.bytes);
    vec_push(j->arena, &d->rooms, room);
    d->next = address + (bytes + 2 * ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
    return &vec_last(&d->rooms);
}

EvalRoom *eval_device_add(EvalJudge *j, EvalDevice *d, uint64_t bytes)
{
    return add_at(j, d, d->next, bytes);
}

EvalRoom *eval_device_at(EvalDevice *d, uint64_t address)
{
    for (uint32_t i = 0; i < d->rooms.len; i++) {
        EvalRoom *room = &d->rooms.at[i];
        uint64_t bytes = room->memory.bytes ? room->memory.bytes : 1;
        if (address >= room->address && address - room->address < bytes)
            return room;
    }
    return NULL;
}

static bool bad_view(EvalJudge *j)
{
    return eval_judge_fail(j, VERDICT_CRASHED, STAGE_RUN,
                           "host code uses a tensor outside its memory");
}

static Shape shape_of(const TwinView *v)
{
    Shape s = {.rank = (int)v->rank};
    for (uint32_t d = 0; d < v->rank && d < GRAPH_MAX_RANK; d++)
        s.dim[d] = v->size[d];
    return s;
}

Tensor *eval_device_get(EvalJudge *j, EvalDevice *d, const TwinView *v)
{
    EvalRoom *room = eval_device_at(d, v->address);
    uint64_t count;
    Tensor *t = room && v->rank <= GRAPH_MAX_RANK && twin_view_count(v, &count)
                    ? tensor_new_raw(v->dtype, shape_of(v))
                    : NULL;
    if (t &&
        (j->config->no_values || twin_view_gather(v, room->memory.data, room->memory.bytes, t->at)))
        return t;
    tensor_free(t);
    bad_view(j);
    return NULL;
}

static bool put(EvalJudge *j, EvalDevice *d, const TwinView *to, const Tensor *t)
{
    EvalRoom *room = eval_device_at(d, to->address);
    if (!room || !t || !twin_view_scatter(to, room->memory.data, room->memory.bytes, t->at))
        return bad_view(j);
    room->known = room->by_host = true;
    return true;
}

bool eval_host_is_theirs(const EvalJudge *j)
{
    return !j->ref || j->candidate->form == FORM_NPUKB_KERNEL ||
           j->candidate->form == FORM_NPUKB_FULL;
}

/* A task that replaces its inputs may leave one as it is: kernels then write what stood there, and
 * the values are compared like any others. */
static bool may_stay(const EvalJudge *j, const EvalRoom *room)
{
    return room->given && room->uses && !room->by_host && eval_task_in_place(j);
}

bool eval_device_made(EvalJudge *j, EvalDevice *d, uint64_t address)
{
    const EvalRoom *room = eval_device_at(d, address);
    return !room || room->by_kernel || !room->memory.bytes || eval_host_is_theirs(j) ||
           may_stay(j, room) ||
           eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                           "host code gives back memory that no kernel has written");
}

/* Where moving elements is the task, host code copies whole tensors as they lie. */
static bool may_rearrange(EvalJudge *j, const TwinEvent *e)
{
    bool as_it_is = (twin_view_dense(&e->of) && twin_view_dense(&e->to)) || eval_host_is_theirs(j);
    return as_it_is || !eval_task_moves(j->ref->graph) ||
           eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                           "the binding leaves the moving of elements to PyTorch");
}

static void hand_on(EvalDevice *d, uint64_t from, uint64_t to)
{
    const EvalRoom *source = eval_device_at(d, from);
    EvalRoom *room = eval_device_at(d, to);
    if (source && room)
        room->by_kernel = source->by_kernel;
}

/* Without values nothing is carried; what would be cut cannot be known. */
static bool copy_nothing(EvalJudge *j, EvalDevice *d, const TwinEvent *e)
{
    EvalRoom *to = eval_device_at(d, e->to.address);
    if (!to || !eval_device_at(d, e->of.address))
        return bad_view(j);
    if (dtype_is_float(e->of.dtype) && !dtype_is_float(e->to.dtype))
        return eval_judge_fail(j, VERDICT_NO_TIME, STAGE_RUN, "the binding casts to integers");
    hand_on(d, e->of.address, e->to.address);
    to->known = to->by_host = true;
    return true;
}

static bool copy(EvalJudge *j, EvalDevice *d, const TwinEvent *e)
{
    if (!may_rearrange(j, e))
        return false;
    if (j->config->no_values)
        return copy_nothing(j, d, e);
    Tensor *from = eval_device_get(j, d, &e->of);
    if (from && !eval_host_is_theirs(j) && dtype_is_float(from->dtype) &&
        !dtype_is_float(e->to.dtype) && !eval_cast_keeps(from, e->to.dtype)) {
        tensor_free(from);
        return eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                               "the binding leaves a cast that cuts numbers to PyTorch");
    }
    hand_on(d, e->of.address, e->to.address);
    Tensor *cast = from ? tensor_cast(from, e->to.dtype) : NULL;
    uint64_t count = 0, want = 1;
    bool ok = cast && twin_view_count(&e->of, &count) && twin_view_count(&e->to, &want) &&
              count == want && put(j, d, &e->to, cast);
    tensor_free(from);
    tensor_free(cast);
    return ok || bad_view(j);
}

static bool fill(EvalJudge *j, EvalDevice *d, const TwinEvent *e)
{
    uint64_t count;
    EvalRoom *room = eval_device_at(d, e->to.address);
    if (j->config->no_values && room) {
        room->known = room->by_host = true;
        return true;
    }
    Tensor *t = e->to.rank <= GRAPH_MAX_RANK && twin_view_count(&e->to, &count)
                    ? tensor_new_raw(e->to.dtype, shape_of(&e->to))
                    : NULL;
    for (int64_t i = 0; t && i < t->count; i++)
        tensor_set(t, i, e->value);
    bool ok = put(j, d, &e->to, t);
    tensor_free(t);
    return ok;
}

/* Bytes at an address, `bytes` of them in one allocation; NULL with a verdict. */
static uint8_t *span(EvalJudge *j, EvalDevice *d, uint64_t address, uint64_t bytes, bool write)
{
    EvalRoom *room = eval_device_at(d, address);
    uint64_t at = room ? address - room->address : 0;
    if (!room || bytes > room->memory.bytes - at) {
        eval_judge_fail(j, VERDICT_CRASHED, STAGE_RUN, "host code copies outside of device memory");
        return NULL;
    }
    room->known = room->known || write;
    room->by_host = room->by_host || write;
    return (uint8_t *)room->memory.data + at;
}

static bool write_bytes(EvalJudge *j, EvalDevice *d, const TwinEvent *e)
{
    uint8_t *to = span(j, d, e->address, e->data.len, true);
    EvalRoom *room = eval_device_at(d, e->address);
    if (to && e->data.len)
        memcpy(to, e->data.at, e->data.len);
    if (room)
        room->holds = true;
    if (room)
        room->by_kernel = room->by_kernel && e->data.len < room->memory.bytes;
    return to;
}

static bool set_bytes(EvalJudge *j, EvalDevice *d, const TwinEvent *e)
{
    uint8_t *to = span(j, d, e->address, e->bytes, true);
    if (to && !j->config->no_values)
        memset(to, e->fill, (size_t)e->bytes);
    return to;
}

static bool move_bytes(EvalJudge *j, EvalDevice *d, const TwinEvent *e)
{
    uint8_t *from = span(j, d, e->from, e->bytes, false);
    uint8_t *to = from ? span(j, d, e->address, e->bytes, true) : NULL;
    const EvalRoom *room = eval_device_at(d, e->address);
    if (room && e->bytes < room->memory.bytes && !eval_host_is_theirs(j) &&
        eval_task_moves(j->ref->graph))
        return eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                               "host code moves the elements itself, piece by piece");
    hand_on(d, e->from, e->address);
    if (to && !j->config->no_values)
        memmove(to, from, (size_t)e->bytes);
    return to;
}

static bool run_event(EvalHost *host, EvalDevice *d, const TwinEvent *e)
{
    EvalJudge *j = host->j;
    bool moves = e->kind == BIND_COPY || e->kind == BIND_FILL || e->kind == BIND_SET ||
                 e->kind == BIND_MOVE;
    if (j->config->sample && moves)
        return eval_judge_fail(j, VERDICT_NO_TIME, STAGE_RUN, "host code moves elements");
    switch (e->kind) {
    case BIND_ALLOC: return eval_device_at(d, e->address) || add_at(j, d, e->address, e->bytes);
    case BIND_OPERATOR: return eval_launch_operator(host, d, e);
    case BIND_KERNEL: return eval_launch_kernel(host, d, e);
    case BIND_COPY: return copy(j, d, e);
    case BIND_FILL: return fill(j, d, e);
    case BIND_SET: return set_bytes(j, d, e);
    case BIND_WRITE: return write_bytes(j, d, e);
    case BIND_MOVE: return move_bytes(j, d, e);
    case BIND_COMPUTE:
        return eval_judge_fail(
            j, VERDICT_NOT_COMPUTED, STAGE_RUN,
            str_format(j->arena, "the binding leaves the work to PyTorch: %s", e->name));
    default: return true;
    }
}

bool eval_device_run(EvalHost *host, EvalDevice *d, const TwinEvents *events, uint32_t from,
                     uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (!run_event(host, d, &events->at[i]))
            return false;
    return true;
}
