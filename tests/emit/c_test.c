/* The C target means what the interpreter means: on programs kept in tests/ir/programs, on
 * every tile operation for every element type, and on random programs (C_PROGRAMS of them). */
#include "tests/emit/c_help.h"

#include <stdlib.h>

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

static void check_softmax(const CProgram *c, const IrProgram *p, int64_t rows, int64_t cols)
{
    Arena arena = {0};
    IrOperand operands[2] = {help_tensor(&arena, DT_F32, 2, (int64_t[]){rows, cols}, 1, -8, 8),
                             help_output(&arena)};
    IrRun run = {.p = p, .chip = chip(), .operands = operands};
    help_run(&arena, &run);
    c_compare(&run, c_run(&arena, c, &run), 0);
    arena_drop(&arena);
}

T_TEST(c_softmax_equals_the_interpreter)
{
    Arena arena = {0};
    IrProgram *p = help_file(&arena, "tests/ir/programs/softmax.ir");
    CProgram c = c_compile(&arena, p, "-O2");
    check_softmax(&c, p, 1, 1);
    check_softmax(&c, p, 33, 7);
    check_softmax(&c, p, 50, 5000);
    c_drop(&c);
    arena_drop(&arena);
}

/* ---- random programs ---- */

enum { TYPES = 3, BUFFERS = 4 };

static const DType all_types[] = {DT_F32, DT_F16, DT_BF16, DT_I8,  DT_U8, DT_BOOL,
                                  DT_I16, DT_U16, DT_I32,  DT_U32, DT_I64};

typedef struct Maker {
    uint64_t seed, count;
    Buf *out;
    DType types[TYPES];
    bool written[TYPES][BUFFERS];
} Maker;

static uint32_t pick(Maker *m, uint32_t n)
{
    return (uint32_t)rng_range(m->seed, 77, m->count++, 0, n);
}

static void view(Maker *m, uint32_t type, uint32_t buffer)
{
    buf_printf(m->out, "%s_%u[0:+t.size]", dtype_name(m->types[type]), buffer);
}

static uint32_t pick_written(Maker *m, uint32_t type)
{
    uint32_t b = pick(m, BUFFERS);
    while (!m->written[type][b])
        b = (b + 1) % BUFFERS;
    return b;
}

static void scalar(Maker *m, DType d)
{
    static const char *const floats[] = {"f", "1.5", "-2.0", "0.25", "3.140625", "f"};
    static const char *const ints[] = {"i", "3", "-7", "1", "100", "0"};
    buf_puts(m->out, dtype_is_float(d) ? floats[pick(m, 6)] : ints[pick(m, 6)]);
}

static bool op_exists(IrTileOp op, DType d)
{
    bool is_float = dtype_is_float(d), is_bool = d == DT_BOOL;
    bool bytes = dtype_bytes(d) == 1;
    const IrTileOpRow *row = &ir_tile_ops[op];
    if (row->kind == IR_CLASS_BITS)
        return dtype_is_int(d);
    if (op == IR_T_LOGCUMSUMEXP)
        return is_float;
    if (row->kind == IR_CLASS_SCAN || op == IR_T_RSUM || op == IR_T_RPROD)
        return !bytes;
    if (op == IR_T_IOTA)
        return !is_bool;
    if (row->kind != IR_CLASS_ELEM)
        return true;
    switch (op) {
    case IR_T_ADD:
    case IR_T_SUB:
    case IR_T_MUL:
    case IR_T_MIN:
    case IR_T_MAX:
    case IR_T_ADDS:
    case IR_T_SUBS:
    case IR_T_RSUBS:
    case IR_T_MULS:
    case IR_T_MINS:
    case IR_T_MAXS:
    case IR_T_COPY: return true;
    case IR_T_NEG:
    case IR_T_ABS:
    case IR_T_SIGN:
    case IR_T_RELU:
    case IR_T_FMA:
    case IR_T_AXPY: return !is_bool;
    default: return is_float;
    }
}

static void begin(Maker *m) { buf_puts(m->out, "        "); }

static void operands(Maker *m, IrTileOp op, uint32_t type)
{
    const IrTileOpRow *row = &ir_tile_ops[op];
    buf_puts(m->out, " <- ");
    for (uint32_t i = 0; i < row->tiles; i++) {
        buf_puts(m->out, i ? ", " : "");
        view(m, type, pick_written(m, type));
    }
    for (uint32_t i = 0; i < row->scalars; i++) {
        buf_puts(m->out, i + row->tiles ? ", " : "");
        if (row->kind == IR_CLASS_BITS)
            buf_printf(m->out, "%u", pick(m, 8));
        else
            scalar(m, m->types[type]);
    }
    buf_char(m->out, '\n');
}

static void plain_op(Maker *m, IrTileOp op, uint32_t type)
{
    uint32_t dst = pick(m, BUFFERS);
    begin(m);
    buf_printf(m->out, "%s ", ir_tile_ops[op].name);
    view(m, type, dst);
    operands(m, op, type);
    m->written[type][dst] = true;
}

