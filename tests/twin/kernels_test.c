/* AscendC kernels of our own, one call or one idiom each, against values worked out here in double
 * precision. A case names its text, macros, inputs and the value each output element must have. */
#include "tests/t.h"

#include "base/file.h"
#include "tests/twin/twin_helper.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3 };

typedef struct Case {
    const char *file;    /* under tests/twin/kernels */
    const char *body;    /* -DBODY for body.cpp; NULL: none */
    const char *type;    /* C++ type of the inputs: "float" */
    const char *out;     /* of the output; NULL: the same */
    uint32_t n, out_n;   /* 0: 1024, as n */
    uint32_t inputs;     /* 0: 1 */
    double low, high;    /* range of the inputs; 0, 0: -4 to 4 */
    double (*want)(const double *const in[MOST], uint32_t i);
    double tolerance;    /* relative to max(1, |want|); 0: exact */
    const char *extra;   /* one more define */
    uint32_t blocks;     /* 0: 1 */
} Case;

static DType dtype_of(const char *cxx)
{
    for (int d = 0; d < DT_COUNT; d++)
        if (strcmp(dtype_rows[d].cxx, cxx) == 0)
            return (DType)d;
    REQUIRE(!"a type of AscendC");
    return DT_F32;
}

/* The same numbers on every machine; rounded to the type they travel in. */
static void fill(DType type, void *data, double *wide, uint32_t n, double low, double high, uint32_t seed)
{
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (uint32_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double v = low + (high - low) * (double)(state >> 40) / (double)(1u << 24);
        dtype_store(type, data, i, dtype_is_float(type) ? v : floor(v));
        wide[i] = dtype_load(type, data, i);
    }
}

static const char *define(Arena *arena, const char *name, const char *value)
{
    return str_format(arena, "%s=%s", name, value).at;
}

static void run_case(const Case *c)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, c->file, str_from(""));
    Str text;
    const char *path = str_format(&arena, "tests/twin/kernels/%s", c->file).at;
    REQUIRE(file_read(&arena, path, 1 << 20, &text, &diag));

    uint32_t n = c->n ? c->n : 1024, out_n = c->out_n ? c->out_n : n, inputs = c->inputs ? c->inputs : 1;
    DType in_type = dtype_of(c->type), out_type = dtype_of(c->out ? c->out : c->type);
    const char *defines[8] = {define(&arena, "TYPE", c->type), define(&arena, "OUT", c->out ? c->out : c->type),
                              str_format(&arena, "N=%u", n).at, str_format(&arena, "OUT_N=%u", out_n).at,
                              str_format(&arena, "INPUTS=%u", inputs).at,
                              c->body ? define(&arena, "BODY", c->body) : "NO_BODY", c->extra, NULL};
    const char *include_dirs[] = {"tests/twin/kernels", NULL};

    TwinTensor tensors[MOST + 1] = {0};
    TwinArg args[MOST + 1] = {0};
    double *wide[MOST] = {0};
    for (uint32_t i = 0; i < MOST; i++) {
        uint32_t count = i < inputs ? n : 8;
        size_t bytes = count * dtype_bytes(in_type);
        void *data = calloc(1, bytes);
        wide[i] = calloc(count, sizeof *wide[i]);
        fill(in_type, data, wide[i], count, c->high > c->low ? c->low : -4, c->high > c->low ? c->high : 4, i + 1);
        tensors[i] = (TwinTensor){.name = i == 0 ? "gx" : i == 1 ? "gy" : "gw", .dtype = in_type, .rank = 1,
                                  .shape = {count}, .role = SIM_IN, .data = data, .bytes = bytes};
    }
    size_t bytes = out_n * dtype_bytes(out_type);
    tensors[MOST] = (TwinTensor){.name = "gz", .dtype = out_type, .rank = 1, .shape = {out_n}, .role = SIM_OUT,
                                 .data = calloc(1, bytes), .bytes = bytes};
    for (uint32_t i = 0; i <= MOST; i++)
        args[i] = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = i};
    TwinLaunch launch = {.tensors = tensors, .tensor_count = MOST + 1, .args = args, .arg_count = MOST + 1,
                         .blocks = c->blocks ? c->blocks : 1};
    Trial t = {.text = text.at, .launch = &launch, .defines = defines, .include_dirs = include_dirs};
    trial_run(&t);
    const char *label = c->body ? c->body : c->file;
    CHECK_MSG(t.compiled, "%s: not compiled: %.600s", label, buf_view(&t.messages).at);
    CHECK_MSG(!t.compiled || t.ran, "%s: did not run", label);
    for (size_t i = 0; i < t.verdict.findings.len; i++)
        CHECK_MSG(false, "%s: %s %s", label, t.verdict.findings.at[i].code, t.verdict.findings.at[i].message);
    for (uint32_t i = 0, bad = 0; t.ran && i < out_n && bad < 3; i++) {
        double got = dtype_load(out_type, tensors[MOST].data, i);
        double want = c->want((const double *const *)wide, i);
        double off = fabs(got - want) / fmax(1, fabs(want));
        bool same = got == want || (isnan(got) && isnan(want)) || off <= c->tolerance;
        bad += !CHECK_MSG(same, "%s [%s] at %u: got %.9g, want %.9g", label, c->type, i, got, want);
    }
    for (uint32_t i = 0; i <= MOST; i++)
        free(tensors[i].data);
    for (uint32_t i = 0; i < MOST; i++)
        free(wide[i]);
    trial_drop(&t);
    arena_drop(&arena);
}
