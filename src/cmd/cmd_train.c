/* acraft train: trains the language model (`sft`; `rft`, `dpo` and `grpo` on its own judged answers), with `tokenizer` and
 * `pack` to prepare its data. */
#include "cmd/train.h"

#include "nn/checkpoint.h"
#include "nn/dpo.h"
#include "nn/infer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool train_in_range(const char *name, int64_t value, int64_t least, int64_t most)
{
    if (value >= least && value <= most)
        return true;
    fprintf(stderr, "acraft train: --%s is %lld; it may be %lld to %lld\n", name, (long long)value,
            (long long)least, (long long)most);
    return false;
}

bool train_in_interval(const char *name, double value, double least, double most)
{
    if (value >= least && value <= most)
        return true;
    fprintf(stderr, "acraft train: --%s is %g; it may be %g to %g\n", name, value, least, most);
    return false;
}

static bool numbers_are_right(const TrainArgs *a)
{
    const int64_t most = 1 << 24;
    bool ok = train_in_range("batch", a->batch, 1, 65536) &&
              train_in_range("seq", a->seq, 1, most) &&
              train_in_range("accumulate", a->accumulate, 1, 65536) &&
              train_in_range("steps", a->steps, 0, (int64_t)1 << 40) &&
              train_in_range("warmup", a->warmup, 0, a->steps ? a->steps : most) &&
              train_in_range("save-every", a->save_every, 0, (int64_t)1 << 40) &&
              train_in_range("evaluate-every", a->evaluate_every, 0, (int64_t)1 << 40) &&
              train_in_range("layers", a->layers, 1, 1024) &&
              train_in_range("width", a->width, 1, 1 << 20) &&
              train_in_range("heads", a->heads, 1, 4096) &&
              train_in_range("kv-heads", a->kv_heads, 1, 4096) &&
              train_in_range("head-dim", a->head_dim, 2, 1024) &&
              train_in_range("ffn", a->ffn, 1, 1 << 20) &&
              train_in_range("context", a->context, 1, most) &&
              train_in_range("vocab", a->vocab, 1, 1 << 20) &&
              train_in_range("lora", a->lora, 0, 1024);
    if (!ok)
        return false;
    return train_in_interval("rate", a->rate, 1e-12, 10) &&
           train_in_interval("last-rate", a->last_rate, 0, 1) &&
           train_in_interval("decay", a->decay, 0, 1e6) &&
           train_in_interval("clip", a->clip, 0, 1e12) &&
           train_in_interval("lora-alpha", a->lora_alpha, 1e-6, 1e6);
}

static void print_line(void *context, Str line)
{
    (void)context;
    printf("%.*s\n", STR_ARG(line));
    fflush(stdout);
}

static NnConfig config_from(const TrainArgs *a, const Bpe *bpe)
{
    NnConfig c = nn_config_default();
    c.layers = (uint32_t)a->layers;
    c.width = (uint32_t)a->width;
    c.heads = (uint32_t)a->heads;
    c.kv_heads = (uint32_t)a->kv_heads;
    c.head_dim = (uint32_t)a->head_dim;
    c.ffn = (uint32_t)a->ffn;
    c.context = (uint32_t)a->context;
    c.vocab = (uint32_t)a->vocab;
    if (bpe && bpe_size(bpe) > c.vocab) /* rows for every token, in whole 64s */
        c.vocab = (bpe_size(bpe) + 63) / 64 * 64;
    return c;
}

/* The checkpoint of --start or of the run to go on with, or first weights. Adapters always belong to --start. */
static bool first_model(CmdArgs *args, const TrainArgs *a, const Bpe *bpe, NnModel *model,
                        Diag *diag)
{
    const char *state = path_join(&args->arena, a->out, "state.safetensors");
    const char *from = file_exists(state) && !a->lora ? a->out : a->start;
    if (from)
        return nn_checkpoint_load(&args->arena, from, model, diag);
    NnConfig config = config_from(a, bpe);
    if (!nn_config_check(&config, diag))
        return false;
    *model = nn_open(&args->arena, &config);
    nn_init(model, (uint64_t)args->seed);
    return true;
}

bool train_write_int8(const char *path, const NnModel *model, Diag *diag)
{
    if (!path)
        return true;
    NnInfer *infer = nn_infer_make(model);
    bool ok = nn_infer_save(infer, path, diag);
    nn_infer_close(infer);
    return ok;
}

