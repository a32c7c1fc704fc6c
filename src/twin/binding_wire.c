/* Both streams of twin/rt/bind_share.h. In: a call, or the bytes a binding program left. Out: bytes,
 * or events; a stream that ends early or counts wrongly is refused. */
#include "twin/binding_int.h"

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

static void put_u32(Buf *out, uint32_t v) { buf_add(out, &v, sizeof v); }
static void put_u64(Buf *out, uint64_t v) { buf_add(out, &v, sizeof v); }

static void put_text(Buf *out, Str text)
{
    put_u32(out, (uint32_t)text.len);
    buf_str(out, text);
}

static void put_view(Buf *out, const TwinView *v)
{
    uint32_t number = 0;
    for (int i = 0; i < SCALAR_TYPES; i++)
        if (scalar_types[i].dtype == v->dtype)
            number = scalar_types[i].number;
    put_u64(out, v->address);
    put_u64(out, (uint64_t)v->offset);
    put_u32(out, number);
    put_u32(out, v->rank);
    buf_add(out, v->size, v->rank * sizeof *v->size);
    buf_add(out, v->stride, v->rank * sizeof *v->stride);
}

static void put_value(Buf *out, const TwinValue *v)
{
    buf_char(out, (char)v->kind);
    switch (v->kind) {
    case BIND_INT: put_u64(out, (uint64_t)v->i); break;
    case BIND_FLOAT: buf_add(out, &v->f, sizeof v->f); break;
    case BIND_BOOL: buf_char(out, v->i != 0); break;
    case BIND_TEXT: put_text(out, v->text); break;
    case BIND_TENSOR: put_view(out, &v->view); break;
    case BIND_LIST:
        put_u32(out, v->count);
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
    put_u32(out, chip->aic);
    put_u32(out, chip->aiv);
    buf_add(out, sizes, sizeof sizes);
}

Str twin_bind_request(Arena *arena, const TwinBindCall *call, const NpuChip *chip)
{
    Buf out = {0};
    put_text(&out, str_from(call->function));
    put_u64(&out, call->first_address);
    put_chip(&out, chip);
    put_u32(&out, call->arg_count);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        put_text(&out, str_from(call->args[i].name));
        put_value(&out, &call->args[i]);
    }
    put_u32(&out, call->answers.len);
    for (uint32_t i = 0; i < call->answers.len; i++)
        put_text(&out, call->answers.at[i]);
    Str bytes = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return bytes;
}

/* --- reading --------------------------------------------------------------------------------- */

typedef struct Reader {
    Arena *arena;
    Str rest;
    uint32_t values;
    bool bad;
} Reader;

static void take(Reader *r, void *to, size_t bytes)
{
    if (r->bad || r->rest.len < bytes) {
        r->bad = true;
        memset(to, 0, bytes);
        return;
    }
    memcpy(to, r->rest.at, bytes);
    r->rest = str_slice(r->rest, bytes, r->rest.len);
}

static uint8_t take_u8(Reader *r)
{
    uint8_t v;
    take(r, &v, sizeof v);
    return v;
}

static uint32_t take_u32(Reader *r)
{
    uint32_t v;
    take(r, &v, sizeof v);
    return v;
}

static uint64_t take_u64(Reader *r)
{
    uint64_t v;
    take(r, &v, sizeof v);
    return v;
}

static double take_f64(Reader *r)
{
    double v;
    take(r, &v, sizeof v);
    return v;
}

static Str take_text(Reader *r)
{
    uint32_t n = take_u32(r);
    if (r->bad || r->rest.len < n) {
        r->bad = true;
        return (Str){0};
    }
    Str text = str_slice(r->rest, 0, n);
    r->rest = str_slice(r->rest, n, r->rest.len);
    return text;
}

static const char *take_name(Reader *r)
{
    Str text = take_text(r);
    return str_dup(r->arena, str_slice(text, 0, 1000));
}

static TwinView take_view(Reader *r)
{
    TwinView v = {.address = take_u64(r)};
    v.offset = (int64_t)take_u64(r);
    uint32_t number = take_u32(r);
    bool known = false;
    for (int i = 0; i < SCALAR_TYPES; i++) {
        if (scalar_types[i].number != number)
            continue;
        v.dtype = scalar_types[i].dtype;
        known = true;
    }
    v.rank = take_u32(r);
    if (!known || v.rank > BIND_MOST_RANK) {
        r->bad = true;
        v.rank = 0;
    }
    take(r, v.size, v.rank * sizeof *v.size);
    take(r, v.stride, v.rank * sizeof *v.stride);
    return v;
}

