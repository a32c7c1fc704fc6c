/* The summary of a made kernel. In: what making it found. Out: a few lines for people. */
#include "cmd/make.h"
#include "eval/interval.h"

#include <math.h>
#include <string.h>

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
        buf_printf(out, us < 0.1 ? "%.2g us" : "%.1f us", us);
}

static bool is_full(const Verdict *v)
{
    return str_is(str_from(v->kase), "full") || str_is(str_from(v->kase), "own");
}

static void show_fixed(const MakeResult *r, const MakeManner *manner, Buf *out)
{
    if (!*r->fixed)
        return;
    buf_printf(out, "  fixed     sizes written into the kernel as numbers: %s\n", r->fixed);
    if (!*r->free)
        buf_puts(out, "            for other sizes change the file and make another project\n");
    else
        buf_printf(out, "            for other sizes make another project: %s %s -o DIR\n",
                   manner->again, r->free);
    if (*r->free && r->free_at.line)
        buf_printf(out, "            (the size in line %u, column %u of the file)\n",
                   r->free_at.line, r->free_at.col);
}

static bool has_case(const MakeResult *r, const char *name)
{
    for (uint32_t i = 0; i < r->verdicts.len; i++)
        if (str_starts(str_from(r->verdicts.at[i].kase), name))
            return true;
    return false;
}

static const char *sizes_of(const MakeResult *r)
{
    bool own = has_case(r, "own"), odd = has_case(r, "fuzz");
    return own   ? (odd ? "small sizes, odd sizes and the size in the file"
                        : "a small size and the size in the file")
           : odd ? "small and odd sizes; the size in the file was not run with values"
                 : "a small size; the size in the file was not run with values";
}

/* Launches of the host function that no case with values executed. */
static void show_branches(const MakeResult *r, Buf *out)
{
    enum { MOST = 6 };
    uint32_t ran = 0, own = 0, own_ran = 0, missed = 0;
    for (uint32_t i = 0; i < r->branches.len; i++) {
        ran += r->branches.at[i].ran;
        own += r->branches.at[i].own;
        own_ran += r->branches.at[i].own && r->branches.at[i].ran;
    }
    if (!r->branches.len)
        return;
    buf_printf(out, "            %u of %u launches of the host function were run with values; %s\n",
               ran, r->branches.len,
               own == own_ran ? "those of the size in the file are among them"
                              : "NOT all of those that the size in the file launches");
    for (uint32_t i = 0; i < r->branches.len; i++) {
        const MakeBranch *b = &r->branches.at[i];
        if (!b->ran && ++missed <= MOST)
            buf_printf(out, "            without values: line %u: %s%s\n", b->line, b->text,
                       b->own ? " (launched at the size in the file)" : "");
    }
    if (missed > MOST)
        buf_printf(out, "            and %u more\n", missed - MOST);
}

static void show_checks(const MakeResult *r, const MakeManner *manner, Buf *out)
{
    uint64_t proved = 0, watched = 0;
    uint32_t with_values = 0, right = 0;
    double worst = 0, used = 0;
    for (uint32_t i = 0; i < r->verdicts.len; i++) {
        const Verdict *v = &r->verdicts.at[i];
        proved = v->proved > proved ? v->proved : proved;
        watched = v->watched > watched ? v->watched : watched;
        worst = v->max_abs_err > worst ? v->max_abs_err : worst;
        used = v->tolerance_used > used ? v->tolerance_used : used;
        if (str_is(str_from(v->kase), "full"))
            continue;
        with_values++;
        right += v->status == VERDICT_OK;
    }
    buf_printf(out, "  proved    %llu obligations over %s; %llu checked while it runs\n",
               (unsigned long long)proved,
               *r->fixed ? "all sizes that are not fixed" : "all shapes in range",
               (unsigned long long)watched);
    show_fixed(r, manner, out);
    if (with_values)
        buf_printf(out,
                   "  checked   %u of %u cases ok on the %s: values%s, %s\n"
                   "            largest error: %.2g of what the tolerance allows (absolute %.3g)\n",
                   right, with_values, manner->interp ? "reference interpreter" : "twin",
                   manner->interp ? "" : " and hazards",
                   manner->listed ? "dtypes and sizes of the list" : sizes_of(r), used, worst);
    else
        buf_puts(out, "  checked   no values\n");
    if (r->left_out)
        buf_printf(
            out,
            "            %u larger ones were left out: --case N judges one whatever its size\n",
            r->left_out);
    if (r->other_plans)
        buf_printf(out,
                   "            %u of them at sizes that this program refuses: they judge "
                   "another one\n",
                   r->other_plans);
    show_branches(r, out);
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
               "            %u values at %u sizes; slower than each size's own best by %.1f %% on "
               "average, "
               "%.1f %% at worst (predicted)\n",
               r->tuned.rows.len, r->tuned.shapes.len, r->rule.mean_loss * 100,
               r->rule.worst * 100);
}