NnTraining train_spec(const CmdArgs *args, const TrainArgs *a, const NnDevice *device,
                      const char *dir)
{
    NnTraining t = {.device = device,
                    .dir = dir,
                    .batch = (uint32_t)a->batch,
                    .seq = (uint32_t)a->seq,
                    .accumulate = (uint32_t)a->accumulate,
                    .steps = (uint64_t)a->steps,
                    .warmup = (uint64_t)a->warmup,
                    .save_every = (uint64_t)a->save_every,
                    .evaluate_every = (uint64_t)a->evaluate_every,
                    .adam = nn_adam_default(),
                    .clip = a->clip,
                    .last_rate = a->last_rate,
                    .lora = (uint32_t)a->lora,
                    .lora_alpha = a->lora_alpha,
                    .start = a->start,
                    .seed = (uint64_t)args->seed,
                    .report = print_line};
    t.adam.rate = a->rate;
    t.adam.decay = a->decay;
    return t;
}

static bool train_sft(CmdArgs *args, const TrainArgs *a, const Bpe *bpe, const NnDevice *device,
                      Diag *diag)
{
    NnData data, held_out;
    NnModel model;
    bool ok = nn_data_read(&args->arena, a->data, bpe, &data, diag) &&
              (!a->held_out || nn_data_read(&args->arena, a->held_out, bpe, &held_out, diag)) &&
              first_model(args, a, bpe, &model, diag);
    if (!ok)
        return false;
    NnTraining t = train_spec(args, a, device, a->out);
    t.data = &data;
    t.held_out = a->held_out ? &held_out : NULL;
    ok = nn_train(&t, &model, diag) && train_write_int8(a->int8, &model, diag);
    nn_close(&model);
    return ok;
}

/* The model is that of --start even where a run goes on: the others are compared with it. */
static int run_dpo(CmdArgs *args, const TrainArgs *a, const Bpe *bpe, const NnDevice *device,
                   Diag *diag)
{
    NnPairs pairs;
    NnModel model;
    if (!a->start || !bpe || a->held_out) {
        fprintf(stderr, "acraft train dpo: needs --start CHECKPOINT and --tokenizer FILE, and has "
                        "no --held-out\n");
        return CMD_USAGE;
    }
    if (!train_in_interval("beta", a->beta, 1e-6, 100) || !train_in_interval("nll", a->nll, 0, 100))
        return CMD_USAGE;
    if (!nn_pairs_read(&args->arena, a->data, bpe, (uint32_t)a->seq, &pairs, diag) ||
        !nn_checkpoint_load(&args->arena, a->start, &model, diag))
        return cmd_say(diag, CMD_USAGE);
    pairs.beta = a->beta;
    pairs.nll = a->nll;
    fprintf(stderr, "%u pairs, %llu longer than %lld tokens\n", pairs.all.len,
            (unsigned long long)pairs.dropped, (long long)a->seq);
    NnTraining t = train_spec(args, a, device, a->out);
    NnLessons lessons = nn_pairs_lessons(&pairs);
    t.lessons = &lessons;
    bool ok = nn_train(&t, &model, diag) && train_write_int8(a->int8, &model, diag);
    nn_close(&model);
    return ok ? CMD_OK : cmd_say(diag, CMD_USAGE);
}

static int run_training(CmdArgs *args, const TrainArgs *a, const Bpe *bpe, Diag *diag)
{
    const char *what = args->words[0];
    if (!a->out) {
        fprintf(stderr, "acraft train %s: say with -o in which directory the run lives\n", what);
        return CMD_USAGE;
    }
    if (a->lora && !a->start) {
        fprintf(stderr,
                "acraft train %s: --lora needs --start CHECKPOINT, which the adapters "
                "belong to\n",
                what);
        return CMD_USAGE;
    }
    const NnDevice *device = nn_device_find(a->device, diag);
    if (!device)
        return cmd_say(diag, CMD_LACKS);
    if (!strcmp(what, "dpo"))
        return run_dpo(args, a, bpe, device, diag);
    if (!strcmp(what, "rft") || !strcmp(what, "grpo"))
        return train_rounds(args, a, bpe, device, diag);
    return train_sft(args, a, bpe, device, diag) ? CMD_OK : cmd_say(diag, CMD_USAGE);
}

