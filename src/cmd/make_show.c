/* The summary of a made kernel. In: what making it found. Out: a few lines for people. */
#include "cmd/make.h"

#include <math.h>

static const VerdictPipe *busiest_of(const Verdict *v)
{
    const VerdictPipe *most = NULL;
    for (uint32_t i = 0; i < v->pipes.len; i++)
        if (!most || v->pipes.at[i].share > most->share)
            most = &v->pipes.at[i];
    return most;
}

static void put_us(Buf *out, double us)
{
    if (us >= 10000)
        buf_printf(out, "%.2f ms", us / 1000);
    else
        buf_printf(out, "%.1f us", us);
}

static void show_checks(const MakeResult *r, bool interp, Buf *out)
{
    uint64_t proved = 0, watched = 0;
    uint32_t with_values = 0, right = 0;
    double worst = 0;
    for (uint32_t i = 0; i < r->verdicts.len; i++) {
        const Verdict *v = &r->verdicts.at[i];
        proved = v->proved > proved ? v->proved : proved;
        watched = v->watched > watched ? v->watched : watched;
        worst = v->max_abs_err > worst ? v->max_abs_err : worst;
        if (str_is(str_from(v->kase), "full"))
            continue;
        with_values++;
        right += v->status == VERDICT_OK;
    }
    buf_printf(out, "  proved    %llu obligations over all shapes in range; %llu watched\n",
               (unsigned long long)proved, (unsigned long long)watched);
    buf_printf(out,
               "  checked   %u of %u cases ok on the %s: values%s, small and odd sizes, largest "
               "error %.3g\n",
               right, with_values, interp ? "reference interpreter" : "twin",
               interp ? "" : " and hazards", worst);
    if (r->other_plans && make_has_ranges(r->plan.craft))
        buf_printf(out, "            %u of them have a size of 1 and use a program of their own\n",
                   r->other_plans);
    else if (r->other_plans)
        buf_printf(out,
                   "            %u of them with a program of their own: this one is for the sizes "
                   "of the task\n",
                   r->other_plans);
    if (r->small_tiles)
        buf_printf(out, "            %u of them with tiny tiles, so that every loop turns\n",
                   r->small_tiles);
    if (r->inserted)
        buf_printf(
            out, "            %u cases rest on synchronisation that the device compiler inserts\n",
            r->inserted);
    if (r->timed && str_is(str_from(r->timed->kase), "full"))
        buf_puts(out, "            full size without values: bounds, coverage, hazards ok\n");
}

static void show_rule(const MakeResult *r, Buf *out)
{
    if (r->tuned.rows.len < 2)
        return;
    buf_printf(out, "  tuned     %s\n", r->rule_text);
    buf_printf(out,
               "            %u values at %u sizes; over each size's own best: mean %.1f %%, worst "
               "%.1f %% (predicted)\n",
               r->tuned.rows.len, r->tuned.shapes.len, r->rule.mean_loss * 100,
               r->rule.worst * 100);
}

static void show_yardsticks(const MakeResult *r, Buf *out)
{
    bool full = str_is(str_from(r->timed->kase), "full");
    if (full && isfinite(r->unfused_us) && r->task->graph->nodes.len > 1) {
        buf_puts(out, "            operator by operator: at least ");
        put_us(out, r->unfused_us);
        buf_puts(out, " (predicted, every operand once at peak bandwidth)\n");
    }
    if (full && isfinite(r->eager_us)) {
        buf_puts(out, "            PyTorch eager on an Atlas A2: ");
        put_us(out, r->eager_us);
        buf_printf(out, " (measured), %.2f times the prediction\n",
                   r->eager_us / r->timed->predicted_us);
    }
}

static void show_time(const MakeResult *r, Buf *out)
{
    const Verdict *v = r->timed;
    if (!v) {
        buf_puts(out, "  predicted nothing\n");
        return;
    }
    const VerdictPipe *pipe = busiest_of(v);
    buf_puts(out, "  predicted ");
    put_us(out, v->predicted_us);
    buf_printf(out, " at the %s size, launch included: %.0f %% of the bound, ", v->kase,
               v->bound_us / v->predicted_us * 100);
    put_us(out, v->bound_us);
    buf_puts(out, ", the least the chip could need\n");
    if (pipe)
        buf_printf(out, "            bound by %s, busy %.0f %%; ", pipe->name, pipe->share * 100);
    buf_printf(out,
               "the model's mean error is %.1f %% over %d measured rows (docs/cycle-model.md)\n",
               MAKE_MODEL_ERROR, MAKE_MODEL_ROWS);
    if (!str_is(str_from(v->kase), "full"))
        buf_puts(out, "            the full size was not timed: values decide what it does\n");
    show_yardsticks(r, out);
}

static void show_failures(const MakeResult *r, Buf *out)
{
    for (uint32_t i = 0; i < r->verdicts.len; i++) {
        const Verdict *v = &r->verdicts.at[i];
        if (v->status != VERDICT_OK)
            buf_printf(out, "  %-9s %s: %s\n", v->kase, verdict_status_row(v->status)->text,
                       v->reason);
    }
}

void make_show(const MakeMade *made, bool interp, Buf *out)
{
    const MakeResult *r = &made->result;
    buf_printf(out, "%s, %s: strategy %s", r->task->name, dtype_name(made->dtype),
               r->plan.strategy);
    if (r->plan.tile)
        buf_printf(out, ", tiles of up to %lld", (long long)r->plan.tile);
    buf_char(out, '\n');
    show_checks(r, interp, out);
    if (made->ok) {
        show_time(r, out);
        show_rule(r, out);
    } else {
        buf_puts(out, "  NOT GOOD  nothing is written, because of:\n");
        show_failures(r, out);
    }
    buf_puts(out, "  measured  nothing: no board has run this kernel\n");
}
