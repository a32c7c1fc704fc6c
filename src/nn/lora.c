/* Low-rank adapters: their gradients and steps, their files, and a run of them on any device. */
#include "nn/lora.h"

#include "base/file.h"
#include "base/rng.h"
#include "nn/layer.h"
#include "nn/safetensors.h"
#include <math.h>
#include <string.h>

static bool is_adapted(const NnTensor *t)
{
    return nn_tensor_is_matrix(t) && t->id != NN_EMBED && t->id != NN_HEAD;
}

static uint64_t adapter_floats(const NnTensor *t, uint32_t rank)
{
    return is_adapted(t) ? (uint64_t)rank * (t->rows + t->cols) : 0;
}

NnLora nn_lora_open(const NnTable *table, uint32_t rank, float scale, uint64_t seed)
{
    NnLora lora = {.rank = rank, .scale = scale};
    for (uint32_t i = 0; i < table->count; i++)
        lora.total += adapter_floats(&table->tensors[i], rank);
    lora.weights = nn_floats_new(lora.total);
    float *at = lora.weights;
    for (uint32_t i = 0; i < table->count; i++) {
        const NnTensor *t = &table->tensors[i];
        uint64_t down = is_adapted(t) ? (uint64_t)rank * t->cols : 0;
        for (uint64_t k = 0; k < down; k++)
            at[k] = (float)(rng_normal(seed, i, k) / sqrt(t->cols));
        at += adapter_floats(t, rank);
    }
    return lora;
}

void nn_lora_close(NnLora *lora)
{
    nn_floats_free(lora->weights);
    lora->weights = NULL;
}

/* row o of W += scale B[o] A */
static void merge_matrix(const NnLora *l, const NnTensor *t, float *w, const float *a,
                         const float *b)
{
    for (uint32_t o = 0; o < t->rows; o++)
        for (uint32_t r = 0; r < l->rank; r++) {
            float scale = l->scale * b[(size_t)o * l->rank + r];
            for (uint32_t i = 0; i < t->cols; i++)
                w[(size_t)o * t->cols + i] += scale * a[(size_t)r * t->cols + i];
        }
}

void nn_lora_merge(const NnLora *lora, const NnTable *table, float *into, const float *base)
{
    const float *at = lora->weights;
    memcpy(into, base, table->total * sizeof *into);
    for (uint32_t i = 0; i < table->count; i++) {
        const NnTensor *t = &table->tensors[i];
        if (!is_adapted(t))
            continue;
        merge_matrix(lora, t, into + t->at, at, at + (size_t)lora->rank * t->cols);
        at += adapter_floats(t, lora->rank);
    }
}

/* dA += scale B^T dW, dB += scale dW A^T */
static void adapter_grads_of(const NnLora *l, const NnTensor *t, float *grads, const float *at,
                             const float *dw)
{
    size_t down = (size_t)l->rank * t->cols;
    for (uint32_t o = 0; o < t->rows; o++)
        for (uint32_t r = 0; r < l->rank; r++) {
            const float *row = dw + (size_t)o * t->cols;
            size_t up = down + (size_t)o * l->rank + r;
            float scale = l->scale * at[up];
            grads[up] += l->scale * nn_dot(row, at + (size_t)r * t->cols, t->cols);
            for (uint32_t i = 0; i < t->cols; i++)
                grads[(size_t)r * t->cols + i] += scale * row[i];
        }
}

void nn_lora_grads(const NnLora *lora, const NnTable *table, float *adapter_grads,
                   const float *grads)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const NnTensor *t = &table->tensors[i];
        if (!is_adapted(t))
            continue;
        adapter_grads_of(lora, t, adapter_grads + at, lora->weights + at, grads + t->at);
        at += adapter_floats(t, lora->rank);
    }
}

void nn_lora_step(NnLora *lora, const NnAdam *adam, const float *grads, float *m, float *v,
                  uint64_t step)
{
    NnAdam of = *adam;
    of.decay = 0;
    nn_adam_range(&of, lora->weights, grads, m, v, lora->total, step);
}

/* ---- files ---- */

/* model.layers.3.mlp.up_proj.weight is base_model.model.model.layers.3.mlp.up_proj.lora_A.weight */
static Str peft_name(Arena *arena, const NnTensor *t, const char *which)
{
    Str name = str_from(t->name);
    int stem = (int)(name.len - strlen(".weight"));
    return str_from(
        str_format(arena, "base_model.model.%.*s.lora_%s.weight", stem, t->name, which));
}

/* The last word of the name before ".weight", which PEFT calls a module: up_proj. */
static Str module_of(const NnTensor *t)
{
    Str name = str_from(t->name);
    size_t end = name.len - strlen(".weight"), from = end;
    while (from && name.at[from - 1] != '.')
        from--;
    return str_slice(name, from, end);
}

