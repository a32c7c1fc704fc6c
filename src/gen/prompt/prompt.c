/* The strategies: which pieces a prompt has, in which order. */
#include "gen/prompt/prompt.h"

#include "gen/plan/plan.h"
#include "gen/prompt/exemplar.h"
#include "gen/prompt/prompt_int.h"
#include "gen/prompt/tokens.h"

static const PromptStrategyRow rows[] = {
#define STRATEGY(name, text, form, exemplars, meaning) {text, form, exemplars, meaning},
#include "gen/prompt/strategy.def"
#undef STRATEGY
};

const PromptStrategyRow *prompt_strategy_row(PromptStrategy strategy) { return &rows[strategy]; }

bool prompt_strategy_from_name(Str name, PromptStrategy *strategy)
{
    for (int i = 0; i < PROMPT_STRATEGY_COUNT; i++)
        if (str_is(name, rows[i].name)) {
            *strategy = (PromptStrategy)i;
            return true;
        }
    return false;
}

void prompt_say(Arena *arena, Prompt *prompt, ChatRole role, Buf *text)
{
    Str copy = str_copy(arena, buf_view(text));
    vec_push(arena, &prompt->messages, ((ChatMessage){role, copy}));
    buf_free(text);
}

/* ---- pieces ---- */

static void add_fence(Buf *out, const char *language, Str text)
{
    buf_printf(out, "```%s\n%.*s%s```\n", language, STR_ARG(text),
               str_ends(text, "\n") ? "" : "\n");
}

static void add_value(Buf *out, const Graph *g, ValueId id, const char *role)
{
    const Value *v = graph_value(g, id);
    buf_printf(out, "- %s%s%s: %s", role, v->name ? " " : "", v->name ? v->name : "",
               dtype_name(v->dtype));
    shape_print(v->shape, out);
    buf_char(out, '\n');
}

static void add_shapes(Buf *out, const Graph *g)
{
    for (uint32_t i = 0; i < g->inputs.len; i++)
        add_value(out, g, g->inputs.at[i], "input");
    for (uint32_t i = 0; i < g->params.len; i++)
        add_value(out, g, g->params.at[i], "parameter");
    for (uint32_t i = 0; i < g->outputs.len; i++)
        add_value(out, g, g->outputs.at[i], "output");
}

static void add_chip(Buf *out, const NpuChip *chip)
{
    buf_printf(out, "Chip %s: %u vector cores, %u KiB of UB each, %.2f TB/s of memory bandwidth.\n",
               chip->name, chip->aiv, chip->ub / 1024, chip->gm_tbps);
}

void prompt_add_task(Buf *out, const PromptSpec *spec)
{
    buf_printf(out, "# The task: %s\n\nThis %s says what is to be computed:\n\n", spec->task,
               spec->graph ? "PyTorch model" : "text");
    add_fence(out, spec->graph ? "python" : "text", spec->task_text);
    if (spec->graph) {
        buf_puts(out, "\nOperands, in this order, at the sizes that will be timed:\n\n");
        add_shapes(out, spec->graph);
    } else {
        buf_puts(out, "\nIts operands are those that the text names, in its order.\n");
    }
    buf_char(out, '\n');
    add_chip(out, spec->chip);
}

static bool add_exemplars(Arena *arena, const PromptSpec *spec, uint32_t most, Prompt *prompt,
                          Buf *out, Diag *diag)
{
    Exemplars all = {0}, chosen = {0};
    if (!most)
        return true;
    if (!exemplars_read(arena, path_join(arena, spec->home, "examples/exemplars"), &all, diag))
        return false;
    /* What the planner would write is the nearest thing to an answer key. */
    Diag quiet = diag_make(arena, spec->task, spec->task_text);
    Plan plan = {0};
    bool planned = spec->graph && plan_make(arena, spec->graph, spec->chip, 0, &plan, &quiet);
    exemplars_choose(arena, &all, spec->category, spec->graph ? exemplar_pattern(spec->graph) : "",
                     planned ? plan.craft : (Str){0}, most, &chosen);
    for (uint32_t i = 0; i < chosen.len; i++) {
        const Exemplar *e = &chosen.at[i];
        buf_printf(out, "# Example %u\n\nThe model:\n\n", i + 1);
        add_fence(out, "python", e->task);
        buf_puts(out, "\nIts kernel in Craft:\n\n");
        add_fence(out, "craft", e->craft);
        buf_char(out, '\n');
        vec_push(arena, &prompt->exemplars, e->name);
    }
    return true;
}