/* Text of the rows of a JSON Lines file, each file one text: the tokenizer counts words only. */
static int run_tokenizer(CmdArgs *args, const TrainArgs *a, Diag *diag)
{
    static const char *const specials[] = {"<|endoftext|>"};
    Str text;
    Buf out = {0};
    if (!a->out || !file_read(&args->arena, a->data, 0, &text, diag)) {
        if (!a->out)
            fprintf(stderr, "acraft train tokenizer: say with -o where tokenizer.json goes\n");
        return a->out ? cmd_say(diag, CMD_USAGE) : CMD_USAGE;
    }
    BpeTraining training = {&text, 1, specials, 1, (uint32_t)a->vocab};
    Bpe *bpe = bpe_train(&training, diag);
    if (bpe)
        bpe_print(bpe, &out);
    bool ok = bpe && file_write(a->out, buf_view(&out), diag);
    if (ok)
        printf("%u tokens: %s\n", bpe_size(bpe), a->out);
    bpe_close(bpe);
    buf_free(&out);
    return ok ? CMD_OK : cmd_say(diag, CMD_USAGE);
}

static int run_pack(CmdArgs *args, const TrainArgs *a, const Bpe *bpe, Diag *diag)
{
    NnData data;
    if (!a->out || !bpe) {
        fprintf(stderr, "acraft train pack: needs --tokenizer FILE and -o FILE\n");
        return CMD_USAGE;
    }
    if (!nn_data_read(&args->arena, a->data, bpe, &data, diag) ||
        !nn_data_write(a->out, &data, bpe_size(bpe), diag))
        return cmd_say(diag, CMD_USAGE);
    printf("%llu tokens: %s\n", (unsigned long long)data.count, a->out);
    return CMD_OK;
}

static int run_train(CmdArgs *args, TrainArgs *a)
{
    Diag diag = diag_make(&args->arena, args->words[1], STR(""));
    const char *what = args->words[0];
    if (strcmp(what, "sft") && strcmp(what, "rft") && strcmp(what, "dpo") && strcmp(what, "grpo") &&
        strcmp(what, "tokenizer") && strcmp(what, "pack")) {
        fprintf(stderr, "acraft train: '%s' is none of sft, rft, dpo, grpo, tokenizer, pack\n",
                what);
        return CMD_USAGE;
    }
    if (a->rate < 0)
        a->rate = !strcmp(what, "dpo") || !strcmp(what, "grpo") ? 1e-5 : 1e-3;
    if (a->steps < 0)
        a->steps = strcmp(what, "grpo") ? 1000 : 0;
    if (!a->steps && strcmp(what, "grpo")) {
        fprintf(stderr, "acraft train: --steps is 0; it is at least 1\n");
        return CMD_USAGE;
    }
    if (a->warmup < 0)
        a->warmup = a->steps / 10 < 20 ? a->steps / 10 : 20;
    if (!numbers_are_right(a))
        return CMD_USAGE;
    a->data = args->words[1];
    if (!strcmp(what, "tokenizer"))
        return run_tokenizer(args, a, &diag);
    Bpe *bpe = a->tokenizer ? bpe_open(a->tokenizer, &diag) : NULL;
    if (a->tokenizer && !bpe)
        return cmd_say(&diag, CMD_USAGE);
    int status = !strcmp(what, "pack") ? run_pack(args, a, bpe, &diag)
                                       : run_training(args, a, bpe, &diag);
    bpe_close(bpe);
    return status;
}

