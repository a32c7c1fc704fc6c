/* Fitting and writing rules; see tune_rule.h. In: a Craft program and shapes. Out: the program
 * with `a if size < threshold else b` where it had a choice. */
#include "loop/tune_rule.h"

#include "craft/craft.h"
#include "loop/craft_edit.h"
#include <math.h>
#include <string.h>

/* A rule must beat a constant by this much on the average, a constant the default. */
static const double WORTH = 0.01;

/* ---- sizes ---- */

static bool size_of(const IrProgram *p, IrVarId dim, const EvalOperand *operands, int64_t *size)
{
    *size = 0;
    if (ir_is_derived(&p->vars.at[dim]))
        return true;
    for (uint32_t i = 0; i < p->operand_count; i++) {
        const IrTensor *t = &p->tensors.at[i];
        for (uint32_t a = 0; a < t->rank && a < (uint32_t)operands[i].shape.rank; a++) {
            const IrExpr *e = &p->exprs.at[t->shape[a]];
            *size = operands[i].shape.dim[a];
            if (e->op == IR_E_VAR && e->of.var == dim)
                return true;
        }
    }
    return false;
}

bool tune_dims(const IrProgram *p, const EvalOperand *operands, int64_t *dims)
{
    for (uint32_t i = 0; i < p->dims.len; i++)
        if (!size_of(p, p->dims.at[i], operands, &dims[i]))
            return false;
    return ir_derive_sizes(p, dims);
}

bool tune_sizes(Arena *arena, const IrProgram *p, const EvalOperand *operands, TuneTable *table,
                int64_t size[TUNE_SIZES])
{
    Buf all = {0};
    int64_t product = 1, *dims = arena_array(arena, int64_t, p->dims.len + 1);
    uint32_t n = 0;
    if (!tune_dims(p, operands, dims))
        return false;
    for (uint32_t i = 0; i < p->dims.len && n + 1 < TUNE_SIZES; i++) {
        if (!ir_kernels_read(p, p->dims.at[i]))
            continue; /* a rule speaks of the sizes that the kernels see */
        size[n] = dims[i];
        table->name[n] = p->vars.at[p->dims.at[i]].name;
        buf_printf(&all, "%s%s", n ? " * " : "", table->name[n]);
        if (__builtin_mul_overflow(product, size[n++], &product))
            product = INT64_MAX;
    }
    table->names = n;
    if (n > 1) {
        size[n] = product;
        table->name[table->names++] = buf_take(&all, arena);
    }
    buf_free(&all);
    return true;
}

/* ---- fitting ---- */

double tune_loss(const TuneRule *rule, const TuneShape *shape, uint32_t rows)
{
    double best = INFINITY;
    for (uint32_t i = 0; i < rows; i++)
        best = shape->us[i] > 0 && shape->us[i] < best ? shape->us[i] : best;
    uint32_t taken = rule->below && shape->size[rule->size] < rule->below ? rule->small
                                                                          : rule->large;
    return shape->us[taken] > 0 ? shape->us[taken] / best - 1 : (double)INFINITY;
}

static void weigh(const TuneTable *table, TuneRule *rule)
{
    rule->mean_loss = rule->worst = 0;
    for (uint32_t s = 0; s < table->shapes.len; s++) {
        double loss = tune_loss(rule, &table->shapes.at[s], table->rows.len);
        rule->mean_loss += loss / table->shapes.len;
        rule->worst = loss > rule->worst ? loss : rule->worst;
    }
}

static void keep_better(const TuneTable *table, TuneRule rule, TuneRule *best)
{
    weigh(table, &rule);
    bool first = !isfinite(best->mean_loss) && isfinite(rule.mean_loss);
    if (first || rule.mean_loss < best->mean_loss - 1e-9)
        *best = rule;
}

/* Between two sizes of the table, at the geometric mean, rounded down to a power of two where one
 * lies between. */
static int64_t threshold(int64_t below, int64_t above)
{
    double middle = sqrt((double)below * (double)above);
    double power = exp2(floor(log2(middle)));
    return (int64_t)(power > (double)below ? power : ceil(middle));
}

static void fit_size(const TuneTable *table, uint32_t size, TuneRule *best)
{
    for (uint32_t s = 0; s < table->shapes.len; s++) {
        int64_t above = table->shapes.at[s].size[size], below = 0;
        for (uint32_t k = 0; k < table->shapes.len; k++) {
            int64_t other = table->shapes.at[k].size[size];
            below = other < above && other > below ? other : below;
        }
        if (!below)
            continue;
        for (uint32_t a = 0; a < table->rows.len; a++)
            for (uint32_t b = 0; b < table->rows.len; b++)
                keep_better(table, (TuneRule){size, threshold(below, above), a, b, 0, 0}, best);
    }
}

TuneRule tune_fit(const TuneTable *table)
{
    TuneRule constant = {0}, rule;
    weigh(table, &constant);
    TuneRule kept = constant;
    for (uint32_t i = 0; i < table->rows.len; i++)
        keep_better(table, (TuneRule){.small = i, .large = i}, &constant);
    if (!isfinite(kept.mean_loss) || constant.mean_loss < kept.mean_loss - WORTH)
        kept = constant;
    rule = kept;
    for (uint32_t i = 0; i < table->names; i++)
        fit_size(table, i, &rule);
    return rule.mean_loss < kept.mean_loss - WORTH ? rule : kept;
}

/* ---- writing ---- */

static double setting(const TuneTable *table, uint32_t row, uint32_t i)
{
    return table->rows.at[row].settings[i].value;
}

Str tune_rule_apply(Arena *arena, Str craft, const TuneTable *table, const TuneRule *rule)
{
    Str out = tune_apply(arena, craft, &table->rows.at[rule->large]);
    for (uint32_t i = 0; rule->below && i < table->rows.at[0].setting_count; i++)
        if (setting(table, rule->small, i) != setting(table, rule->large, i))
            out = edit_choice_rule(arena, out, table->rows.at[0].settings[i].name,
                                   &(EditRule){table->name[rule->size], (int64_t)rule->below,
                                               (int64_t)setting(table, rule->small, i),
                                               (int64_t)setting(table, rule->large, i)});
    return out;
}

const char *tune_rule_text(Arena *arena, const TuneTable *table, const TuneRule *rule)
{
    Buf out = {0};
    for (uint32_t i = 0; table->rows.len && i < table->rows.at[0].setting_count; i++) {
        double small = setting(table, rule->small, i), large = setting(table, rule->large, i);
        buf_printf(&out, "%s%s = ", i ? ", " : "", table->rows.at[0].settings[i].name);
        if (rule->below && small != large)
            buf_printf(&out, "%lld if %s < %lld else ", (long long)small, table->name[rule->size],
                       (long long)rule->below);
        buf_printf(&out, "%lld", (long long)large);
    }
    char *text = out.len ? buf_take(&out, arena) : "";
    buf_free(&out);
    return text;
}