/* ---- strategies of ours ---- */

static bool craft_prompt(Arena *arena, const PromptSpec *spec, Prompt *prompt, Diag *diag)
{
    Str reference;
    if (!file_read(arena, path_join(arena, spec->home, "docs/craft.md"), 0, &reference, diag))
        return false;
    Buf system = {0}, user = {0};
    buf_puts(&system,
             "You write kernels for Ascend NPUs in Craft, a small language with Python's syntax. "
             "Its whole reference follows. A compiler checks every program and proves its bounds; "
             "what you are told about an earlier attempt comes from it and from a run of the "
             "kernel.\n\n");
    buf_str(&system, reference);
    bool ok = add_exemplars(arena, spec, rows[spec->strategy].exemplars, prompt, &user, diag);
    prompt_add_task(&user, spec);
    buf_puts(&user,
             "\n# Your answer\n\nWrite one complete Craft program for it. The host function takes "
             "the operands above in that order: inputs and parameters as gm, outputs as out. It "
             "must be right for every size its dim() ranges allow, with tails of any length, and "
             "as fast as the memory permits. Think first; then give the whole program in one "
             "fenced block, and nothing after it.\n");
    prompt_say(arena, prompt, CHAT_SYSTEM, &system);
    prompt_say(arena, prompt, CHAT_USER, &user);
    return ok;
}

static bool ascendc_prompt(Arena *arena, const PromptSpec *spec, Prompt *prompt)
{
    Buf system = {0}, user = {0};
    buf_puts(&system, "You write kernels for Ascend NPUs in AscendC, the C++ API of CANN.\n");
    prompt_add_task(&user, spec);
    buf_printf(
        &user,
        "\n# Your answer\n\nWrite one C++ file that includes kernel_operator.h and defines "
        "one kernel entry, extern \"C\" __global__ __aicore__, whose parameters are GM_ADDR "
        "for the operands above in that order and nothing else. It is launched on %u vector "
        "cores%s. Lengths and UB addresses of DataCopy are multiples of 32 bytes; DataCopyPad "
        "takes any length. Give the whole file in one fenced block.\n",
        spec->chip->aiv,
        spec->graph ? " for exactly these shapes, so sizes are constants in the code" : "");
    prompt_say(arena, prompt, CHAT_SYSTEM, &system);
    prompt_say(arena, prompt, CHAT_USER, &user);
    return true;
}

bool prompt_needs_graph(PromptStrategy strategy)
{
    return strategy > PROMPT_CRAFT_BARE && strategy != PROMPT_ASCENDC;
}

bool prompt_make(Arena *arena, const PromptSpec *spec, Prompt *prompt, Diag *diag)
{
    prompt->form = rows[spec->strategy].form;
    bool ok = spec->strategy <= PROMPT_CRAFT_BARE ? craft_prompt(arena, spec, prompt, diag)
              : spec->strategy == PROMPT_ASCENDC  ? ascendc_prompt(arena, spec, prompt)
              : spec->strategy == PROMPT_ROWS     ? prompt_rows(arena, spec, prompt)
                                                  : prompt_original(arena, spec, prompt, diag);
    for (uint32_t i = 0; i < prompt->messages.len; i++)
        prompt->tokens += tokens_estimate(prompt->messages.at[i].text);
    return ok;
}