int cmd_train(int argc, char **argv)
{
    TrainArgs a = {.device = "cpu", .layers = 8, .width = 512, .heads = 8, .kv_heads = 4};
    a.head_dim = 64;
    a.ffn = 1600;
    a.context = a.vocab = 2048;
    a.batch = 8;
    a.seq = 1024;
    a.accumulate = 1;
    a.steps = a.warmup = -1;
    a.save_every = a.evaluate_every = 100;
    a.rate = -1;
    a.last_rate = a.decay = 0.1;
    a.clip = a.nll = 1;
    a.rounds = 1;
    a.beta = 0.1;
    a.ratio_low = 3e-4;
    a.ratio_high = 4e-4;
    a.samples = 8;
    a.tasks = 1000;
    a.temperature = 0.7;
    a.lora_alpha = 16;
    const CmdOption options[] = {
        {"o", CMD_TEXT, &a.out, "PATH", "where the run lives (sft), or the file written"},
        {"tokenizer", CMD_TEXT, &a.tokenizer, "FILE", "tokenizer.json, for JSON Lines"},
        {"held-out", CMD_TEXT, &a.held_out, "FILE", "data whose loss is printed, never learnt"},
        {"start", CMD_TEXT, &a.start, "PATH", "checkpoint to start from (random weights)"},
        {"device", CMD_TEXT, &a.device, "NAME", "cpu or cuda (cpu)"},
        {"int8", CMD_TEXT, &a.int8, "FILE", "write the result as int8 weights, too"},
        {"", CMD_HEAD, NULL, NULL, "the run"},
        {"steps", CMD_I64, &a.steps, "N", "optimiser steps (1000; grpo: one pass)"},
        {"batch", CMD_I64, &a.batch, "N", "sequences at once (8)"},
        {"seq", CMD_I64, &a.seq, "N", "tokens of a sequence (1024)"},
        {"accumulate", CMD_I64, &a.accumulate, "N", "batches of a step (1)"},
        {"rate", CMD_F64, &a.rate, "R", "learning rate (0.001; dpo and grpo: 0.00001)"},
        {"last-rate", CMD_F64, &a.last_rate, "R", "its last value, as a share (0.1)"},
        {"warmup", CMD_I64, &a.warmup, "N", "steps in which the rate rises (20, or a tenth)"},
        {"decay", CMD_F64, &a.decay, "D", "weight decay of matrices (0.1)"},
        {"clip", CMD_F64, &a.clip, "C", "largest norm of the gradients; 0: none (1)"},
        {"save-every", CMD_I64, &a.save_every, "N", "steps between states on disk (100)"},
        {"evaluate-every", CMD_I64, &a.evaluate_every, "N", "steps between held-out losses (100)"},
        {"lora", CMD_I64, &a.lora, "RANK",
         "learn low-rank adapters of --start, saved for PEFT, too"},
        {"lora-alpha", CMD_F64, &a.lora_alpha, "A", "adapters count A / RANK times (16)"},
        {"", CMD_HEAD, NULL, NULL, "dpo"},
        {"beta", CMD_F64, &a.beta, "B", "how far the model may go from the start (0.1)"},
        {"nll", CMD_F64, &a.nll, "W", "weight of the chosen answer's own loss (1)"},
        {"", CMD_HEAD, NULL, NULL, "rft and grpo"},
        {"rounds", CMD_I64, &a.rounds, "N", "of sampling and learning (1)"},
        {"n", CMD_I64, &a.samples, "N", "answers to a task (8)"},
        {"most", CMD_I64, &a.tasks, "N", "tasks, the first of the file (1000)"},
        {"temperature", CMD_F64, &a.temperature, "T", "of the answers (0.7)"},
        {"mix", CMD_TEXT, &a.mix, "FILE", "rft: data that are learnt beside the right answers"},
        {"ratio-low", CMD_F64, &a.ratio_low, "L",
         "grpo: answers become less likely by L at most (0.0003)"},
        {"ratio-high", CMD_F64, &a.ratio_high, "H", "grpo: ... or likelier by H (0.0004)"},
        {"j", CMD_I64, &a.jobs, "N", "processes that draw and judge (one for each processor)"},
        {"", CMD_HEAD, NULL, NULL, "a new model"},
        {"layers", CMD_I64, &a.layers, "N", "(8)"},
        {"width", CMD_I64, &a.width, "N", "(512)"},
        {"heads", CMD_I64, &a.heads, "N", "(8)"},
        {"kv-heads", CMD_I64, &a.kv_heads, "N", "(4)"},
        {"head-dim", CMD_I64, &a.head_dim, "N", "(64)"},
        {"ffn", CMD_I64, &a.ffn, "N", "(1600)"},
        {"context", CMD_I64, &a.context, "N", "(2048)"},
        {"vocab", CMD_I64, &a.vocab, "N", "rows of the embedding, size of a tokenizer (2048)"},
    };
    CmdUsage usage = {
        "train",
        "sft|rft|dpo|grpo|tokenizer|pack DATA -o PATH",
        "Trains the language model on rows with \"text\" or \"prompt\" and "
        "\"completion\" (JSON Lines),\nor on packed tokens. Each step is one JSON line; "
        "the same command goes on with a stopped run.\nrft asks the model for kernels to rows, "
        "judges them and learns the right ones; grpo learns all of them by what\nthey are worth "
        "beside "
        "the others to the same question; dpo learns from pairs\n(\"prompt\", \"chosen\", "
        "\"rejected\", or the samples of rft, of grpo and of acraft data score --keep).",
        "acraft train sft rows.jsonl --tokenizer tokenizer.json -o run --steps 200",
        options,
        sizeof options / sizeof *options,
        2,
        2};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = run_train(&args, &a);
    cmd_done(&args);
    return status;
}
