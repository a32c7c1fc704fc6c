/* Tile operations as C loops. In: one IR_S_OP statement. Out: a block with its views and a loop
 * over their elements; formulas from c_op.def, conversions through the helpers. */
#include "emit/c_int.h"

typedef struct Formula {
    const char *floats, *ints;
} Formula;

static const Formula formulas[IR_T_COUNT] = {
#define C_OP(id, floats_, ints_) [IR_T_##id] = {floats_, ints_},
#include "emit/c_op.def"
#undef C_OP
};

bool c_is_wide(DType d) { return dtype_is_int(d) && dtype_bytes(d) > 1; }

static const char *const view_names[] = {"a", "b", "c"};
static const char *const value_names[] = {"x", "y", "z"};

static void open_loops(CWriter *w, const char *over)
{
    c_line(w, "for (int64_t r = 0; r < %s.rows; r++)", over);
    w->depth++;
    c_line(w, "for (int64_t i = 0; i < %s.cols; i++) {", over);
    w->depth++;
}

static void close_loops(CWriter *w)
{
    w->depth--;
    c_line(w, "}");
    w->depth--;
}

static void open_op(CWriter *w, const IrStmt *s)
{
    c_line(w, "{ /* %s, line %u */", ir_tile_ops[s->op].name, s->at.line);
    w->depth++;
    if (s->dst.rank)
        c_view(w, "d", &s->dst);
    if (s->dst2.rank)
        c_view(w, "d2", &s->dst2);
    for (uint32_t i = 0; i < s->src_count; i++)
        c_view(w, view_names[i], &s->src[i]);
}

static void close_op(CWriter *w)
{
    w->depth--;
    c_line(w, "}");
}

/* A scalar operand as double: rounded to f16 where the tile is computed in f16. */
static const char *float_scalar(CWriter *w, IrExprId e, DType d)
{
    const char *text = c_text(w, e);
    if (d == DT_F32 || d == DT_BF16)
        return text;
    return str_format(w->scratch, "h2d(d2h((double)(%s)))", text);
}

static void declare_scalar(CWriter *w, const char *name, IrExprId e, DType d, bool ints)
{
    c_line(w, "const %s %s = %s;", ints ? "int64_t" : "double", name,
           ints ? c_text(w, e) : float_scalar(w, e, d));
}

/* const double x = ld_f32(&a, r, i), ...; */
static void fetch(CWriter *w, const IrStmt *s, uint32_t from, bool ints)
{
    for (uint32_t i = from; i < s->src_count; i++)
        c_line(w, "const %s %s = ld%s_%s(&%s, r, i);", ints ? "int64_t" : "double",
               value_names[i - from], ints ? "i" : "", dtype_name(s->src[i].dtype), view_names[i]);
}

static void put(CWriter *w, DType d, bool ints, const char *value)
{
    c_line(w, "st%s_%s(&d, r, i, %s);", ints ? "i" : "", dtype_name(d), value);
}

/* ---- elementwise ---- */

static const char *float_formula(const IrStmt *s)
{
    bool fused = s->dst.dtype == DT_F32;
    if (s->op == IR_T_FMA && fused)
        return "(double)fmaf((float)x, (float)y, (float)z)";
    if (s->op == IR_T_AXPY && fused)
        return "(double)fmaf((float)y, (float)z, (float)x)";
    return formulas[s->op].floats;
}

static void elementwise(CWriter *w, const IrStmt *s)
{
    const IrTileOpRow *row = &ir_tile_ops[s->op];
    DType in = s->src[0].dtype;
    bool mask = w->k->buffers.at[s->dst.buffer].mask;
    bool ints = row->kind == IR_CLASS_BITS || c_is_wide(in) || (mask && s->op == IR_T_COPY);
    const char *text = ints ? formulas[s->op].ints : float_formula(s);
    if (s->op == IR_T_NOT && mask)
        text = "!x";
    if (s->scalar_count && s->op == IR_T_POWS)
        c_line(w, "const double y = %s;", c_text(w, s->scalar[0]));
    else if (s->scalar_count)
        declare_scalar(w, value_names[s->src_count], s->scalar[0], in, ints);
    open_loops(w, "d");
    fetch(w, s, 0, ints);
    put(w, s->dst.dtype, ints || row->kind == IR_CLASS_COMPARE, text);
    close_loops(w);
}

static void select(CWriter *w, const IrStmt *s)
{
    DType d = s->dst.dtype;
    bool ints = c_is_wide(d);
    for (uint32_t i = 0; i < s->scalar_count; i++)
        declare_scalar(w, value_names[s->src_count - 1 + i], s->scalar[i], d, ints);
    open_loops(w, "d");
    fetch(w, s, 1, ints);
    put(w, d, ints, "ldi_bool(&a, r, i) ? x : y");
    close_loops(w);
}