static void print_config(const NnLora *lora, const NnTable *table, const char *start, Buf *out)
{
    buf_puts(out, "{\n  \"peft_type\": \"LORA\",\n  \"task_type\": \"CAUSAL_LM\",\n  "
                  "\"base_model_name_or_path\": ");
    buf_json_str(out, str_from(start ? start : ""));
    buf_printf(out, ",\n  \"r\": %u,\n  \"lora_alpha\": ", lora->rank);
    buf_json_double(out, (double)lora->scale * lora->rank);
    buf_puts(out, ",\n  \"target_modules\": [");
    const char *comma = "";
    for (uint32_t i = 0; i < table->count; i++) {
        const NnTensor *t = &table->tensors[i];
        if (t->layer || !is_adapted(t))
            continue;
        buf_puts(out, comma);
        buf_json_str(out, module_of(t));
        comma = ", ";
    }
    buf_puts(out, "],\n  \"lora_dropout\": 0.0,\n  \"bias\": \"none\",\n  "
                  "\"fan_in_fan_out\": false,\n  \"inference_mode\": true\n}\n");
}

bool nn_lora_save(const NnLora *lora, const NnTable *table, const char *dir, const char *start,
                  Diag *diag)
{
    Arena arena = {0};
    Buf config = {0};
    VEC(StTensor) all = {0};
    const float *at = lora->weights;
    for (uint32_t i = 0; i < table->count; i++) {
        const NnTensor *t = &table->tensors[i];
        if (!is_adapted(t))
            continue;
        const uint64_t shapes[2][2] = {{lora->rank, t->cols}, {t->rows, lora->rank}};
        for (int side = 0; side < 2; side++) {
            uint64_t count = shapes[side][0] * shapes[side][1];
            StTensor one = {.name = peft_name(&arena, t, side ? "B" : "A"),
                            .dtype = ST_F32,
                            .rank = 2,
                            .shape = {shapes[side][0], shapes[side][1]},
                            .count = count,
                            .bytes = count * sizeof(float),
                            .data = at};
            vec_push(&arena, &all, one);
            at += count;
        }
    }
    print_config(lora, table, start, &config);
    bool ok = st_write(path_join(&arena, dir, "adapter_model.safetensors"), all.at, all.len, NULL,
                       0, diag) &&
              file_write(path_join(&arena, dir, "adapter_config.json"), buf_view(&config), diag);
    buf_free(&config);
    arena_drop(&arena);
    return ok;
}

/* ---- on a device ---- */

NnLoraRun *nn_lora_run_open(const NnModel *model, uint32_t rank, float scale, uint64_t seed)
{
    NnLoraRun *run = heap_alloc(sizeof *run);
    *run = (NnLoraRun){.lora = nn_lora_open(&model->table, rank, scale, seed),
                       .table = &model->table};
    run->base = nn_floats_new(model->table.total);
    run->block = nn_floats_new(model->table.total);
    run->moment1 = nn_floats_new(run->lora.total);
    run->moment2 = nn_floats_new(run->lora.total);
    run->grads = nn_floats_new(run->lora.total);
    memcpy(run->base, model->weights, model->table.total * sizeof(float));
    return run;
}

void nn_lora_run_close(NnLoraRun *run)
{
    if (!run)
        return;
    nn_lora_close(&run->lora);
    nn_floats_free(run->base);
    nn_floats_free(run->block);
    nn_floats_free(run->moment1);
    nn_floats_free(run->moment2);
    nn_floats_free(run->grads);
    heap_free(run);
}

void nn_lora_run_put(NnLoraRun *run, const NnDevice *device, void *on)
{
    nn_lora_merge(&run->lora, run->table, run->block, run->base);
    device->put(on, NN_WEIGHTS, run->block);
}

bool nn_lora_run_update(NnLoraRun *run, const NnDevice *device, void *on, const NnDeviceStep *step,
                        NnDeviceResult *result)
{
    NnDeviceStep still = *step; /* says the loss and clears the gradients */
    still.rate = 0;
    device->get(on, NN_GRADS, run->block);
    memset(run->grads, 0, run->lora.total * sizeof(float));
    nn_lora_grads(&run->lora, run->table, run->grads, run->block);
    if (!device->update(on, &still, result))
        return false;
    result->norm = nn_clip(run->grads, run->lora.total, step->clip);
    NnAdam adam = {step->rate, step->beta1, step->beta2, step->eps, 0};
    nn_lora_step(&run->lora, &adam, run->grads, run->moment1, run->moment2, step->step);
    nn_lora_run_put(run, device, on);
    return true;
}
