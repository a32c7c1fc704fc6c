/* Passing over what repeats changes no answer: examples timed without values with and
 * without memo, give the same cycles, pipes and findings. T_ALL=1 takes every example. */
#include "craft/craft.h"
#include "eval/time.h"
#include "ir/run.h"

#include "base/file.h"
#include "tests/t.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t pick_dim(const IrVar *v, int64_t wish)
{
    int64_t n = (wish + v->multiple - 1) / v->multiple * v->multiple;
    n = n < v->lo ? v->lo : n;
    return n > v->hi ? v->hi / v->multiple * v->multiple : n;
}

/* An example with its operands at some size, as values of a graph that has nothing else. */
typedef struct Example {
    Arena *arena;
    EvalCraft craft;
    EvalOperand *operands;
    Graph *graph;
} Example;

static bool give_operand(Example *e, const IrProgram *p, const NpuChip *chip, const int64_t *dims,
                         uint32_t i)
{
    const IrTensor *t = &p->tensors.at[i];
    IrData shape = {0};
    if (t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST ||
        !ir_operand_shape(p, chip, dims, NULL, NULL, i, &shape))
        return false;
    Value value = {.dtype = t->dtype, .shape = {.rank = (int)shape.rank}};
    for (uint32_t d = 0; d < shape.rank; d++)
        value.shape.dim[d] = shape.dims[d];
    e->operands[i] = (EvalOperand){.value = graph_add_value(e->graph, value), .shape = value.shape};
    return true;
}

/* False: it takes lists, which the timer has no form for. */
static bool size_example(Example *e, const IrProgram *p, const NpuChip *chip, double elements)
{
    int64_t *dims = arena_array(e->arena, int64_t, p->dims.len + 1);
    int64_t wish = (int64_t)pow(elements, 1.0 / (p->dims.len ? p->dims.len : 1));
    for (uint32_t i = 0; i < p->dims.len; i++)
        dims[i] = pick_dim(&p->vars.at[p->dims.at[i]], wish + (int64_t)i * 3);
    e->graph = graph_new(e->arena, "example");
    e->operands = arena_array(e->arena, EvalOperand, p->operand_count + 1);
    for (uint32_t i = 0; i < p->operand_count; i++)
        if (!give_operand(e, p, chip, dims, i))
            return false;
    e->craft.operands = e->operands;
    e->craft.operand_count = p->operand_count;
    return true;
}

static Verdict time_example(Example *e, bool no_memo)
{
    EvalConfig config = {
        .chip = npu_chip_find(STR("910B2")), .trust = true, .no_memo = no_memo, .seconds = 300};
    Verdict v = verdict_make();
    Diag diag = diag_make(e->arena, e->craft.file, e->craft.text);
    EvalTimer *t = eval_timer_open(e->arena, &e->craft, e->graph, &config, &v, &diag);
    if (t)
        eval_timer_run(e->arena, t, e->operands, NULL, 0, &v);
    eval_timer_close(t);
    return v;
}

static bool equal(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void check_same(const char *path, double elements, const Verdict *a, const Verdict *b)
{
    CHECK_MSG(a->status == b->status && a->cycles == b->cycles &&
                  equal(a->predicted_us, b->predicted_us) && a->hazards.len == b->hazards.len &&
                  a->pipes.len == b->pipes.len,
              "%s at %g: %s, %llu cycles, %u findings; without memo %s, %llu, %u", path, elements,
              verdict_status_row(a->status)->text, (unsigned long long)a->cycles, a->hazards.len,
              verdict_status_row(b->status)->text, (unsigned long long)b->cycles, b->hazards.len);
    for (uint32_t i = 0; i < a->pipes.len && i < b->pipes.len; i++)
        CHECK_MSG(a->pipes.at[i].cycles == b->pipes.at[i].cycles, "%s at %g: %s", path, elements,
                  a->pipes.at[i].name);
    for (uint32_t i = 0; i < a->hazards.len && i < b->hazards.len; i++) {
        const VerdictFinding *x = &a->hazards.at[i], *y = &b->hazards.at[i];
        CHECK_EQ_STR(x->message, y->message);
        CHECK(x->line == y->line && x->count == y->count && strcmp(x->code, y->code) == 0);
    }
}

/* Whether it was timed. */
static bool check_example(const char *path, double elements)
{
    Arena arena = {0};
    Example e = {.arena = &arena, .craft = {.file = path}};
    Diag diag = diag_make(&arena, path, STR(""));
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    REQUIRE(file_read(&arena, path, 0, &e.craft.text, &diag));
    diag = diag_make(&arena, path, e.craft.text);
    CraftFile *file = craft_read(&arena, path, e.craft.text, &diag);
    IrProgram *p = file ? craft_program(&arena, file, 0, &diag) : NULL;
    REQUIRE(p);
    bool timed = size_example(&e, p, chip, elements);
    if (timed) {
        Verdict memo = time_example(&e, false), plain = time_example(&e, true);
        if (memo.status != VERDICT_TIMEOUT && plain.status != VERDICT_TIMEOUT) /* a busy machine */
            check_same(path, elements, &memo, &plain);
        timed = memo.status == VERDICT_OK;
    }
    arena_drop(&arena);
    return timed;
}

/* Every fourth example; without T_ALL only few of them. */
static void check_examples(uint32_t first)
{
    enum { PARTS = 4, FEW = 14 };
    Arena arena = {0};
    Diag diag = diag_make(&arena, "examples", STR(""));
    NameList names = {0};
    uint32_t timed = 0, looked = 0;
    bool all = getenv("T_ALL") != NULL;
    REQUIRE(file_list(&arena, "examples", &names, &diag));
    for (uint32_t i = first; i < names.len; i += PARTS) {
        if (!str_ends(str_from(names.at[i]), ".craft") || (!all && i % FEW != 1))
            continue;
        looked++;
        timed += check_example(path_join(&arena, "examples", names.at[i]), 1e6);
    }
    CHECK_MSG(2 * timed >= looked, "%u of %u examples timed", timed, looked);
    arena_drop(&arena);
}

T_TEST(memo_changes_no_answer_of_the_examples_0) { check_examples(0); }
T_TEST(memo_changes_no_answer_of_the_examples_1) { check_examples(1); }
T_TEST(memo_changes_no_answer_of_the_examples_2) { check_examples(2); }
T_TEST(memo_changes_no_answer_of_the_examples_3) { check_examples(3); }
