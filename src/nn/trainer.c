/* The training loop, its state on disk and its curve. */
#include "nn/trainer.h"

#include "base/file.h"
#include "base/rng.h"
#include "nn/checkpoint.h"
#include "nn/lora.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Where the windows of seq + 1 tokens begin. */
typedef struct Windows {
    uint64_t *start;
    uint64_t count;
} Windows;

/* A run in progress. */
typedef struct Run {
    Arena arena;
    const NnTraining *t;
    NnModel *model;
    void *device;
    NnLoraRun *lora;           /* NULL: all weights are learnt */
    uint64_t step;             /* done so far */
    float *scratch;            /* a block that is copied to or from the device */
    int32_t *tokens, *targets; /* [batch, seq] */
    Windows windows, held_out; /* of the data */
    FILE *curve;
    double started;
    uint64_t tokens_seen;
} Run;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double nn_train_rate(const NnTraining *t, uint64_t step)
{
    if (step <= t->warmup)
        return t->adam.rate * (double)step / (double)t->warmup;
    if (step >= t->steps)
        return t->adam.rate * t->last_rate;
    double done = (double)(step - t->warmup) / (double)(t->steps - t->warmup);
    return t->adam.rate * (t->last_rate + (1 - t->last_rate) * 0.5 * (1 + cos(done * M_PI)));
}

/* A row begins where a prompt follows what is learnt. */
static bool begins_row(const NnData *data, uint64_t at)
{
    return data->tokens[at] & NN_MASKED && (!at || !(data->tokens[at - 1] & NN_MASKED));
}

/* The beginning of the row that the token stands in, after `least`; else the token itself. */
static uint64_t row_begin(const NnData *data, uint64_t at, uint64_t least)
{
    uint64_t k = at;
    while (k > least && !begins_row(data, k))
        k--;
    return k > least ? k : at;
}

/* Windows cover the data and begin with a row, so that no answer is learnt without its prompt: a row that
 * does not end within a window begins the next one. Rows longer than a window are cut, and so are data
 * without prompts. Every epoch shuffles the windows anew. */
static Windows find_windows(Arena *arena, const NnData *data, uint32_t seq)
{
    VEC(uint64_t) starts = {0};
    for (uint64_t at = 0; at + seq < data->count; at = row_begin(data, at + seq, at))
        vec_push(arena, &starts, at);
    return (Windows){starts.at, starts.len};
}

/* A permutation of 0 .. count-1 that needs no memory: a Feistel network on the next power of four,
 * walked until it lands inside. */
static uint64_t shuffled(uint64_t index, uint64_t count, uint64_t seed, uint64_t epoch)
{
    uint32_t half = 1;
    while (half < 32 && (uint64_t)1 << 2 * half < count)
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = index >> half, right = index & mask;
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t mixed = left ^ (rng_u64(seed, epoch * 4 + round, right) & mask);
            left = right;
            right = mixed;
        }
        index = left << half | right;
    } while (index >= count);
    return index;
}

static void copy_window(const NnData *data, uint64_t start, uint32_t seq, int32_t *tokens,
                        int32_t *targets)
{
    const uint32_t *at = data->tokens + start;
    for (uint32_t i = 0; i < seq; i++) {
        tokens[i] = (int32_t)(at[i] & ~(uint32_t)NN_MASKED);
        targets[i] = at[i + 1] & NN_MASKED ? -1 : (int32_t)at[i + 1];
    }
}

/* Sequence number `index` of the whole run. */
static void fill_sequence(const Run *r, uint64_t index, uint32_t row)
{
    const NnTraining *t = r->t;
    const Windows *w = &r->windows;
    uint64_t window = shuffled(index % w->count, w->count, t->seed, index / w->count);
    copy_window(t->data, w->start[window], t->seq, r->tokens + (size_t)row * t->seq,
                r->targets + (size_t)row * t->seq);
}

static uint32_t fill_batch(const Run *r, uint64_t step, uint32_t part)
{
    const NnTraining *t = r->t;
    uint64_t first = ((step - 1) * t->accumulate + part) * t->batch;
    for (uint32_t row = 0; row < t->batch; row++)
        fill_sequence(r, first + row, row);
    return nn_target_count(r->targets, t->batch * t->seq);
}

