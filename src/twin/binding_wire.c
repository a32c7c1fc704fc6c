/* Both streams of twin/rt/bind_share.h. In: a call, or the bytes a binding program left. Out: bytes,
 * or events; a stream that ends early or counts wrongly is refused. */
#include "twin/binding_int.h"

#include "twin/row.h"
#include <string.h>

enum { MOST_EVENTS = 100000, MOST_DEPTH = 8, MOST_VALUES = 10000 };

/* ScalarType of PyTorch. */
static const struct {
    uint32_t number;
    DType dtype;
} scalar_types[] = {{0, DT_U8},  {1, DT_I8},  {2, DT_I16}, {3, DT_I32},   {4, DT_I64},  {5, DT_F16},
                    {6, DT_F32}, {7, DT_F64}, {9, DT_C64}, {11, DT_BOOL}, {15, DT_BF16}};
enum { SCALAR_TYPES = sizeof scalar_types / sizeof *scalar_types };

/* --- writing --------------------------------------------------------------------------------- */

static void put_view(Buf *out, const TwinView *v)
{
    uint32_t number = 0;
    for (int i = 0; i < SCALAR_TYPES; i++)
        if (scalar_types[i].dtype == v->dtype)
            number = scalar_types[i].number;
    row_put_u64(out, v->address);
    row_put_u64(out, (uint64_t)v->offset);
    row_put_u32(out, number);
    row_put_u32(out, v->rank);
    buf_add(out, v->size, v->rank * sizeof *v->size);
    buf_add(out, v->stride, v->rank * sizeof *v->stride);
}

static void put_value(Buf *out, const TwinValue *v)
{
    buf_char(out, (char)v->kind);
    switch (v->kind) {
    case BIND_INT: row_put_u64(out, (uint64_t)v->i); break;
    case BIND_FLOAT: buf_add(out, &v->f, sizeof v->f); break;
    case BIND_BOOL: buf_char(out, v->i != 0); break;
    case BIND_TEXT: row_put_text(out, v->text); break;
    case BIND_TENSOR: put_view(out, &v->view); break;
    case BIND_LIST:
        row_put_u32(out, v->count);
        for (uint32_t i = 0; i < v->count; i++)
            put_value(out, &v->list[i]);
        break;
    default: break;
    }
}

static void put_chip(Buf *out, const NpuChip *chip)
{
    const uint64_t sizes[] = {chip->ub,  chip->l1,  chip->l0a,
                              chip->l0b, chip->l0c, (uint64_t)chip->l2_mib << 20,
                              16u << 20};
    buf_add(out, &(uint32_t){(uint32_t)strlen(chip->name) + 6}, 4);
    buf_printf(out, "Ascend%s", chip->name);
    row_put_u32(out, chip->aic);
    row_put_u32(out, chip->aiv);
    buf_add(out, sizes, sizeof sizes);
}

Str twin_bind_request(Arena *arena, const TwinBindCall *call, const NpuChip *chip)
{
    Buf out = {0};
    row_put_u64(&out, 0); /* the bytes that follow, known at the end */
    row_put_text(&out, str_from(call->function));
    row_put_u64(&out, call->first_address);
    put_chip(&out, chip);
    row_put_u32(&out, call->arg_count);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        row_put_text(&out, str_from(call->args[i].name));
        put_value(&out, &call->args[i]);
    }
    row_put_u32(&out, call->answers.len);
    for (uint32_t i = 0; i < call->answers.len; i++)
        row_put_text(&out, call->answers.at[i]);
    buf_char(&out, call->twice ? 1 : 0);
    uint64_t follow = out.len - sizeof follow;
    memcpy(out.at, &follow, sizeof follow); /* both ends are little-endian */
    Str bytes = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return bytes;
}

/* --- reading --------------------------------------------------------------------------------- */

typedef struct Reader {
    Row row;
    Arena *arena;
    uint32_t values;
} Reader;

static const char *take_name(Reader *r)
{
    Str text = row_text(&r->row);
    return str_dup(r->arena, str_slice(text, 0, 1000));
}

static TwinView take_view(Reader *r)
{
    TwinView v = {.address = row_u64(&r->row)};
    v.offset = (int64_t)row_u64(&r->row);
    uint32_t number = row_u32(&r->row);
    bool known = false;
    for (int i = 0; i < SCALAR_TYPES; i++) {
        if (scalar_types[i].number != number)
            continue;
        v.dtype = scalar_types[i].dtype;
        known = true;
    }
    v.rank = row_u32(&r->row);
    if (!known || v.rank > BIND_MOST_RANK) {
        r->row.bad = true;
        v.rank = 0;
    }
    row_take(&r->row, v.size, v.rank * sizeof *v.size);
    row_take(&r->row, v.stride, v.rank * sizeof *v.stride);
    return v;
}

