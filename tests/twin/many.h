/* Runs one kernel file with any tensors: inputs are random in a range or given, every element of every
 * output is compared with a value the test works out by itself. Parameters are bound in order. */
#ifndef TESTS_TWIN_MANY_H
#define TESTS_TWIN_MANY_H

#include "base/file.h"
#include "tests/t.h"
#include "tests/twin/twin_helper.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_OPERANDS = 10 };

/* What element i of an output must be; in[k] are the values of operand k. */
typedef double ManyWant(const double *const in[], uint32_t i);

typedef struct ManyOperand {
    const char *type; /* as C++ spells it: "half" */
    uint32_t n;
    double low, high;            /* of an input; 0, 0: -4 to 4 */
    double (*given)(uint32_t i); /* an input's values; NULL: random */
    ManyWant *want;              /* NULL: an input */
    double tolerance;            /* relative to max(1, |want|); 0: exact */
    uint32_t zeroed;             /* an output that starts as zeros instead of nothing */
} ManyOperand;

typedef struct Many {
    const char *file; /* under tests/twin/kernels */
    const char *defines[6];
    ManyOperand operand[MANY_OPERANDS];
    uint32_t blocks, workspace;
    Str tiling; /* its bytes; empty: the kernel takes none */
    uint64_t tiling_key;
    const char *says; /* must stand in what the kernel prints */
    const char *code; /* of the one fault that must be found; NULL: none may be */
} Many;

ATTR_UNUSED static DType many_dtype(const char *cxx)
{
    for (int d = 0; d < DT_COUNT; d++)
        if (strcmp(dtype_rows[d].cxx, cxx) == 0)
            return (DType)d;
    CHECK_MSG(false, "'%s' is no type of AscendC", cxx);
    t_stop();
}

/* The same numbers on every machine, rounded to the type they travel in. */
ATTR_UNUSED static void many_fill(const ManyOperand *o, DType type, void *data, double *wide,
                                  uint32_t seed)
{
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    double low = o->high > o->low ? o->low : -4, high = o->high > o->low ? o->high : 4;
    for (uint32_t i = 0; i < o->n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double v = low + (high - low) * (double)(state >> 40) / (double)(1u << 24);
        v = o->given ? o->given(i) : dtype_is_float(type) ? v : floor(v);
        dtype_store(type, data, i, v);
        wide[i] = dtype_load(type, data, i);
    }
}

ATTR_UNUSED static void many_compare(const Many *m, int k, const TwinTensor *tensor,
                                     const double *const in[])
{
    const ManyOperand *o = &m->operand[k];
    for (uint32_t i = 0, bad = 0; i < o->n && bad < 4; i++) {
        double got = dtype_load(tensor->dtype, tensor->data, i), want = o->want(in, i);
        bool near = isfinite(want) && fabs(got - want) / fmax(1, fabs(want)) <= o->tolerance;
        bool same = got == want || (isnan(got) && isnan(want)) || near;
        bad += !CHECK_MSG(same, "%s, operand %d at %u: got %.9g, want %.9g", m->file, k, i, got,
                          want);
    }
}

ATTR_UNUSED static void many_findings(const Many *m, const Trial *t)
{
    bool found = false;
    for (size_t i = 0; i < t->verdict.hazards.len; i++) {
        const char *code = t->verdict.hazards.at[i].code;
        bool meant = m->code && strcmp(m->code, code) == 0;
        found = found || meant;
        CHECK_MSG(meant, "%s: line %u: %s %s", m->file, t->verdict.hazards.at[i].line, code,
                  t->verdict.hazards.at[i].message);
    }
    CHECK_MSG(!m->code || found, "%s: %s was not found", m->file, m->code);
    CHECK_MSG(!m->says || str_find(t->run.printed, str_from(m->says)) >= 0,
              "%s: does not print '%s' but '%.*s'", m->file, m->says, STR_ARG(t->run.printed));
}

ATTR_UNUSED static void many_run(const Many *m)
{
    TwinTensor tensors[MANY_OPERANDS] = {0};
    TwinArg args[MANY_OPERANDS + 2] = {0};
    double *wide[MANY_OPERANDS] = {0};
    uint32_t n = 0;
    for (; n < MANY_OPERANDS && m->operand[n].type; n++) {
        const ManyOperand *o = &m->operand[n];
        DType type = many_dtype(o->type);
        static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
        tensors[n] = (TwinTensor){.name = names[n],
                                  .dtype = type,
                                  .rank = 1,
                                  .shape = {o->n},
                                  .role = !o->want    ? SIM_IN
                                          : o->zeroed ? SIM_INOUT
                                                      : SIM_OUT,
                                  .data = calloc(o->n + 1, dtype_bytes(type)),
                                  .bytes = o->n * dtype_bytes(type)};
        wide[n] = calloc(o->n + 1, sizeof *wide[n]);
        if (!o->want)
            many_fill(o, type, tensors[n].data, wide[n], n + 1);
        args[n] = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = n};
    }
    uint32_t arg_count = n;
    if (m->workspace)
        args[arg_count++] = (TwinArg){.kind = TWIN_ARG_WORKSPACE};
    if (m->tiling.len)
        args[arg_count++] = (TwinArg){.kind = TWIN_ARG_TILING};
    TwinLaunch launch = {.tensors = tensors,
                         .tensor_count = n,
                         .args = args,
                         .arg_count = arg_count,
                         .tiling = m->tiling,
                         .tiling_key = m->tiling_key,
                         .blocks = m->blocks ? m->blocks : 1,
                         .workspace = m->workspace};
    Arena arena = {0};
    Str text;
    char path[256], here[4096];
    Diag diag = diag_make(&arena, m->file, str_from(""));
    snprintf(path, sizeof path, "tests/twin/kernels/%s", m->file);
    REQUIRE(file_read(&arena, path, 1 << 20, &text, &diag));
    REQUIRE(realpath("tests/twin/kernels", here));
    const char *dirs[] = {here, NULL};
    Trial t = {.text = text.at, .launch = &launch, .defines = m->defines, .include_dirs = dirs};
    trial_run(&t);
    CHECK_MSG(t.compiled, "%s: not compiled: %s %.900s", m->file, t.verdict.reason,
              buf_view(&t.messages).at);
    CHECK_MSG(!t.compiled || t.ran || m->code, "%s: did not run: %s", m->file, t.verdict.reason);
    many_findings(m, &t);
    for (uint32_t k = 0; k < n; k++)
        if (t.ran && m->operand[k].want)
            many_compare(m, (int)k, &tensors[k], (const double *const *)wide);
    for (uint32_t k = 0; k < n; k++) {
        free(tensors[k].data);
        free(wide[k]);
    }
    trial_drop(&t);
    arena_drop(&arena);
}

#endif