/* Mean loss over the held-out data, whole batches of it. */
static double evaluate(const Run *r)
{
    const NnTraining *t = r->t;
    double sum = 0, count = 0;
    for (uint64_t w = 0; w + t->batch <= r->held_out.count; w += t->batch) {
        for (uint32_t row = 0; row < t->batch; row++)
            copy_window(t->held_out, r->held_out.start[w + row], t->seq,
                        r->tokens + (size_t)row * t->seq, r->targets + (size_t)row * t->seq);
        sum += t->device->evaluate(r->device, r->tokens, r->targets);
        count += nn_target_count(r->targets, t->batch * t->seq);
    }
    return count > 0 ? sum / count : NAN;
}

static bool fail_run(Diag *diag, const char *why)
{
    diag_error(diag, "N007", (Span){0}, "training: %s", why);
    return false;
}

static const char *in_dir(Run *r, const char *name)
{
    return path_join(&r->arena, r->t->dir, name);
}

/* What is learnt, and the moments of it: of the device's model, or of the adapters. */
static const char *const state_names[2][3] = {{"weights", "moment1", "moment2"},
                                              {"adapters", "moment1", "moment2"}};

static void adapter_state(const NnLoraRun *lora, float *state[3])
{
    state[0] = lora->lora.weights;
    state[1] = lora->moment1;
    state[2] = lora->moment2;
}

static bool write_state(Run *r, float *const blocks[3], uint64_t count, Diag *diag)
{
    StTensor tensors[3];
    for (int i = 0; i < 3; i++)
        tensors[i] = (StTensor){str_from(state_names[r->lora != NULL][i]),
                                ST_F32,
                                1,
                                {count},
                                count,
                                count * sizeof(float),
                                blocks[i]};
    StPair step = {STR("step"),
                   str_from(str_format(&r->arena, "%llu", (unsigned long long)r->step))};
    return st_write(in_dir(r, "state.safetensors"), tensors, 3, &step, 1, diag);
}

/* Weights first, then the moments with the step: a run that dies between the two goes on from the
 * older state, whose weights stand in the same file as its moments. */
static bool save(Run *r, Diag *diag)
{
    uint64_t total = r->model->table.total;
    float *state[3], *blocks = NULL;
    r->t->device->get(r->device, NN_WEIGHTS, r->model->weights);
    if (!nn_checkpoint_save(r->t->dir, r->model, ST_F32, 0, diag))
        return false;
    if (r->lora) {
        adapter_state(r->lora, state);
        return nn_lora_save(&r->lora->lora, &r->model->table, r->t->dir, r->t->start, diag) &&
               write_state(r, state, r->lora->lora.total, diag);
    }
    blocks = nn_floats_new(2 * total);
    state[0] = r->model->weights;
    for (int i = 1; i < 3; i++) {
        state[i] = blocks + (uint64_t)(i - 1) * total;
        r->t->device->get(r->device, (NnBlock)i, state[i]);
    }
    bool ok = write_state(r, state, total, diag);
    nn_floats_free(blocks);
    return ok;
}

static const StTensor *state_tensor(const StFile *file, const char *name, uint64_t count)
{
    const StTensor *t = st_find(file, str_from(name));
    return t && t->dtype == ST_F32 && t->count == count ? t : NULL;
}

static bool restore_block(Run *r, const StFile *file, int which)
{
    float *adapters[3];
    uint64_t count = r->lora ? r->lora->lora.total : r->model->table.total;
    const StTensor *t = state_tensor(file, state_names[r->lora != NULL][which], count);
    if (!t)
        return false;
    if (r->lora) {
        adapter_state(r->lora, adapters);
        st_floats(t, 0, t->count, adapters[which]);
        return true;
    }
    st_floats(t, 0, t->count, r->scratch);
    r->t->device->put(r->device, (NnBlock)which, r->scratch);
    return true;
}

/* Goes on from the state of the directory, or starts from the model's weights. */
static bool restore(Run *r, Diag *diag)
{
    StFile file;
    int64_t step;
    const char *path = in_dir(r, "state.safetensors");
    r->t->device->put(r->device, NN_WEIGHTS, r->model->weights);
    if (!file_exists(path))
        return true;
    if (!st_open(&r->arena, path, &file, diag))
        return false;
    bool ok = str_to_i64(st_metadata(&file, "step"), &step) && step >= 0 &&
              restore_block(r, &file, NN_WEIGHTS) && restore_block(r, &file, NN_MOMENT1) &&
              restore_block(r, &file, NN_MOMENT2);
    st_close(&file);
    if (!ok)
        return fail_run(diag, "state.safetensors is of another model or rank of adapters, or "
                              "damaged");
    if (r->lora)
        nn_lora_run_put(r->lora, r->t->device, r->device);
    r->step = (uint64_t)step;
    return true;
}