static void show_yardsticks(const MakeResult *r, Buf *out)
{
    bool full = is_full(r->timed);
    if (full && isfinite(r->unfused_us) && r->task->graph->nodes.len > 1) {
        buf_puts(out, "            operator by operator: at least ");
        put_us(out, r->unfused_us);
        buf_puts(out, " (predicted, every operand once at peak bandwidth)\n");
    }
    if (full && isfinite(r->eager_us)) {
        buf_puts(out, "            PyTorch eager on an Atlas A2: ");
        put_us(out, r->eager_us);
        NpuInterval range = eval_interval(r->timed);
        bool within = r->eager_us >= range.low && r->eager_us <= range.high;
        buf_printf(out, " (measured), %.2f times the prediction%s\n",
                   r->eager_us / r->timed->predicted_us,
                   within ? ", which is within the model's error" : "");
    }
}

/* 3 of listed2, as --case counts; 0: not of a list */
static int64_t listed_number(const Verdict *v)
{
    Str name = str_from(v->kase);
    int64_t number = 0;
    bool listed = str_starts(name, "listed") &&
                  str_to_i64(str_slice(name, strlen("listed"), name.len), &number);
    return listed ? number + 1 : 0;
}

static void put_size(const Verdict *v, Buf *out)
{
    int64_t number = listed_number(v);
    if (number)
        buf_printf(out, " for case %lld of the list", (long long)number);
    else if (is_full(v))
        buf_puts(out, " at the size in the file");
    else
        buf_printf(out, " at the %s size", v->kase);
}