static TwinValue take_value(Reader *r, int depth);

static TwinValue *take_values(Reader *r, uint32_t count, int depth)
{
    if (depth > MOST_DEPTH || count > MOST_VALUES || (r->values += count) > MOST_VALUES) {
        r->row.bad = true;
        count = 0;
    }
    TwinValue *list = arena_array(r->arena, TwinValue, count + 1);
    for (uint32_t i = 0; i < count && !r->row.bad; i++)
        list[i] = take_value(r, depth + 1);
    return list;
}

static TwinValue take_value(Reader *r, int depth)
{
    TwinValue v = {.kind = row_u8(&r->row), .name = ""};
    switch (v.kind) {
    case BIND_NONE: break;
    case BIND_INT: v.i = (int64_t)row_u64(&r->row); break;
    case BIND_FLOAT: v.f = row_f64(&r->row); break;
    case BIND_BOOL: v.i = row_u8(&r->row); break;
    case BIND_TEXT: v.text = str_copy(r->arena, row_text(&r->row)); break;
    case BIND_TENSOR: v.view = take_view(r); break;
    case BIND_LIST:
        v.count = row_u32(&r->row);
        v.list = take_values(r, v.count, depth);
        break;
    default: r->row.bad = true;
    }
    return v;
}

static TwinView take_tensor(Reader *r)
{
    TwinValue v = take_value(r, 0);
    r->row.bad = r->row.bad || v.kind != BIND_TENSOR;
    return v.view;
}

static void take_kernel(Reader *r, TwinEvent *e)
{
    e->name = take_name(r);
    e->blocks = row_u32(&r->row);
    e->count = row_u32(&r->row);
    if (e->count > 256) {
        r->row.bad = true;
        e->count = 0;
    }
    e->args = arena_array(r->arena, TwinValue, e->count + 1);
    for (uint32_t i = 0; i < e->count && !r->row.bad; i++) {
        bool pointer = row_u8(&r->row) == 'p';
        e->args[i] = (TwinValue){.kind = pointer ? BIND_INT : BIND_TEXT, .name = ""};
        if (pointer)
            e->args[i].i = (int64_t)row_u64(&r->row);
        else
            e->args[i].text = str_copy(r->arena, row_text(&r->row));
    }
}

static TwinEvent take_event(Reader *r, TwinBindDone *done)
{
    TwinEvent e = {.kind = row_u8(&r->row), .name = ""};
    switch (e.kind) {
    case BIND_ALLOC:
    case BIND_READ:
        e.address = row_u64(&r->row);
        e.bytes = row_u64(&r->row);
        break;
    case BIND_OPERATOR:
        e.name = take_name(r);
        e.count = row_u32(&r->row);
        e.args = take_values(r, e.count, 0);
        break;
    case BIND_KERNEL: take_kernel(r, &e); break;
    case BIND_COPY:
        e.to = take_tensor(r);
        e.of = take_tensor(r);
        break;
    case BIND_FILL:
        e.to = take_tensor(r);
        e.value = row_f64(&r->row);
        break;
    case BIND_SET:
        e.address = row_u64(&r->row);
        e.bytes = row_u64(&r->row);
        e.fill = row_u8(&r->row);
        break;
    case BIND_WRITE:
        e.address = row_u64(&r->row);
        e.data = str_copy(r->arena, row_text(&r->row));
        break;
    case BIND_MOVE:
        e.address = row_u64(&r->row);
        e.from = row_u64(&r->row);
        e.bytes = row_u64(&r->row);
        break;
    case BIND_FILE:
        e.name = take_name(r);
        e.bytes = row_u64(&r->row);
        break;
    case BIND_OUTPUT:
        e.name = take_name(r);
        e.data = str_copy(r->arena, row_text(&r->row));
        break;
    case BIND_COMPUTE:
    case BIND_UNSUPPORTED:
    case BIND_FAILED: e.name = take_name(r); break;
    case BIND_FUNCTION:
        e.name = take_name(r);
        e.arity = row_u32(&r->row);
        e.count = row_u32(&r->row);
        e.args = take_values(r, e.count, 0);
        break;
    case BIND_COUNTS: done->counts = true; break;
    case BIND_DONE: done->result = take_value(r, 0); break;
    default: r->row.bad = true;
    }
    return e;
}

bool twin_bind_events(Arena *arena, Str bytes, TwinBindDone *done)
{
    Reader r = {.row = {.rest = bytes}, .arena = arena};
    while (!r.row.bad && r.row.rest.len && done->events.len < MOST_EVENTS) {
        TwinEvent e = take_event(&r, done);
        if (!r.row.bad)
            vec_push(arena, &done->events, e);
    }
    return !r.row.bad && !r.row.rest.len;
}
