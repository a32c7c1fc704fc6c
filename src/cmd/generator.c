/* Who writes the kernel: from options to a generator. */
#include "cmd/generator.h"

#include "gen/exec.h"
#include "gen/local/local.h"
#include "gen/remote/profile.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

GenOptions gen_options(void)
{
    return (GenOptions){.gen = "plan",
                        .temperature = NAN,
                        .top_p = NAN,
                        .max_tokens = -1,
                        .gen_seed = -1,
                        .strategy = "craft",
                        .turns = 3};
}

void gen_list_strategies(FILE *out)
{
    for (int i = 0; i < PROMPT_STRATEGY_COUNT; i++) {
        const PromptStrategyRow *row = prompt_strategy_row((PromptStrategy)i);
        fprintf(out, "  %-13s %s\n", row->name, row->meaning);
    }
}

bool gen_strategy(const GenOptions *o, PromptStrategy *strategy)
{
    if (!prompt_strategy_from_name(str_from(o->strategy), strategy)) {
        if (strcmp(o->strategy, "list") != 0)
            fprintf(stderr, "acraft: no prompt strategy is called '%s'\n", o->strategy);
        gen_list_strategies(stderr);
        return false;
    }
    if (!strcmp(o->gen, "local") && *strategy == PROMPT_CRAFT)
        *strategy = PROMPT_ROWS;
    if (o->direct && *strategy <= PROMPT_CRAFT_BARE)
        *strategy = PROMPT_ASCENDC;
    else if (o->no_exemplars && *strategy == PROMPT_CRAFT)
        *strategy = PROMPT_CRAFT_BARE;
    return true;
}

bool gen_is_plan(const GenOptions *options) { return !strcmp(options->gen, "plan"); }

uint32_t gen_turns(const GenOptions *o)
{
    return o->no_repair || o->turns < 0 ? 0 : o->turns > 100 ? 100 : (uint32_t)o->turns;
}

static ClientConfig config_of(Arena *arena, const GenOptions *o)
{
    ClientConfig c = {.params = wire_params(o->model),
                      .parallel = o->requests > 0 ? (uint32_t)o->requests : 0,
                      .tries = o->tries > 0 ? (uint32_t)o->tries : 0,
                      .request_seconds = o->request_seconds,
                      .requests_per_minute = o->per_minute,
                      .budget_seconds = o->budget_seconds,
                      .budget_tokens = o->budget_tokens,
                      .budget_cost = o->budget_cost,
                      .record = o->record};
    WireParams *p = &c.params;
    p->temperature = o->temperature;
    p->top_p = o->top_p;
    p->max_tokens = o->max_tokens;
    p->seed = o->gen_seed;
    p->extra = str_from(o->extra);
    /* NPUKernelBench asks by raw completions that begin with a thought. */
    PromptStrategy strategy = PROMPT_CRAFT;
    prompt_strategy_from_name(str_from(o->strategy), &strategy);
    p->think = o->clone && (strategy == PROMPT_NPUKB_KERNEL || strategy == PROMPT_NPUKB_FULL);
    p->api = o->raw || p->think ? WIRE_COMPLETIONS : WIRE_CHAT;
    for (uint32_t i = 0; i < o->stop.len; i++)
        vec_push(arena, &p->stop, o->stop.at[i]);
    return c;
}

static bool open_remote(Arena *arena, const GenOptions *o, Generator *g, Client **client,
                        Diag *diag)
{
    ClientConfig c = config_of(arena, o);
    ProfileWish wish = {o->profiles, o->url, o->model, o->key_file, o->key_env};
    if (o->replay)
        wish.url = "http://replayed/"; /* nothing is sent there */
    if (!profile_find(arena, &wish, &c, diag))
        return false;
    if (o->replay)
        return replay_open(arena, o->replay, &c.params, g, diag);
    *client = client_open(&c, diag);
    if (*client)
        *g = client_generator(*client);
    return *client != NULL;
}