static TwinValue take_value(Reader *r, int depth);

static TwinValue *take_values(Reader *r, uint32_t count, int depth)
{
    if (depth > MOST_DEPTH || count > MOST_VALUES || (r->values += count) > MOST_VALUES) {
        r->bad = true;
        count = 0;
    }
    TwinValue *list = arena_array(r->arena, TwinValue, count + 1);
    for (uint32_t i = 0; i < count && !r->bad; i++)
        list[i] = take_value(r, depth + 1);
    return list;
}

static TwinValue take_value(Reader *r, int depth)
{
    TwinValue v = {.kind = take_u8(r), .name = ""};
    switch (v.kind) {
    case BIND_NONE: break;
    case BIND_INT: v.i = (int64_t)take_u64(r); break;
    case BIND_FLOAT: v.f = take_f64(r); break;
    case BIND_BOOL: v.i = take_u8(r); break;
    case BIND_TEXT: v.text = str_copy(r->arena, take_text(r)); break;
    case BIND_TENSOR: v.view = take_view(r); break;
    case BIND_LIST:
        v.count = take_u32(r);
        v.list = take_values(r, v.count, depth);
        break;
    default: r->bad = true;
    }
    return v;
}

static TwinView take_tensor(Reader *r)
{
    TwinValue v = take_value(r, 0);
    r->bad = r->bad || v.kind != BIND_TENSOR;
    return v.view;
}

static void take_kernel(Reader *r, TwinEvent *e)
{
    e->name = take_name(r);
    e->blocks = take_u32(r);
    e->count = take_u32(r);
    if (e->count > 256) {
        r->bad = true;
        e->count = 0;
    }
    e->args = arena_array(r->arena, TwinValue, e->count + 1);
    for (uint32_t i = 0; i < e->count && !r->bad; i++) {
        bool pointer = take_u8(r) == 'p';
        e->args[i] = (TwinValue){.kind = pointer ? BIND_INT : BIND_TEXT, .name = ""};
        if (pointer)
            e->args[i].i = (int64_t)take_u64(r);
        else
            e->args[i].text = str_copy(r->arena, take_text(r));
    }
}

static TwinEvent take_event(Reader *r, TwinBindDone *done)
{
    TwinEvent e = {.kind = take_u8(r), .name = ""};
    switch (e.kind) {
    case BIND_ALLOC:
    case BIND_READ:
        e.address = take_u64(r);
        e.bytes = take_u64(r);
        break;
    case BIND_OPERATOR:
        e.name = take_name(r);
        e.count = take_u32(r);
        e.args = take_values(r, e.count, 0);
        break;
    case BIND_KERNEL: take_kernel(r, &e); break;
    case BIND_COPY:
        e.to = take_tensor(r);
        e.of = take_tensor(r);
        break;
    case BIND_FILL:
        e.to = take_tensor(r);
        e.value = take_f64(r);
        break;
    case BIND_SET:
        e.address = take_u64(r);
        e.bytes = take_u64(r);
        e.fill = take_u8(r);
        break;
    case BIND_WRITE:
        e.address = take_u64(r);
        e.data = str_copy(r->arena, take_text(r));
        break;
    case BIND_MOVE:
        e.address = take_u64(r);
        e.from = take_u64(r);
        e.bytes = take_u64(r);
        break;
    case BIND_FILE:
        e.name = take_name(r);
        e.bytes = take_u64(r);
        break;
    case BIND_OUTPUT:
        e.name = take_name(r);
        e.data = str_copy(r->arena, take_text(r));
        break;
    case BIND_COMPUTE:
    case BIND_UNSUPPORTED:
    case BIND_FAILED: e.name = take_name(r); break;
    case BIND_FUNCTION:
        e.name = take_name(r);
        e.count = take_u32(r);
        break;
    case BIND_DONE: done->result = take_value(r, 0); break;
    default: r->bad = true;
    }
    return e;
}

bool twin_bind_events(Arena *arena, Str bytes, TwinBindDone *done)
{
    Reader r = {.arena = arena, .rest = bytes};
    while (!r.bad && r.rest.len && done->events.len < MOST_EVENTS) {
        TwinEvent e = take_event(&r, done);
        if (!r.bad)
            vec_push(arena, &done->events, e);
    }
    return !r.bad && !r.rest.len;
}
