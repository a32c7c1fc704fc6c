/* Questions and answers from our own tables: diagnostics, faults, instructions, chips, operations. */
#include "rows/rows_int.h"

#include "base/hash.h"
#include "craft/craft.h"
#include "ir/prove.h"
#include "ir/run.h"
#include "sim/sim.h"
#include <string.h>

typedef struct Fact {
    const char *question, *answer;
} Fact;

struct RowsFacts {
    uint32_t len, cap;
    Fact *at;
};
typedef struct RowsFacts Facts;

static const char *example(Arena *arena, const char *bad, const char *good)
{
    if (!*bad || !*good)
        return "";
    return str_format(arena, "\n\nNot this:\n```python\n%s\n```\nbut this:\n```python\n%s\n```",
                      bad, good);
}

static void add_fact(Arena *arena, Facts *facts, const char *question, const char *answer)
{
    vec_push(arena, facts, ((Fact){question, answer}));
}

/* A diagnostic in three wordings: by its code, by its repair, by its message. */
static void add_code(Arena *arena, Facts *facts, const char *code, const char *brief,
                     const char *text, const char *bad, const char *good)
{
    const char *shown = example(arena, bad, good);
    add_fact(arena, facts, str_format(arena, "What does the diagnostic %s mean?", code),
             str_format(arena, "%s: %s. %s%s", code, brief, text, shown));
    add_fact(arena, facts, str_format(arena, "acraft reports %s. How do I repair it?", code),
             str_format(arena, "%s is about this: %s. %s%s", code, brief, text, shown));
    add_fact(arena, facts, str_format(arena, "Which code stands for \"%s\"?", brief),
             str_format(arena, "%s. %s", code, text));
}

static void add_codes(Arena *arena, Facts *facts)
{
    for (const CraftCode *c = craft_codes; c->code; c++)
        add_code(arena, facts, c->code, c->brief, c->text, c->bad, c->good);
    for (int i = 0; i < IR_PROOF_COUNT; i++) {
        const IrProofRow *p = &ir_proof_rows[i];
        add_code(arena, facts, p->refuse, str_format(arena, "this is false: %s", p->rule),
                 p->repair, p->bad, p->good);
        add_code(arena, facts, p->watch, str_format(arena, "this is not proved: %s", p->rule),
                 p->repair, p->bad, p->good);
    }
    for (int i = IR_PROOF_COUNT; i < IR_FAULT_COUNT; i++)
        add_code(arena, facts, ir_fault_rows[i].code,
                 str_format(arena, "a run breaks this rule: %s", ir_fault_rows[i].rule),
                 ir_fault_rows[i].repair, "", "");
    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        const SimFaultRow *row = sim_fault_row((enum SimFaultCode)i);
        add_code(arena, facts, row->code, row->title,
                 str_format(arena, "%s%s%s", row->repair, *row->device ? ". On the device: " : "",
                            row->device),
                 "", "");
    }
}

/* ---- instructions ---- */

static const char *dtypes_text(Arena *arena, uint32_t dtypes)
{
    Buf out = {0};
    for (uint32_t i = 0; i < 32; i++)
        if (dtypes >> i & 1)
            buf_printf(&out, "%s%s", out.len ? ", " : "", npu_dtype_text(i));
    const char *text = out.len ? buf_take(&out, arena) : "none";
    buf_free(&out);
    return text;
}

/* A call that becomes one of several instructions has no one pipe, nor one list of types. */
static bool is_only_one(const NpuIsa *isa)
{
    uint32_t n = 0;
    for (uint32_t op = 0; op < NPU_OP_COUNT; op++) {
        const NpuIsa *other = npu_isa(op);
        n += other && (!strcmp(other->api, isa->api) || !strcmp(other->alias, isa->api));
    }
    return n == 1;
}

