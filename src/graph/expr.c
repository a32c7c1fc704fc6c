/* Numbers scalar expressions and rewrites them as they are added (expr.h says which rewrites). */
#include "graph/expr.h"

#include <string.h>

/* --- the table ---------------------------------------------------------------------------- */

static uint64_t mix64(uint64_t h)
{
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

static uint64_t expr_hash(const Expr *e)
{
    uint64_t head = (uint64_t)e->form | (uint64_t)e->op << 8 | (uint64_t)e->kind << 16 |
                    (uint64_t)e->dtype << 24;
    uint64_t low = (uint64_t)e->arg[0] | (uint64_t)e->arg[1] << 32;
    uint64_t high = (uint64_t)e->arg[2] | (uint64_t)e->arg[3] << 32;
    return mix64(mix64(mix64(head + UINT64_C(0x9e3779b97f4a7c15)) + low) + high);
}

static bool expr_equal(const Expr *a, const Expr *b) { return memcmp(a, b, sizeof *a) == 0; }

static void grow_slots(Exprs *x)
{
    uint32_t n = x->n_slots ? x->n_slots * 2 : 1 << 12;
    heap_free(x->slots);
    x->slots = heap_alloc(n * sizeof *x->slots);
    x->n_slots = n;
    for (uint32_t id = 1; id < x->len; id++) {
        uint32_t at = (uint32_t)expr_hash(&x->all[id]) & (n - 1);
        while (x->slots[at])
            at = (at + 1) & (n - 1);
        x->slots[at] = id;
    }
}

static void grow_all(Exprs *x)
{
    uint32_t cap = x->cap ? x->cap * 2 : 1 << 11;
    x->all = heap_grow(x->all, x->cap * sizeof *x->all, cap * sizeof *x->all);
    x->pins = heap_grow(x->pins, x->cap * sizeof *x->pins, cap * sizeof *x->pins);
    x->cap = cap;
}

static ExprId intern(Exprs *x, Expr e)
{
    if (x->len * UINT64_C(2) >= x->n_slots)
        grow_slots(x);
    uint32_t at = (uint32_t)expr_hash(&e) & (x->n_slots - 1);
    for (; x->slots[at]; at = (at + 1) & (x->n_slots - 1)) {
        ExprId id = x->slots[at];
        if (expr_equal(&x->all[id], &e))
            return x->pins[id] ? x->pins[id] : id;
    }
    if (x->len == x->cap)
        grow_all(x);
    x->all[x->len] = e;
    x->slots[at] = x->len;
    return x->len++;
}

Exprs *exprs_new(Arena *arena)
{
    Exprs *x = arena_new(arena, Exprs);
    x->arena = arena;
    grow_all(x);
    x->len = 1; /* number 0 is none */
    return x;
}

void exprs_free(Exprs *x)
{
    heap_free(x->all);
    heap_free(x->slots);
    heap_free(x->pins);
}

bool expr_pin(Exprs *x, ExprId id, ExprId value)
{
    if (expr_is_const(x, id))
        return id == value;
    x->pins[id] = value;
    return true;
}

/* --- constants ---------------------------------------------------------------------------- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t const_bits(const Expr *e)
{
    return (uint64_t)e->arg[0] | (uint64_t)e->arg[1] << 32;
}

ExprId expr_const(Exprs *x, DType dtype, uint64_t bits)
{
    return intern(x, (Expr){.form = EXPR_CONST,
                            .dtype = (uint8_t)dtype,
                            .arg = {(uint32_t)bits, (uint32_t)(bits >> 32)}});
}

ExprId expr_const_number(Exprs *x, DType dtype, double value)
{
    return expr_const(x, dtype, dtype_is_float(dtype) ? bits_of(value) : (uint64_t)(int64_t)value);
}

ExprId expr_const_from(Exprs *x, const Tensor *t, int64_t i)
{
    int64_t whole;
    uint64_t bits;
    if (t->dtype == DT_C64) {
        memcpy(&bits, TENSOR_AT(t, float) + 2 * i, sizeof bits);
    } else if (dtype_is_float(t->dtype)) {
        bits = bits_of(tensor_get(t, i));
    } else {
        tensor_load_i64(t, i, 1, 1, &whole);
        bits = (uint64_t)whole;
    }
    return expr_const(x, t->dtype, bits);
}

double expr_number(const Exprs *x, ExprId id)
{
    const Expr *e = expr_at(x, id);
    uint64_t bits = const_bits(e);
    double value;
    if (!dtype_is_float((DType)e->dtype))
        return (double)(int64_t)bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void expr_const_to(const Exprs *x, ExprId id, Tensor *t, int64_t i)
{
    const Expr *e = expr_at(x, id);
    uint64_t bits = const_bits(e);
    double value = expr_number(x, id);
    int64_t whole = (int64_t)bits;
    if (t->dtype == DT_C64)
        memcpy(TENSOR_AT(t, float) + 2 * i, &bits, sizeof bits);
    else if (dtype_is_float(t->dtype))
        tensor_store_f64(t, i, 1, 1, &value);
    else
        tensor_store_i64(t, i, 1, 1, &whole);
}

bool expr_is(const Exprs *x, ExprId id, double value)
{
    return id && expr_is_const(x, id) && expr_at(x, id)->dtype != DT_C64 &&
           expr_number(x, id) == value;
}

ExprId expr_leaf(Exprs *x, DType dtype, uint32_t tensor, int64_t element)
{
    return intern(x,
                  (Expr){.form = EXPR_LEAF,
                         .dtype = (uint8_t)dtype,
                         .arg = {tensor, (uint32_t)element, (uint32_t)((uint64_t)element >> 32)}});
}

/* --- casts -------------------------------------------------------------------------------- */

static DType type_of(const Exprs *x, ExprId id) { return (DType)expr_at(x, id)->dtype; }

static bool is_elem(const Exprs *x, ExprId id, Op op, int kind)
{
    const Expr *e = expr_at(x, id);
    return e->form == EXPR_ELEM && e->op == op && e->kind == kind;
}

static bool is_half(DType d) { return d == DT_F16 || d == DT_BF16; }

/* Every number of `from` is one of `to`. */
static bool widens(DType from, DType to)
{
    if (from == to)
        return true;
    if (is_half(from))
        return to == DT_F32 || to == DT_F64;
    return (from == DT_F32 && to == DT_F64) || (from == DT_BOOL && to != DT_C64);
}

/* Whether the value is one of a half type, whatever its elements are. */
static bool fits(const Exprs *x, ExprId id, DType half, int depth)
{
    const Expr *e = expr_at(x, id);
    if (e->form == EXPR_CONST) {
        double value = expr_number(x, id);
        float back = half == DT_F16 ? half_to_float(half_from_double(value))
                                    : bf16_to_float(bf16_from_double(value));
        return (double)back == value;
    }
    if (e->form != EXPR_ELEM || depth > 8)
        return false;
    if (e->op == OP_CAST)
        return type_of(x, e->arg[0]) == half || type_of(x, e->arg[0]) == DT_BOOL;
    bool one = e->op == OP_UNARY &&
               (e->kind == UNARY_neg || e->kind == UNARY_abs || e->kind == UNARY_relu);
    bool two = e->op == OP_BINARY && (e->kind == BINARY_maximum || e->kind == BINARY_minimum);
    if (e->op == OP_WHERE)
        return fits(x, e->arg[1], half, depth + 1) && fits(x, e->arg[2], half, depth + 1);
    return (one || two) && fits(x, e->arg[0], half, depth + 1) &&
           (one || fits(x, e->arg[1], half, depth + 1));
}

static ExprId cast_const(Exprs *x, ExprId id, DType dtype)
{
    Shape one = {0};
    Tensor *from = tensor_new(type_of(x, id), one);
    if (!from)
        return EXPR_NONE;
    expr_const_to(x, id, from, 0);
    Tensor *to = tensor_cast(from, dtype);
    ExprId out = to ? expr_const_from(x, to, 0) : EXPR_NONE;
    tensor_free(from);
    tensor_free(to);
    return out;
}

ExprId expr_cast(Exprs *x, ExprId id, DType dtype)
{
    DType from = type_of(x, id);
    if (from == dtype)
        return id;
    ExprId folded = expr_is_const(x, id) ? cast_const(x, id, dtype) : EXPR_NONE;
    if (folded)
        return folded;
    if (is_elem(x, id, OP_CAST, 0)) {
        ExprId inner = expr_at(x, id)->arg[0];
        if (widens(type_of(x, inner), from))
            return expr_cast(x, inner, dtype);
        if (is_half(from) && widens(from, dtype) && type_of(x, inner) == DT_F32 &&
            fits(x, inner, from, 0))
            return expr_cast(x, inner, dtype);
    }
    return intern(x,
                  (Expr){.form = EXPR_ELEM, .op = OP_CAST, .dtype = (uint8_t)dtype, .arg = {id}});
}

/* --- elementwise operators ---------------------------------------------------------------- */

static ExprId plain(Exprs *x, Op op, int kind, DType dtype, ExprId a, ExprId b)
{
    return intern(x, (Expr){.form = EXPR_ELEM,
                            .op = (uint8_t)op,
                            .kind = (uint8_t)kind,
                            .dtype = (uint8_t)dtype,
                            .arg = {a, b}});
}

static ExprId negated(Exprs *x, ExprId id, DType dtype)
{
    if (is_elem(x, id, OP_UNARY, UNARY_neg))
        return expr_at(x, id)->arg[0];
    if (expr_is_const(x, id) && dtype_is_float(dtype))
        return expr_const_number(x, dtype, -expr_number(x, id));
    return plain(x, OP_UNARY, UNARY_neg, dtype, id, EXPR_NONE);
}

static ExprId inverted(Exprs *x, ExprId id)
{
    if (is_elem(x, id, OP_UNARY, UNARY_logical_not))
        return expr_at(x, id)->arg[0];
    if (expr_is_const(x, id))
        return expr_const(x, DT_BOOL, expr_number(x, id) == 0);
    return plain(x, OP_UNARY, UNARY_logical_not, DT_BOOL, id, EXPR_NONE);
}

static bool commutes(int kind)
{
    static const uint8_t kinds[] = {BINARY_add,         BINARY_mul,        BINARY_maximum,
                                    BINARY_minimum,     BINARY_eq,         BINARY_ne,
                                    BINARY_logical_and, BINARY_logical_or, BINARY_logical_xor,
                                    BINARY_bitwise_and, BINARY_bitwise_or, BINARY_bitwise_xor};
    return memchr(kinds, kind, sizeof kinds) != NULL;
}

static ExprId commuted(Exprs *x, int kind, DType dtype, ExprId a, ExprId b)
{
    return a < b || !commutes(kind) ? plain(x, OP_BINARY, kind, dtype, a, b)
                                    : plain(x, OP_BINARY, kind, dtype, b, a);
}

static ExprId either(Exprs *x, ExprId a, ExprId b)
{
    if (expr_is_const(x, a))
        return expr_number(x, a) != 0 ? a : b;
    if (expr_is_const(x, b))
        return expr_number(x, b) != 0 ? b : a;
    return a == b ? a : commuted(x, BINARY_logical_or, DT_BOOL, a, b);
}

static ExprId unary(Exprs *x, int kind, DType dtype, ExprId a)
{
    switch (kind) {
    case UNARY_neg: return negated(x, a, dtype);
    case UNARY_square: return commuted(x, BINARY_mul, dtype, a, a);
    case UNARY_reciprocal:
        return plain(x, OP_BINARY, BINARY_div, dtype, expr_const_number(x, dtype, 1), a);
    case UNARY_logical_not: return inverted(x, expr_cast(x, a, DT_BOOL));
    case UNARY_bitwise_not:
        return dtype == DT_BOOL ? inverted(x, a) : plain(x, OP_UNARY, kind, dtype, a, EXPR_NONE);
    case UNARY_isfinite:
        return inverted(x, either(x, plain(x, OP_UNARY, UNARY_isnan, DT_BOOL, a, EXPR_NONE),
                                  plain(x, OP_UNARY, UNARY_isinf, DT_BOOL, a, EXPR_NONE)));
    default: return plain(x, OP_UNARY, kind, dtype, a, EXPR_NONE);
    }
}

static ExprId power(Exprs *x, DType dtype, ExprId a, ExprId b)
{
    if (expr_is(x, b, 2))
        return commuted(x, BINARY_mul, dtype, a, a);
    if (expr_is(x, b, 0.5) && dtype_is_float(dtype))
        return plain(x, OP_UNARY, UNARY_sqrt, dtype, a, EXPR_NONE);
    return expr_is(x, b, 1) ? a : plain(x, OP_BINARY, BINARY_pow, dtype, a, b);
}

static ExprId binary(Exprs *x, int kind, DType dtype, ExprId a, ExprId b)
{
    switch (kind) {
    case BINARY_sub:
        if (expr_is(x, b, 0))
            return a;
        kind = BINARY_add;
        b = negated(x, b, dtype);
        break;
    case BINARY_bitwise_or:
        if (dtype == DT_BOOL)
            return either(x, a, b);
        break;
    case BINARY_logical_or: return either(x, expr_cast(x, a, DT_BOOL), expr_cast(x, b, DT_BOOL));
    case BINARY_pow: return power(x, dtype, a, b);
    default: break;
    }
    if (kind == BINARY_add && (expr_is(x, a, 0) || expr_is(x, b, 0)))
        return expr_is(x, a, 0) ? b : a;
    if (kind == BINARY_mul && (expr_is(x, a, 1) || expr_is(x, b, 1)))
        return expr_is(x, a, 1) ? b : a;
    if (kind == BINARY_add && a == b && dtype_is_float(dtype))
        return commuted(x, BINARY_mul, dtype, a, expr_const_number(x, dtype, 2));
    if (kind == BINARY_mul && (expr_is(x, a, -1) || expr_is(x, b, -1)))
        return negated(x, expr_is(x, a, -1) ? b : a, dtype);
    if (kind == BINARY_maximum && dtype_is_float(dtype) && (expr_is(x, a, 0) || expr_is(x, b, 0)))
        return plain(x, OP_UNARY, UNARY_relu, dtype, expr_is(x, a, 0) ? b : a, EXPR_NONE);
    if (kind == BINARY_div && expr_is(x, b, 1))
        return a;
    return commuted(x, kind, dtype, a, b);
}

ExprId expr_elem(Exprs *x, Op op, int kind, DType dtype, const ExprId *args, uint32_t attrs)
{
    if (op == OP_WHERE && expr_is_const(x, args[0]))
        return expr_number(x, args[0]) != 0 ? args[1] : args[2];
    if (op == OP_WHERE && args[1] == args[2])
        return args[1];
    if (op == OP_CLAMP) {
        ExprId low = args[1] ? binary(x, BINARY_maximum, dtype, args[0], args[1]) : args[0];
        return args[2] ? binary(x, BINARY_minimum, dtype, low, args[2]) : low;
    }
    if (op == OP_UNARY && !attrs)
        return unary(x, kind, dtype, args[0]);
    if (op == OP_BINARY && !attrs && dtype != DT_C64)
        return binary(x, kind, dtype, args[0], args[1]);
    return intern(x, (Expr){.form = EXPR_ELEM,
                            .op = (uint8_t)op,
                            .kind = (uint8_t)kind,
                            .dtype = (uint8_t)dtype,
                            .arg = {args[0], args[1], args[2], attrs}});
}

uint32_t expr_attrs(Exprs *x, const Node *node)
{
    Buf text = {0};
    uint32_t found = 0;
    if (!node->n_attr)
        return 0;
    for (uint32_t i = 0; i < node->n_attr; i++) {
        const Attr *a = &node->attr[i];
        buf_printf(&text, "%d:", (int)a->key);
        switch (attr_rows[a->key].type) {
        case ATTR_INTS:
            for (uint32_t k = 0; k < a->ints.len; k++)
                buf_printf(&text, "%lld,", (long long)a->ints.at[k]);
            break;
        case ATTR_TEXT: buf_printf(&text, "%.*s", STR_ARG(a->text)); break;
        case ATTR_FLOAT: buf_printf(&text, "%a", a->f); break;
        case ATTR_DTYPE: buf_printf(&text, "%d", (int)a->dtype); break;
        default: buf_printf(&text, "%lld", (long long)a->i); break;
        }
        buf_char(&text, ';');
    }
    if (!map_get(&x->texts, buf_view(&text), &found)) {
        found = x->texts.len + 1;
        map_put(x->arena, &x->texts, str_copy(x->arena, buf_view(&text)), found);
    }
    buf_free(&text);
    return found;
}

/* --- many terms --------------------------------------------------------------------------- */

static void add_lanes(ExprSum *sum, uint64_t word)
{
    sum->lane[0] += mix64(word + UINT64_C(0x9e3779b97f4a7c15));
    sum->lane[1] += mix64(word ^ UINT64_C(0xd6e8feb86659fd93));
    sum->count++;
}

void expr_sum_add(ExprSum *sum, ExprId term)
{
    sum->last[0] = term;
    add_lanes(sum, mix64(term));
}

void expr_sum_add_at(ExprSum *sum, ExprId term, int64_t place)
{
    sum->last[0] = term;
    add_lanes(sum, mix64(mix64((uint64_t)place) + term));
}

void expr_sum_add_product(ExprSum *sum, ExprId a, ExprId b)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    sum->last[0] = a;
    sum->last[1] = b;
    add_lanes(sum, mix64(low | high << 32));
}

ExprId expr_many(Exprs *x, Op op, int kind, DType dtype, const ExprSum *sum, uint64_t extra)
{
    uint64_t word = mix64(mix64((uint64_t)sum->count) + extra);
    uint64_t low = sum->lane[0] + word, high = sum->lane[1] ^ mix64(word);
    return intern(x, (Expr){.form = EXPR_MANY,
                            .op = (uint8_t)op,
                            .kind = (uint8_t)kind,
                            .dtype = (uint8_t)dtype,
                            .arg = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high,
                                    (uint32_t)(high >> 32)}});
}