/* --weights, $ACRAFT_WEIGHTS, or what is installed. */
static bool open_local(Arena *arena, const GenOptions *o, const char *chip, Generator *g,
                       Diag *diag)
{
    const char *given = o->weights ? o->weights : getenv("ACRAFT_WEIGHTS");
    const char *home = cmd_home(arena);
    if (!given && home)
        given = path_join(arena, home, "weights/model.safetensors");
    LocalDecode decode = o->no_mask ? LOCAL_FREE : LOCAL_AGAIN;
    if (o->decode && !local_decode_find(o->decode, &decode)) {
        diag_error(diag, "M011", (Span){0}, "--decode is free, mask, lines or again, not '%s'",
                   o->decode);
        return false;
    }
    LocalSpec spec = {.weights = given ? given : "weights/model.safetensors",
                      .temperature = isnan(o->temperature) ? 0.7 : o->temperature,
                      .likely_first = isnan(o->temperature),
                      .decode = decode,
                      .chip = npu_chip_find(str_from(chip)),
                      .top_p = isnan(o->top_p) ? 0.95 : o->top_p,
                      .most = o->max_tokens > 0 ? (uint32_t)o->max_tokens : 0,
                      .seed = o->gen_seed > 0 ? (uint64_t)o->gen_seed : 0};
    return local_open(arena, &spec, g, diag);
}

bool gen_open(Arena *arena, const GenOptions *o, const char *chip, Generator *g, Client **client,
              Diag *diag)
{
    Str who = str_from(o->gen);
    *client = NULL;
    if (str_starts(who, "exec ") || str_starts(who, "exec:")) {
        *g = exec_generator(arena, o->gen + 5, o->request_seconds);
        return true;
    }
    if (str_is(who, "remote"))
        return open_remote(arena, o, g, client, diag);
    if (str_is(who, "local"))
        return open_local(arena, o, chip, g, diag);
    diag_error(diag, "M011", (Span){0}, "no generator is called '%s'", o->gen);
    diag_hint(diag, "plan, local, remote, or \"exec CMD\"");
    return false;
}

const char *gen_settings(Arena *arena, const GenOptions *o)
{
    Buf out = {0};
    if (o->no_mask)
        buf_puts(&out, ", \"mask\": false");
    if (o->decode)
        buf_printf(&out, ", \"decode\": \"%s\"", o->decode);
    if (!isnan(o->temperature))
        buf_printf(&out, ", \"temperature\": %g", o->temperature);
    if (!isnan(o->top_p))
        buf_printf(&out, ", \"top_p\": %g", o->top_p);
    if (o->max_tokens >= 0)
        buf_printf(&out, ", \"max_tokens\": %lld", (long long)o->max_tokens);
    if (o->gen_seed >= 0)
        buf_printf(&out, ", \"gen_seed\": %lld", (long long)o->gen_seed);
    if (o->extra) {
        buf_puts(&out, ", \"extra\": ");
        buf_json_str(&out, str_from(o->extra));
    }
    const char *text = out.len ? buf_take(&out, arena) : "";
    buf_free(&out);
    return text;
}

void gen_print_totals(const Client *client)
{
    if (!client)
        return;
    ClientTotals t = client_totals(client);
    fprintf(stderr, "%llu requests, %llu tries, %llu failed; %lld tokens in, %lld out",
            (unsigned long long)t.requests, (unsigned long long)t.tries,
            (unsigned long long)t.failed, (long long)t.prompt_tokens, (long long)t.answer_tokens);
    if (t.unknown_usage)
        fprintf(stderr, " (%llu replies without a count)", (unsigned long long)t.unknown_usage);
    if (t.replayed)
        fprintf(stderr, "; %llu answers from an earlier recording", (unsigned long long)t.replayed);
    if (t.cost > 0)
        fprintf(stderr, "; cost %.4f", t.cost);
    fprintf(stderr, "; %.1f s\n", t.seconds);
}