static void compare_op(Maker *m, IrTileOp op, uint32_t type)
{
    begin(m);
    buf_printf(m->out, "%s m%u[0:+t.size]", ir_tile_ops[op].name, pick(m, 2));
    operands(m, op, type);
}

static void select_op(Maker *m, IrTileOp op, uint32_t type)
{
    uint32_t dst = pick(m, BUFFERS);
    begin(m);
    buf_printf(m->out, "%s ", ir_tile_ops[op].name);
    view(m, type, dst);
    buf_printf(m->out, " <- m%u[0:+t.size]", pick(m, 2));
    for (uint32_t i = 1; i < ir_tile_ops[op].tiles; i++) {
        buf_puts(m->out, ", ");
        view(m, type, pick_written(m, type));
    }
    for (uint32_t i = 0; i < ir_tile_ops[op].scalars; i++) {
        buf_puts(m->out, ", ");
        scalar(m, m->types[type]);
    }
    buf_char(m->out, '\n');
    m->written[type][dst] = true;
}

static void cast_op(Maker *m)
{
    static const char *const modes[] = {"", ".rint", ".floor", ".ceil", ".round", ".trunc"};
    uint32_t to = pick(m, TYPES), from = pick(m, TYPES), dst = pick(m, BUFFERS);
    begin(m);
    buf_printf(m->out, "cast%s ", modes[pick(m, 6)]);
    view(m, to, dst);
    buf_puts(m->out, " <- ");
    if (pick(m, 5) == 0)
        buf_printf(m->out, "m%u[0:+t.size]", pick(m, 2));
    else
        view(m, from, pick_written(m, from));
    buf_char(m->out, '\n');
    m->written[to][dst] = true;
}

static void reduce_op(Maker *m, IrTileOp op, uint32_t type)
{
    bool position = op == IR_T_ARGMAX || op == IR_T_ARGMIN,
         any = op == IR_T_RANY || op == IR_T_RALL;
    DType d = m->types[type];
    const char *var = any || (d == DT_BOOL && !position) ? "b"
                      : position || !dtype_is_float(d)   ? "i"
                                                         : "f";
    begin(m);
    buf_printf(m->out, "%s = %s <- ", var, ir_tile_ops[op].name);
    if (any)
        buf_printf(m->out, "m%u[0:+t.size]", pick(m, 2));
    else
        view(m, type, pick_written(m, type));
    buf_puts(m->out, op == IR_T_EXTRACT ? ", 0\n" : "\n");
    begin(m); /* keep the scalars tame, and use the bool */
    buf_puts(m->out, "f = if((b and (abs(f) < 1000.0)), f, 0.5)\n");
    begin(m);
    buf_puts(m->out, "i = if(((i < 100) and (i > -100)), i, 5)\n");
}

static void sort_op(Maker *m, uint32_t type)
{
    uint32_t src = pick_written(m, type), dst = (src + 1) % BUFFERS;
    begin(m);
    buf_puts(m->out, "sort ");
    view(m, type, dst);
    buf_puts(m->out, ", p[0:+t.size] <- ");
    view(m, type, src);
    buf_puts(m->out, "\n");
    m->written[type][dst] = true;
    dst = (src + 2) % BUFFERS;
    begin(m);
    buf_puts(m->out, "gather ");
    view(m, type, dst);
    buf_puts(m->out, " <- ");
    view(m, type, src);
    buf_puts(m->out, ", p[0:+t.size]\n");
    m->written[type][dst] = true;
}

static void reverse_op(Maker *m, uint32_t type)
{
    uint32_t src = pick_written(m, type), dst = (src + 1) % BUFFERS;
    begin(m);
    buf_puts(m->out, "reverse ");
    view(m, type, dst);
    buf_puts(m->out, " <- ");
    view(m, type, src);
    buf_char(m->out, '\n');
    m->written[type][dst] = true;
}

static void random_op(Maker *m)
{
    IrTileOp op = (IrTileOp)pick(m, IR_T_COUNT);
    uint32_t type = pick(m, TYPES);
    if (!op_exists(op, m->types[type]))
        return;
    switch (ir_tile_ops[op].kind) {
    case IR_CLASS_ELEM:
    case IR_CLASS_SCAN:
    case IR_CLASS_BITS: plain_op(m, op, type); return;
    case IR_CLASS_FILL:
        if (op != IR_T_INSERT)
            plain_op(m, op, type);
        return;
    case IR_CLASS_COMPARE: compare_op(m, op, type); return;
    case IR_CLASS_SELECT: select_op(m, op, type); return;
    case IR_CLASS_CAST: cast_op(m); return;
    case IR_CLASS_REDUCE: reduce_op(m, op, type); return;
    case IR_CLASS_SORT: sort_op(m, type); return;
    case IR_CLASS_SHAPE:
        if (op == IR_T_REVERSE)
            reverse_op(m, type);
        return;
    default: return;
    }
}

static void declare_tensors(Maker *m)
{
    for (uint32_t t = 0; t < TYPES; t++)
        buf_printf(m->out, "tensor x%u in %s [n]\ntensor y%u out %s [n]\n", t,
                   dtype_name(m->types[t]), t, dtype_name(m->types[t]));
}