static void fill(CWriter *w, const IrStmt *s)
{
    DType d = s->dst.dtype;
    bool mask = w->k->buffers.at[s->dst.buffer].mask, ints = c_is_wide(d) || mask;
    if (s->op == IR_T_INSERT) {
        c_line(w, "const int64_t r = 0, i = %s;", c_text(w, s->scalar[0]));
        declare_scalar(w, "x", s->scalar[1], d, ints);
        put(w, d, ints, "x");
        return;
    }
    if (s->op == IR_T_FILL) {
        declare_scalar(w, "x", s->scalar[0], d, ints);
    } else {
        bool whole = !dtype_is_float(d);
        c_line(w, "const %s x = %s, y = %s;", whole ? "int64_t" : "double", c_text(w, s->scalar[0]),
               c_text(w, s->scalar[1]));
    }
    open_loops(w, "d");
    if (s->op == IR_T_FILL)
        put(w, d, ints, "x");
    else if (ints)
        put(w, d, true, "wadd(x, wmul(y, r * d.cols + i))");
    else
        put(w, d, false,
            dtype_is_float(d) ? "x + y * (double)(r * d.cols + i)"
                              : "(double)wadd(x, wmul(y, r * d.cols + i))");
    close_loops(w);
}

/* ---- casts ---- */

static int64_t highest(DType d)
{
    size_t bits = dtype_bytes(d) * 8 - (dtype_rows[d].kind != DTC_U);
    return bits >= 63 ? INT64_MAX : (INT64_C(1) << bits) - 1;
}

static const char *clamped(CWriter *w, DType d, const char *value)
{
    if (d == DT_BOOL || d == DT_I64)
        return value;
    long long hi = (long long)highest(d), lo = dtype_rows[d].kind == DTC_U ? 0 : -hi - 1;
    return str_format(w->scratch, "clamp(%s, %lld, %lld)", value, lo, hi);
}

static void put_narrow(CWriter *w, DType d, const char *value, int mode)
{
    if (d == DT_F32)
        c_line(w, "st_f32(&d, r, i, narrow32(%s, %d));", value, mode);
    else
        c_line(w, "st_u16bits(&d, r, i, narrow16(%s, %d, %s));", value, mode,
               d == DT_F16 ? "d2h, h2d" : "d2b, b2d");
}

static void cast(CWriter *w, const IrStmt *s)
{
    DType to = s->dst.dtype, from = s->src[0].dtype;
    bool ints = !dtype_is_float(from);
    int mode = (int)s->round;
    open_loops(w, "d");
    fetch(w, s, 0, ints);
    if (dtype_is_float(to)) {
        const char *whole = str_format(w->scratch, "integral(x, %d)", mode);
        if (ints && to == DT_F32 && mode <= IR_ROUND_RINT)
            c_line(w, "st_f32(&d, r, i, (float)x);");
        else
            put_narrow(w, to, ints ? "(double)x" : to == from && mode ? whole : "x", mode);
    } else if (to == DT_BOOL) {
        put(w, to, true, "x != 0");
    } else {
        const char *n = ints ? "x" : str_format(w->scratch, "to_i64(integral(x, %d))", mode);
        put(w, to, true, clamped(w, to, n));
    }
    close_loops(w);
}

/* ---- reductions ---- */

typedef struct Fold {
    const char *start, *step;
} Fold;

static Fold fold_of(CWriter *w, IrTileOp op, DType d)
{
    bool ints = c_is_wide(d);
    long long hi = (long long)(ints ? highest(d) : 0);
    long long lo = ints && dtype_rows[d].kind != DTC_U ? -hi - 1 : 0;
    switch (op) {
    case IR_T_RSUM:
    case IR_T_ROWSUM:
    case IR_T_COLSUM:
    case IR_T_CUMSUM: return (Fold){"0", ints ? "wadd(acc, x)" : "acc + x"};
    case IR_T_RMAX:
    case IR_T_ROWMAX:
    case IR_T_COLMAX:
    case IR_T_CUMMAX:
        return (Fold){!ints         ? "-INFINITY"
                      : d == DT_I64 ? "INT64_MIN"
                                    : str_format(w->scratch, "%lld", lo),
                      ints ? "imax(x, acc)" : "fmax_nan(x, acc)"};
    case IR_T_RMIN:
    case IR_T_ROWMIN:
    case IR_T_COLMIN:
    case IR_T_CUMMIN:
        return (Fold){!ints         ? "INFINITY"
                      : d == DT_I64 ? "INT64_MAX"
                                    : str_format(w->scratch, "%lld", hi),
                      ints ? "imin(x, acc)" : "fmin_nan(x, acc)"};
    case IR_T_LOGCUMSUMEXP: return (Fold){"-INFINITY", "log_add_exp(acc, x)"};
    default: return (Fold){"1", ints ? "wmul(acc, x)" : "acc * x"};
    }
}