static void add_instructions(Arena *arena, Facts *facts)
{
    for (uint32_t op = 0; op < NPU_OP_COUNT; op++) {
        const NpuIsa *isa = npu_isa(op);
        if (!isa || !*isa->api || !isa->dtypes || !is_only_one(isa))
            continue;
        const char *types = dtypes_text(arena, isa->dtypes);
        add_fact(arena, facts,
                 str_format(arena, "Which element types does %s of AscendC take on the Atlas A2?",
                            isa->api),
                 str_format(arena, "%s takes %s.", isa->api, types));
        add_fact(arena, facts, str_format(arena, "On which pipe does %s run?", isa->api),
                 str_format(arena, "%s runs on pipe %s%s%s.", isa->api, npu_pipe_name(isa->pipe),
                            *isa->instruction ? ", as instruction " : "", isa->instruction));
        if (isa->cost == NPU_COST_M)
            add_fact(arena, facts,
                     str_format(arena, "How long does %s take in acraft's cycle model?", isa->api),
                     str_format(arena,
                                "%g cycles to start and to drain, and %g for each repeat of 256 "
                                "bytes; the figures rest on measurements.",
                                isa->head + isa->tail, isa->per_repeat));
    }
}

/* ---- chips ---- */

static void add_chip(Arena *arena, Facts *facts, const NpuChip *c)
{
    const struct {
        const char *what, *unit;
        uint32_t value;
    } rows[] = {{"cube cores (AIC) has", "cube cores", c->aic},
                {"vector cores (AIV) has", "vector cores", c->aiv},
                {"bytes of UB does a vector core of", "bytes of UB for each vector core", c->ub},
                {"bytes of L1 does a cube core of", "bytes of L1 for each cube core", c->l1},
                {"bytes of L0A does a cube core of", "bytes of L0A", c->l0a},
                {"bytes of L0C does a cube core of", "bytes of L0C", c->l0c},
                {"MiB of L2 has", "MiB of L2", c->l2_mib}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_fact(arena, facts,
                 str_format(arena, "How many %s %s%s?", rows[i].what, c->name,
                            i >= 2 && i < 6 ? " have" : ""),
                 str_format(arena, "%s: %u %s.", c->name, rows[i].value, rows[i].unit));
    add_fact(arena, facts, str_format(arena, "At what frequency do the cores of %s run?", c->name),
             str_format(arena, "%u MHz.", c->mhz));
    for (int64_t bytes = 2; bytes <= 4; bytes += 2)
        for (int slots = 1; slots <= 6; slots++)
            add_fact(arena, facts,
                     str_format(arena,
                                "How many elements of %lld bytes fit into the UB of a vector core "
                                "of %s if %d buffers of that size are needed?",
                                (long long)bytes, c->name, slots),
                     str_format(arena,
                                "UB has %u bytes: %u / (%d * %lld) = %lld elements at most, in "
                                "whole 32 bytes %lld; the compiler's own scratch comes off that.",
                                c->ub, c->ub, slots, (long long)bytes,
                                (long long)c->ub / (slots * bytes),
                                (long long)c->ub / slots / 32 * 32 / bytes));
}

const RowsFacts *rows_facts(Arena *arena)
{
    Facts *facts = arena_new(arena, Facts);
    add_codes(arena, facts);
    add_instructions(arena, facts);
    for (uint32_t i = 0; i < npu_chip_count; i++)
        add_chip(arena, facts, &npu_chips[i]);
    return facts;
}

uint32_t rows_fact_count(const RowsFacts *facts) { return facts->len; }

Row rows_explain(Arena *arena, const RowsFacts *facts, uint32_t number)
{
    const Fact *f = &facts->at[number];
    return (Row){.kind = ROWS_EXPLAIN,
                 .number = str_format(arena, "explain-%u", number),
                 .family = "table",
                 .flow = "",
                 .dtype = "",
                 .error = "",
                 .code = "",
                 .verdict = "table",
                 .graph = hash64(f->question, str_from(f->question).len),
                 .prompt = str_from(str_format(arena, "%s\n", f->question)),
                 .answer = str_from(str_format(arena, "%s\n", f->answer))};
}