static void pick_types(Maker *m)
{
    for (uint32_t t = 0; t < TYPES; t++) {
        bool again = true;
        while (again) {
            m->types[t] = all_types[pick(m, sizeof all_types / sizeof *all_types)];
            again = false;
            for (uint32_t k = 0; k < t; k++)
                again |= m->types[k] == m->types[t];
        }
    }
}

/* One kernel over tiles of n: loads of each type, a chain of operations, stores of each type. */
static void make_program(Maker *m)
{
    static const char *const loops[] = {
        "for mine t in 0..n by tile'2\n", "for cyclic t in 0..n by tile'2\n",
        "for tiles t in part.start..(part.start + part.size) by tile'2\n"};
    static const int tiles[] = {64, 200, 1000};
    uint32_t loop = pick(m, 3), ops = 20 + pick(m, 30);
    pick_types(m);
    buf_printf(m->out,
               "tile_ir 1\nprogram random\ndim n i64 1..100000\nchoice tile i64 choose %d\n",
               tiles[pick(m, 3)]);
    declare_tensors(m);
    buf_puts(m->out, "host\n  launch chain [min(n, 7)] (x0, y0, x1, y1, x2, y2, tile)\nend\n"
                     "kernel chain vector\n");
    declare_tensors(m);
    buf_puts(m->out, "param tile'2 i64\n");
    for (uint32_t t = 0; t < TYPES; t++)
        for (uint32_t b = 0; b < BUFFERS; b++)
            buf_printf(m->out, "ub %s_%u %s [tile'2]\n", dtype_name(m->types[t]), b,
                       dtype_name(m->types[t]));
    buf_puts(m->out, "ub p i32 [tile'2]\nmask m0 bool [tile'2]\nmask m1 bool [tile'2]\n"
                     "local f f32\nlocal i i64\nlocal b bool\nf = 0.75\ni = 2\nb = True\n");
    if (loop == 2)
        buf_puts(m->out, "share part of n align 16\n");
    buf_puts(m->out, loops[loop]);
    buf_puts(m->out, "copyin\n");
    for (uint32_t t = 0; t < TYPES; t++) {
        buf_printf(m->out, "load %s_0[0:+t.size] <- x%u[t.start:+t.size]\n",
                   dtype_name(m->types[t]), t);
        m->written[t][0] = true;
    }
    buf_puts(m->out, "end\ncompute\n");
    for (uint32_t k = 0; k < 2; k++)
        buf_printf(m->out, "gts m%u[0:+t.size] <- %s_0[0:+t.size], %s\n", k,
                   dtype_name(m->types[k]), dtype_is_float(m->types[k]) ? "0.5" : "1");
    for (uint32_t k = 0; k < ops; k++)
        random_op(m);
    buf_puts(m->out, "end\ncopyout\n");
    for (uint32_t t = 0; t < TYPES; t++)
        buf_printf(m->out, "store y%u[t.start:+t.size] <- %s_%u[0:+t.size]\n", t,
                   dtype_name(m->types[t]), pick_written(m, t));
    buf_puts(m->out, "end\nend\nend\n");
}

static void check_at(const CProgram *c, const IrProgram *p, const Maker *m, int64_t n)
{
    Arena arena = {0};
    IrOperand ops[TYPES * 2];
    for (uint32_t t = 0; t < TYPES; t++) {
        bool is_float = dtype_is_float(m->types[t]);
        double hi = is_float ? 4 : m->types[t] == DT_BOOL ? 2 : 100;
        double lo = dtype_rows[m->types[t]].kind == DTC_U || m->types[t] == DT_BOOL ? 0 : -hi;
        ops[2 * t] = help_tensor(&arena, m->types[t], 1, &n, t + 10, lo, hi);
        ops[2 * t + 1] = help_output(&arena);
    }
    IrRun run = {.p = p, .chip = chip(), .operands = ops};
    help_run(&arena, &run);
    if (run.status == IR_RUN_OK)
        c_compare(&run, c_run(&arena, c, &run), 0);
    arena_drop(&arena);
}

static void check_random(uint64_t seed)
{
    Arena arena = {0};
    Buf text = {0};
    Maker m = {.seed = seed, .out = &text};
    make_program(&m);
    const char *copy = buf_take(&text, &arena);
    buf_free(&text);
    IrProgram *p = help_program(&arena, copy);
    CProgram c = c_compile(&arena, p, "-O2");
    static const int64_t sizes[] = {1, 33, 1500};
    for (int i = 0; i < 3; i++)
        check_at(&c, p, &m, sizes[i]);
    c_drop(&c);
    arena_drop(&arena);
}

T_TEST(c_random_programs_equal_the_interpreter)
{
    const char *count = getenv("C_PROGRAMS"), *first = getenv("C_SEED");
    long n = count ? atol(count) : 8;
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    for (long i = 0; i < n; i++)
        check_random(seed + (uint64_t)i);
}
