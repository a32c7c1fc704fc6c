/* Options that choose who writes the kernel, shared by make, bench and prompt. */
#ifndef CMD_GENERATOR_H
#define CMD_GENERATOR_H

#include "cmd/cmd.h"
#include "gen/prompt/prompt.h"
#include "gen/remote/client.h"
#include <stdio.h>

typedef struct GenOptions {
    const char *gen;     /* "plan", "local", "remote", "exec CMD" */
    const char *weights; /* of local; NULL: those installed */
    const char *url, *model, *key_file, *key_env, *profiles;
    double temperature, top_p;
    int64_t max_tokens, gen_seed, requests, tries;
    double request_seconds, budget_seconds, budget_cost, per_minute;
    int64_t budget_tokens;
    const char *extra;
    NameList stop;
    bool raw;
    const char *record, *replay;
    const char *strategy, *clone;
    int64_t turns;
    bool no_exemplars, no_repair, no_checker, no_mask, direct;
    const char *decode;
} GenOptions;

GenOptions gen_options(void); /* the defaults */

#define GEN_PROMPT_OPTIONS(o)                                                                    \
    {"strategy", CMD_TEXT, &(o).strategy, "S",                                                   \
     "prompt strategy; acraft prompt --strategy list names them"},                               \
        {"clone", CMD_TEXT, &(o).clone, "DIR", "clone of the benchmark whose own prompt it is"}, \
        {"no-exemplars", CMD_FLAG, &(o).no_exemplars, NULL, "ablation: show no exemplars"},      \
    {                                                                                            \
        "direct", CMD_FLAG, &(o).direct, NULL, "ablation: ask for AscendC, not Craft"            \
    }

#define GEN_OPTIONS(o)                                                                          \
    {"gen", CMD_TEXT, &(o).gen, "WHO", "plan (default), local, remote, or \"exec CMD\""},       \
        {"weights", CMD_TEXT, &(o).weights, "FILE", "checkpoint of --gen local"},               \
        {"no-mask", CMD_FLAG, &(o).no_mask, NULL,                                               \
         "ablation: local draws freely, as --decode free"},                                     \
        {"decode", CMD_TEXT, &(o).decode, "HOW",                                                \
         "local: free, mask (grammar, names), lines (faulty ones drawn again), again (answers " \
         "too; default)"},                                                                      \
        {"url", CMD_TEXT, &(o).url, "URL", "server: http://localhost:8000/v1"},                 \
        {"model", CMD_TEXT, &(o).model, "NAME", "model, or a profile of the profile file"},     \
        {"key-file", CMD_TEXT, &(o).key_file, "FILE", "the server's key is its first line"},    \
        {"key-env", CMD_TEXT, &(o).key_env, "VAR", "the server's key is in this variable"},     \
        {"profiles", CMD_TEXT, &(o).profiles, "FILE", "default ~/.config/acraft/models.json"},  \
        {"temperature", CMD_F64, &(o).temperature, "T", "sampling temperature"},                \
        {"top-p", CMD_F64, &(o).top_p, "P", "nucleus sampling"},                                \
        {"max-tokens", CMD_I64, &(o).max_tokens, "N", "longest answer"},                        \
        {"gen-seed", CMD_I64, &(o).gen_seed, "N", "seed sent to the server, plus the sample"},  \
        {"stop", CMD_LIST, &(o).stop, "TEXT", "end the answer there"},                          \
        {"extra", CMD_TEXT, &(o).extra, "JSON", "fields added to the request's body"},          \
        {"raw", CMD_FLAG, &(o).raw, NULL, "raw completions with a ChatML frame, not chat"},     \
        {"requests", CMD_I64, &(o).requests, "N", "requests at once (8)"},                      \
        {"tries", CMD_I64, &(o).tries, "N", "tries of one request (6)"},                        \
        {"request-seconds", CMD_F64, &(o).request_seconds, "S", "longest request (600)"},       \
        {"per-minute", CMD_F64, &(o).per_minute, "N", "most requests in a minute"},             \
        {"budget-seconds", CMD_F64, &(o).budget_seconds, "S", "ask nothing more after that"},   \
        {"budget-tokens", CMD_I64, &(o).budget_tokens, "N", "ask nothing more after so many"},  \
        {"budget-cost", CMD_F64, &(o).budget_cost, "X", "the same, by the profile's prices"},   \
        {"record", CMD_TEXT, &(o).record, "FILE", "keep every exchange"},                       \
        {"replay", CMD_TEXT, &(o).replay, "FILE", "answer from a recording, no network"},       \
        {"turns", CMD_I64, &(o).turns, "N", "repairs after the first answer (3)"},              \
        {"no-repair", CMD_FLAG, &(o).no_repair, NULL, "ablation: one answer, no repair"},       \
        {"no-checker", CMD_FLAG, &(o).no_checker, NULL, "ablation: no proofs before the run"},  \
        GEN_PROMPT_OPTIONS(o)

void gen_list_strategies(FILE *out);
/* The strategy after the ablations; false, with a message, when there is none of that name. */
bool gen_strategy(const GenOptions *options, PromptStrategy *strategy);
bool gen_is_plan(const GenOptions *options);
uint32_t gen_turns(const GenOptions *options);

/* Opens the generator that the options ask for; *client is its client where it has one (for the
 * totals), else NULL. False with the reason in diag. */
bool gen_open(Arena *arena, const GenOptions *options, const char *chip, Generator *generator,
              Client **client, Diag *diag);
/* How answers are sampled, as JSON fields that each begin with a comma. */
const char *gen_settings(Arena *arena, const GenOptions *options);
/* One line on what was asked and spent, to standard error; nothing without a client. */
void gen_print_totals(const Client *client);

#endif
