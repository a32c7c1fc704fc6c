/* An output against the reference. In: what a candidate wrote. Out: errors and the first bad element
 * in the verdict. */
#include "eval/candidate_int.h"

#include <math.h>
#include <string.h>

static void note_errors(Verdict *v, const CompareResult *r, const char *tensor)
{
    if (!(v->max_abs_err >= r->max_abs_err))
        v->max_abs_err = r->max_abs_err;
    if (!(v->max_rel_err >= r->max_rel_err))
        v->max_rel_err = r->max_rel_err;
    if (!(v->tolerance_used >= r->tolerance_used))
        v->tolerance_used = r->tolerance_used;
    if (compare_ok(r) || v->first_bad.any || r->first_bad < 0)
        return;
    v->first_bad.any = true;
    v->first_bad.tensor = tensor;
    v->first_bad.index = (uint64_t)r->first_bad;
    v->first_bad.got = r->got;
    v->first_bad.want = r->want;
}

/* Reports an output that is one number throughout, or equal to an input. */
static const char *plain_pattern(const CompareResult *r)
{
    static const char *const patterns[] = {"all zeros", "all equal to ", "equals input"};
    if (r->status != COMPARE_WRONG || r->count < 2)
        return NULL;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strncmp(r->pattern, patterns[i], strlen(patterns[i])) == 0)
            return r->pattern;
    return NULL;
}

static const char *said(Arena *arena, const char *name, const CompareResult *r)
{
    Buf text = {0};
    compare_print(r, &text);
    const char *line = str_format(arena, "%s: %s", name, text.at);
    buf_free(&text);
    return line;
}

static const char *shapes(Arena *arena, const char *name, const Tensor *got, const Tensor *want)
{
    Buf text = {0};
    buf_printf(&text, "%s is %s", name, dtype_name(got->dtype));
    shape_print(got->shape, &text);
    buf_printf(&text, ", not %s", dtype_name(want->dtype));
    shape_print(want->shape, &text);
    const char *line = buf_take(&text, arena);
    buf_free(&text);
    return line;
}

/* A sum that is taken off again, a product with zeros of a mask or a triangle: such ways spread what is no number farther
 * than PyTorch's, and are honest. That it is hidden is not. NaN in place of up to half of all elements counts as right. */
static void excuse_nan(Tensor *got, const Tensor *want)
{
    int64_t spread = 0;
    for (int64_t i = 0; i < want->count; i++)
        spread += isnan(tensor_get(got, i)) && !isnan(tensor_get(want, i));
    for (int64_t i = 0; 2 * spread <= want->count && i < want->count; i++)
        if (isnan(tensor_get(got, i)))
            tensor_set(got, i, tensor_get(want, i));
}

static bool compare_output(Arena *arena, const EvalReference *ref, uint32_t output,
                           const Tensor *got, bool reshape, Verdict *verdict)
{
    const Tensor *want = ref->want[output];
    const char *name = str_format(arena, "output %u", output);
    Tensor *seen = got ? tensor_alias(got, reshape ? want->shape : got->shape) : NULL;
    if (!seen) {
        verdict_fail(verdict, VERDICT_WRONG, STAGE_COMPARE,
                     got ? shapes(arena, name, got, want)
                         : str_format(arena, "%s is not written", name));
        return false;
    }
    if (ref->spec.rule >= RULE_NPUKB && seen->dtype != want->dtype) { /* it compares values only */
        Tensor *cast = tensor_cast(seen, want->dtype), *given = seen;
        seen = cast ? cast : seen;
        tensor_free(cast ? given : NULL);
    }
    if (ref->special && dtype_is_float(seen->dtype) && shape_equal(seen->shape, want->shape)) {
        Tensor *own = tensor_copy(seen), *given = seen;
        excuse_nan(own, want);
        seen = own;
        tensor_free(given);
    }
    CompareSpec spec = eval_spec(ref, output);
    CompareResult r = compare_tensors(seen, want, &spec, (const Tensor *const *)ref->in.inputs,
                                      ref->in.n_inputs);
    note_errors(verdict, &r, name);
    const char *same = plain_pattern(&r);
    if (r.status == COMPARE_SHAPE || r.status == COMPARE_DTYPE)
        verdict_fail(verdict, VERDICT_WRONG, STAGE_COMPARE, shapes(arena, name, got, want));
    else if (!compare_ok(&r) && same)
        verdict_fail(verdict, VERDICT_NOT_COMPUTED, STAGE_COMPARE,
                     strncmp(same, "all", 3) == 0
                         ? str_format(arena, "%s is %s; the reference is not", name, same)
                         : str_format(arena, "%s %s; the reference does not", name, same));
    else if (!compare_ok(&r))
        verdict_fail(verdict, VERDICT_WRONG, STAGE_COMPARE, said(arena, name, &r));
    tensor_free(seen);
    return compare_ok(&r);
}

bool eval_compare(Arena *arena, const EvalReference *ref, uint32_t output, const Tensor *got,
                  bool reshape, Verdict *verdict)
{
    bool ok = compare_output(arena, ref, output, got, reshape, verdict);
    if (!ok)
        verdict->correct = VERDICT_NO;
    else if (verdict->correct == VERDICT_UNKNOWN)
        verdict->correct = VERDICT_YES;
    return ok;
}

bool eval_has_shape(EvalJudge *j, uint32_t output, const Tensor *got)
{
    const Value *want = graph_value(j->ref->graph, j->ref->graph->outputs.at[output]);
    return (got->dtype == want->dtype && shape_equal(got->shape, want->shape)) ||
           eval_judge_fail(j, VERDICT_WRONG, STAGE_COMPARE,
                           str_format(j->arena, "output %u has another shape or dtype", output));
}