/* "copies in (aiv_mte2)" */
static const char *pipe_text(const char *name)
{
    static const char *const words[][2] = {{"aiv_vec", "the vector unit (aiv_vec)"},
                                           {"aiv_scalar", "the scalar unit (aiv_scalar)"},
                                           {"aiv_mte2", "copies in (aiv_mte2)"},
                                           {"aiv_mte3", "copies out (aiv_mte3)"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(name, words[i][0]))
            return words[i][1];
    return name;
}

/* Why a kernel takes as long as it does: a pipe that works most of the time, or none that does. */
static const char *share_reason(const EvalShare *k)
{
    return k->busy >= 0.6 ? "bounds it" : "works; the rest is waiting";
}

/* The kernels that take most of the time, and the memory between them. */
static void show_shares(const EvalShares *all, Buf *out)
{
    enum { MOST = 12 };
    uint32_t order[MOST], n = 0;
    for (uint32_t i = 0; i < all->len; i++) {
        uint32_t at = n < MOST ? n++ : MOST;
        for (; at && all->at[i].us > all->at[order[at - 1]].us; at--)
            if (at < MOST)
                order[at] = order[at - 1];
        if (at < MOST)
            order[at] = i;
    }
    if (all->len < 2)
        return;
    buf_printf(out, "  kernels   %u, the longest first; %.3g MB of workspace at most\n", all->len,
               (double)all->workspace / 1e6);
    double shown = 0;
    for (uint32_t i = 0; i < n; i++) {
        const EvalShare *k = &all->at[order[i]];
        shown += k->us;
        buf_printf(out, "            %5.1f %%  ", 100 * k->us / all->us);
        put_us(out, k->us);
        buf_printf(out, "  %s, %u launch%s on %u cores: %s %.0f %% %s\n", k->name, k->launches,
                   k->launches == 1 ? "" : "es", k->cores, k->pipe, 100 * k->busy, share_reason(k));
    }
    if (n < all->len)
        buf_printf(out, "            %5.1f %%  %u more\n", 100 * (1 - shown / all->us),
                   all->len - n);
}

static void show_time(const MakeResult *r, Buf *out)
{
    const Verdict *v = r->timed;
    if (!v) {
        buf_puts(out, "  predicted nothing\n");
        return;
    }
    const VerdictPipe *pipe = busiest_of(v);
    double share = v->bound_us / v->predicted_us;
    buf_puts(out, "  predicted ");
    put_us(out, v->predicted_us);
    NpuInterval range = eval_interval(v);
    buf_puts(out, ", ");
    put_us(out, range.low);
    buf_puts(out, " to ");
    put_us(out, range.high);
    put_size(v, out);
    buf_puts(out,
             ", launch included; the bound, at the chip's peak rates and without a launch, is ");
    put_us(out, v->bound_us);
    buf_printf(out, share < 0.01 ? ": under 1 %%\n" : ": %.0f %%\n", share * 100);
    if (*v->inputs)
        buf_printf(out, "            inputs: %s\n", v->inputs);
    if (pipe)
        buf_printf(out, "            busiest: %s, %.0f %% of the time; ", pipe_text(pipe->name),
                   pipe->share * 100);
    buf_puts(out, "8 of 10 measured times lie in such a range (docs/cycle-model.md)\n");
    if (!str_is(str_from(v->kase), "full") && !listed_number(v))
        buf_puts(out,
                 str_is(str_from(v->kase), "own")
                     ? "            timed with values, which decide what it does\n"
                     : "            NOT the size in the file, which is too large to time: values "
                       "decide what it does\n");
    show_yardsticks(r, out);
    show_shares(&r->shares, out);
}

/* "--listed own --case 3" of listed2, "--case fuzz3" */
static void put_case(const MakeManner *manner, const Verdict *v, Buf *out)
{
    int64_t number = listed_number(v);
    if (number)
        buf_printf(out, " --listed %s --case %lld", manner->listed, (long long)number);
    else
        buf_printf(out, " --case %s", v->kase);
}

static void show_failure(const MakeResult *r, const MakeManner *manner, const Verdict *v, Buf *out)
{
    const char *status = verdict_status_row(v->status)->text;
    bool said = str_find(str_from(v->reason), str_from(status)) >= 0;
    buf_printf(out, "  %-9s %s%s%s\n", v->kase, said ? "" : status, said ? "" : ": ", v->reason);
    if (v->first_bad.any && str_find(str_from(v->reason), STR(" got ")) < 0)
        buf_printf(out, "            %s, first wrong element, %llu: got %.9g want %.9g\n",
                   v->first_bad.tensor, (unsigned long long)v->first_bad.index, v->first_bad.got,
                   v->first_bad.want);
    if (v->status == VERDICT_NO_TOOL || v->status == VERDICT_NO_WALL)
        return;
    if (*v->inputs)
        buf_printf(out, "            inputs: %s\n", v->inputs);
    buf_printf(out, "            again: %s%s", manner->again, r->rounds ? " --rounded" : "");
    put_case(manner, v, out);
    buf_char(out, '\n');
}

static void show_failures(const MakeResult *r, const MakeManner *manner, Buf *out)
{
    enum { MOST = 6 };
    uint32_t bad = 0;
    for (uint32_t i = 0; i < r->verdicts.len; i++)
        if (r->verdicts.at[i].status != VERDICT_OK && ++bad <= MOST)
            show_failure(r, manner, &r->verdicts.at[i], out);
    if (bad > MOST)
        buf_printf(out, "            and %u more; --json says all\n", bad - MOST);
}

void make_put_dtypes(const TorchTask *task, Buf *out)
{
    const Graph *g = task->graph;
    bool seen[DT_COUNT] = {0}, any = false;
    for (int floats = 1; floats >= 0 && !any;
         floats--) /* others only where no input is of floats */
        for (uint32_t i = 0; i < g->inputs.len; i++) {
            DType d = graph_value(g, g->inputs.at[i])->dtype;
            if (seen[d] || dtype_is_float(d) != floats)
                continue;
            buf_printf(out, "%s%s", any ? ", " : "", dtype_name(d));
            seen[d] = any = true;
        }
    buf_puts(out, any ? "" : "no inputs");
}

static void show_head(const MakeMade *made, const MakeManner *manner, Buf *out)
{
    const Plan *plan = &made->result.plan;
    buf_printf(out, "%s, ", made->result.task->name);
    if (manner->listed)
        buf_puts(out, "listed cases");
    else
        make_put_dtypes(made->result.task, out);
    buf_printf(out, ": strategy %s", plan->strategy);
    if (plan->tile)
        buf_printf(out, ", tiles of up to %lld", (long long)plan->tile);
    buf_char(out, '\n');
}

static bool is_first(const TorchTask *task, uint32_t look)
{
    for (uint32_t i = 0; i < look; i++)
        if (task->looks.at[i].at.line == task->looks.at[look].at.line)
            return false;
    return task->looks.at[look].branch;
}

/* What was read other than it stands there, or by the values drawn. */
static void show_reading(const MakeResult *r, Buf *out)
{
    const TorchTask *task = r->task;
    for (uint32_t i = 0; i < task->graph->notes.len; i++)
        if (task->graph->notes.at[i] != plan_rounds)
            buf_printf(out, "  read      %s\n", task->graph->notes.at[i]);
    for (uint32_t i = 0; i < task->looks.len; i++)
        if (is_first(task, i))
            buf_printf(
                out,
                "  read      line %u: the branch that the drawn values choose; the kernel has "
                "no other\n",
                task->looks.at[i].at.line);
}

void make_show(const MakeMade *made, const MakeManner *manner, Buf *out)
{
    const MakeResult *r = &made->result;
    show_head(made, manner, out);
    show_reading(r, out);
    show_checks(r, manner, out);
    if (made->ok) {
        show_time(r, out);
        show_rule(r, out);
    } else {
        buf_puts(out, "  NOT GOOD  nothing is written, because of:\n");
        show_failures(r, manner, out);
    }
    buf_puts(out, "  measured  nothing: no board has run this kernel\n");
}