static void declare_acc(CWriter *w, const Fold *f, DType d)
{
    c_line(w, "%s acc = %s;", c_is_wide(d) ? "int64_t" : "double", f->start);
}

static void fold_step(CWriter *w, const Fold *f, DType d)
{
    bool ints = c_is_wide(d);
    c_line(w, "const %s x = ld%s_%s(&a, r, i);", ints ? "int64_t" : "double", ints ? "i" : "",
           dtype_name(d));
    c_line(w, "acc = %s;", f->step);
}

/* The accumulator goes through an element of its type to the scalar. */
static void assign_acc(CWriter *w, const IrStmt *s, DType d)
{
    bool ints = c_is_wide(d);
    c_line(w, "unsigned char bytes[8];");
    c_line(w, "const Tile one = {bytes, 0, 1, 1};");
    c_line(w, "st%s_%s(&one, 0, 0, acc);", ints ? "i" : "", dtype_name(d));
    c_line(w, "%s = %sld%s_%s(&one, 0, 0);", c_var(w, s->var), dtype_is_float(d) ? "(float)" : "",
           dtype_is_float(d) ? "" : "i", dtype_name(d));
}

static void reduce_all(CWriter *w, const IrStmt *s)
{
    DType d = s->src[0].dtype;
    Fold f = fold_of(w, s->op, d);
    declare_acc(w, &f, d);
    open_loops(w, "a");
    fold_step(w, &f, d);
    close_loops(w);
    assign_acc(w, s, d);
}

static void reduce_mask(CWriter *w, const IrStmt *s)
{
    bool all = s->op == IR_T_RALL;
    c_line(w, "int64_t acc = %d;", all);
    open_loops(w, "a");
    c_line(w, all ? "acc = acc && ldi_bool(&a, r, i);" : "acc = acc || ldi_bool(&a, r, i);");
    close_loops(w);
    c_line(w, "%s = acc;", c_var(w, s->var));
}

static void position(CWriter *w, const IrStmt *s)
{
    bool ints = c_is_wide(s->src[0].dtype), largest = s->op == IR_T_ARGMAX;
    c_line(w, "%s best = 0;", ints ? "int64_t" : "double");
    c_line(w, "int64_t at = 0;");
    open_loops(w, "a");
    fetch(w, s, 0, ints);
    if (ints)
        c_line(w, "if (i == 0 || x %s best) {", largest ? ">" : "<");
    else
        c_line(w, "if (i == 0 || further(x, best, %d)) {", largest);
    c_line(w, "    best = x;");
    c_line(w, "    at = i;");
    c_line(w, "}");
    close_loops(w);
    c_line(w, "%s = at;", c_var(w, s->var));
}

static void reduce(CWriter *w, const IrStmt *s)
{
    DType d = s->src[0].dtype;
    switch (s->op) {
    case IR_T_RANY:
    case IR_T_RALL: reduce_mask(w, s); return;
    case IR_T_ARGMAX:
    case IR_T_ARGMIN: position(w, s); return;
    case IR_T_EXTRACT:
        c_line(w, "%s = %sld%s_%s(&a, 0, %s);", c_var(w, s->var),
               dtype_is_float(d) ? "(float)" : "", dtype_is_float(d) ? "" : "i", dtype_name(d),
               c_text(w, s->scalar[0]));
        return;
    default: reduce_all(w, s); return;
    }
}

static void for_each(CWriter *w, const char *var, const char *limit)
{
    c_line(w, "for (int64_t %s = 0; %s < %s; %s++) {", var, var, limit, var);
    w->depth++;
}

static void end_for(CWriter *w)
{
    w->depth--;
    c_line(w, "}");
}

static void rows(CWriter *w, const IrStmt *s)
{
    DType d = s->dst.dtype;
    bool by_row = ir_tile_ops[s->op].kind == IR_CLASS_ROWS;
    Fold f = fold_of(w, s->op, d);
    for_each(w, by_row ? "r" : "i", by_row ? "a.rows" : "a.cols");
    declare_acc(w, &f, d);
    for_each(w, by_row ? "i" : "r", by_row ? "a.cols" : "a.rows");
    fold_step(w, &f, d);
    end_for(w);
    c_line(w, "st%s_%s(&d, 0, %s, acc);", c_is_wide(d) ? "i" : "", dtype_name(d),
           by_row ? "r" : "i");
    end_for(w);
}