/* Keeps the lines of the steps that count; what a stopped run wrote after its last state goes. */
static bool open_curve(Run *r, Diag *diag)
{
    const char *path = in_dir(r, "curve.jsonl");
    Str text = STR(""), line;
    Buf kept = {0};
    if (file_exists(path) && !file_read(&r->arena, path, 0, &text, diag))
        return false;
    for (uint64_t step = 0; step < r->step && str_next(&text, '\n', &line); step++)
        buf_printf(&kept, "%.*s\n", STR_ARG(line));
    bool ok = file_write(path, buf_view(&kept), diag);
    buf_free(&kept);
    r->curve = ok ? fopen(path, "a") : NULL;
    return r->curve || !ok ? ok : fail_run(diag, strerror(errno));
}

/* What a line of the curve says; numbers that are not finite are left out. */
typedef struct CurveLine {
    double loss, norm, rate, held_out;
    double margin, preferred; /* of pairs: the mean of z, the share of them above 0 */
    double ratio, clipped;    /* of graded answers: the mean ratio, the share beyond the limit */
} CurveLine;

static void put_number(Buf *line, const char *name, double value)
{
    if (isnan(value))
        return;
    buf_printf(line, ", \"%s\": ", name);
    buf_json_double(line, value);
}

static void write_line(Run *r, const CurveLine *c)
{
    Buf line = {0};
    double seconds = now() - r->started;
    buf_printf(&line, "{\"step\": %llu", (unsigned long long)r->step);
    put_number(&line, "loss", c->loss);
    put_number(&line, "norm", c->norm);
    put_number(&line, "rate", c->rate);
    put_number(&line, "margin", c->margin);
    put_number(&line, "preferred", c->preferred);
    put_number(&line, "ratio", c->ratio);
    put_number(&line, "clipped", c->clipped);
    put_number(&line, "held_out", c->held_out);
    buf_printf(&line, ", \"seconds\": %.3f, \"tokens_per_second\": %.0f}", seconds,
               seconds > 0 ? (double)r->tokens_seen / seconds : 0);
    fprintf(r->curve, "%.*s\n", STR_ARG(buf_view(&line)));
    fflush(r->curve);
    if (r->t->report)
        r->t->report(r->t->context, buf_view(&line));
    buf_free(&line);
}

/* The gradients of a step over windows; how many tokens are learnt. */
static uint64_t learn_windows(Run *r, uint64_t step)
{
    const NnTraining *t = r->t;
    uint64_t learnt = 0;
    for (uint32_t part = 0; part < t->accumulate; part++)
        learnt += fill_batch(r, step, part);
    for (uint32_t part = 0; part < t->accumulate && learnt; part++) {
        if (t->accumulate > 1)
            fill_batch(r, step, part);
        t->device->learn(r->device, r->tokens, r->targets, 1.0f / (float)learnt);
    }
    return learnt;
}

/* The gradients of a step over lessons, and the means of what they say; NAN stays NAN. */
static void learn_lessons(Run *r, uint64_t step, CurveLine *line)
{
    const NnTraining *t = r->t;
    const NnLessons *l = t->lessons;
    uint64_t count = l->count, first = (step - 1) * t->batch;
    line->loss = line->margin = line->preferred = line->ratio = line->clipped = 0;
    for (uint64_t i = first; i < first + t->batch; i++) {
        uint32_t index = (uint32_t)shuffled(i % count, count, t->seed, i / count);
        NnLesson one = l->learn(l->self, index, t->device, r->device, 1.0 / t->batch);
        line->loss += one.loss / t->batch;
        line->margin += one.margin / t->batch;
        line->preferred += isnan(one.margin) ? NAN : (double)(one.margin > 0) / t->batch;
        line->ratio += one.ratio / t->batch;
        line->clipped += one.clipped / t->batch;
    }
}

static bool take_step(Run *r, Diag *diag)
{
    const NnTraining *t = r->t;
    uint64_t step = r->step + 1, learnt = 0;
    double rate = nn_train_rate(t, step);
    CurveLine line = {.rate = rate,
                      .held_out = NAN,
                      .margin = NAN,
                      .preferred = NAN,
                      .ratio = NAN,
                      .clipped = NAN};
    if (t->lessons)
        learn_lessons(r, step, &line);
    else
        learnt = learn_windows(r, step);
    NnDeviceStep s = {rate,          t->adam.beta1, t->adam.beta2, t->adam.eps,
                      t->adam.decay, t->clip,       step};
    NnDeviceResult result = {0};
    if (!(r->lora ? nn_lora_run_update(r->lora, t->device, r->device, &s, &result)
                  : t->device->update(r->device, &s, &result)))
        return fail_run(diag, t->device->error(r->device));
    r->step = step;
    r->tokens_seen += (uint64_t)t->batch * t->seq * t->accumulate;
    if (!isfinite(result.loss) || !isfinite(result.norm))
        return fail_run(diag, "the loss is not a number any more; try a lower rate");
    if (t->held_out && t->evaluate_every && (step % t->evaluate_every == 0 || step == t->steps))
        line.held_out = evaluate(r);
    if (!t->lessons)
        line.loss = learnt ? result.loss / (double)learnt : 0;
    line.norm = result.norm;
    write_line(r, &line);
    return true;
}

static bool run_steps(Run *r, Diag *diag)
{
    const NnTraining *t = r->t;
    r->started = now();
    while (r->step < t->steps) {
        if (!take_step(r, diag))
            return false;
        bool due = t->save_every && r->step % t->save_every == 0;
        if ((due || r->step == t->steps) && !save(r, diag))
            return false;
    }
    t->device->get(r->device, NN_WEIGHTS, r->model->weights);
    return true;
}

static bool check_data(const NnTraining *t, const NnModel *model, Diag *diag)
{
    const NnData *all[2] = {t->data, t->held_out};
    for (int i = 0; i < 2; i++)
        for (uint64_t k = 0; all[i] && k < all[i]->count; k++)
            if ((all[i]->tokens[k] & ~(uint32_t)NN_MASKED) >= model->table.config.vocab)
                return fail_run(diag, "the data hold a token outside the model's vocabulary");
    if (!t->batch || !t->accumulate || !t->seq || t->seq > model->table.config.context)
        return fail_run(diag, "batch and accumulate are at least 1, seq at most the context");
    if (t->lessons && t->held_out)
        return fail_run(diag, "pairs and groups have no held-out loss; score the result");
    if (t->data && t->data->count <= t->seq)
        return fail_run(diag, "the data are shorter than one sequence");
    return true;
}

static bool open_run(Run *r, Diag *diag)
{
    const NnTraining *t = r->t;
    char why[512] = "";
    size_t rows = (size_t)t->batch * t->seq;
    NnDeviceModel shape = nn_device_model(&r->arena, &r->model->table);
    if (t->data)
        r->windows = find_windows(&r->arena, t->data, t->seq);
    if (t->held_out)
        r->held_out = find_windows(&r->arena, t->held_out, t->seq);
    r->tokens = heap_alloc(2 * rows * sizeof *r->tokens);
    r->targets = r->tokens + rows;
    r->scratch = nn_floats_new(r->model->table.total);
    r->device = t->device->open(&shape, t->lessons ? 1 : t->batch, t->seq, why, sizeof why);
    if (!r->device) {
        diag_error(diag, "N006", (Span){0}, "device %s: %s", t->device->name, why);
        return false;
    }
    if (t->lessons) {
        t->device->put(r->device, NN_WEIGHTS, r->model->weights);
        t->lessons->refer(t->lessons->self, t->device, r->device);
    }
    if (t->lora)
        r->lora = nn_lora_run_open(r->model, t->lora, (float)(t->lora_alpha / t->lora), t->seed);
    return file_make_dirs(t->dir, diag) && restore(r, diag) && open_curve(r, diag);
}

bool nn_train(const NnTraining *training, NnModel *model, Diag *diag)
{
    Run r = {.t = training, .model = model};
    bool ok = check_data(training, model, diag) && open_run(&r, diag) && run_steps(&r, diag);
    if (r.device)
        training->device->close(r.device);
    if (r.curve)
        fclose(r.curve);
    nn_lora_run_close(r.lora);
    heap_free(r.tokens);
    nn_floats_free(r.scratch);
    arena_drop(&r.arena);
    return ok;
}