static void scan(CWriter *w, const IrStmt *s)
{
    DType d = s->dst.dtype;
    Fold f = fold_of(w, s->op, d);
    for_each(w, "r", "d.rows");
    declare_acc(w, &f, d);
    for_each(w, "i", "d.cols");
    fold_step(w, &f, d);
    put(w, d, c_is_wide(d), "acc");
    end_for(w);
    end_for(w);
}

/* ---- moving elements ---- */

static void shape(CWriter *w, const IrStmt *s)
{
    int width = (int)dtype_bytes(s->dst.dtype);
    const char *row = "0", *col = "i";
    switch (s->op) {
    case IR_T_COL: col = "r"; break;
    case IR_T_TRANSPOSE: row = "i", col = "r"; break;
    case IR_T_REVERSE: col = "a.cols - 1 - i"; break;
    case IR_T_GATHER: col = "ldi_i32(&b, r, i)"; break;
    default: break;
    }
    open_loops(w, "d");
    c_line(w, "memcpy(el(&d, r, i, %d), el(&a, %s, %s, %d), %d);", width, row, col, width, width);
    close_loops(w);
}

static void sort(CWriter *w, const IrStmt *s)
{
    int width = (int)dtype_bytes(s->dst.dtype);
    bool ints = c_is_wide(s->dst.dtype);
    if (s->op == IR_T_COMPACT) {
        c_line(w, "int64_t n = 0;");
        for_each(w, "i", "a.cols");
        c_line(w, "if (ldi_bool(&b, 0, i))");
        c_line(w, "    memcpy(el(&d, 0, n++, %d), el(&a, 0, i, %d), %d);", width, width, width);
        end_for(w);
        c_line(w, "%s = n;", c_var(w, s->var));
        return;
    }
    c_line(w, "Key *keys = malloc((size_t)(a.cols + 1) * sizeof(Key));");
    c_line(w, "if (!keys)");
    c_line(w, "    abort();");
    for_each(w, "i", "a.cols");
    c_line(w, "keys[i] = (Key){.at = i, .%s = ld%s_%s(&a, 0, i)};", ints ? "i" : "f",
           ints ? "i" : "", dtype_name(s->dst.dtype));
    end_for(w);
    c_line(w, "qsort(keys, (size_t)a.cols, sizeof(Key), compare_keys);");
    for_each(w, "i", "d.cols");
    c_line(w, "memcpy(el(&d, 0, i, %d), el(&a, 0, keys[i].at, %d), %d);", width, width, width);
    c_line(w, "sti_i32(&d2, 0, i, keys[i].at);");
    end_for(w);
    c_line(w, "free(keys);");
}

static void mmad(CWriter *w, const IrStmt *s)
{
    const char *in = dtype_name(s->src[0].dtype);
    bool ints = s->dst.dtype == DT_I32;
    c_line(w, "const int first = %s;", c_text(w, s->scalar[0]));
    open_loops(w, "d");
    c_line(w, "double acc = first ? 0 : (double)ld%s_%s(&d, r, i);", ints ? "i" : "",
           dtype_name(s->dst.dtype));
    for_each(w, "j", "a.cols");
    c_line(w,
           s->op == IR_T_MMAD_HF32 ? "acc += hf32(ld_%s(&a, r, j)) * hf32(ld_%s(&b, j, i));"
                                   : "acc += ld_%s(&a, r, j) * ld_%s(&b, j, i);",
           in, in);
    end_for(w);
    put(w, s->dst.dtype, ints, ints ? "(int64_t)acc" : "acc");
    close_loops(w);
}

void c_op(CWriter *w, const IrStmt *s)
{
    open_op(w, s);
    switch (ir_tile_ops[s->op].kind) {
    case IR_CLASS_ELEM:
    case IR_CLASS_BITS:
    case IR_CLASS_COMPARE: elementwise(w, s); break;
    case IR_CLASS_SELECT: select(w, s); break;
    case IR_CLASS_CAST: cast(w, s); break;
    case IR_CLASS_FILL: fill(w, s); break;
    case IR_CLASS_SHAPE: shape(w, s); break;
    case IR_CLASS_REDUCE: reduce(w, s); break;
    case IR_CLASS_ROWS:
    case IR_CLASS_COLS: rows(w, s); break;
    case IR_CLASS_SCAN: scan(w, s); break;
    case IR_CLASS_SORT: sort(w, s); break;
    case IR_CLASS_CUBE: mmad(w, s); break;
    }
    close_op(w);
}
