/* The whole model on the GPU against the plain C pass: losses, gradients of every tensor, ten steps;
 * that two runs give the same bits; then the speed at the default size, 64 x 1024 tokens.
 *
 *     model-cuda            all of it
 *     model-cuda --speed    only the speed, as one JSON line beside which the yardstick's is put */
#include "nn/trainer.h"

#include "base/rng.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BATCH = 3, SEQ = 150, STEPS = 10 };

static int failures;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(bool ok, const char *name, double value)
{
    failures += !ok;
    printf("%-40s %.3e %s\n", name, value, ok ? "" : "FAILED");
}

/* Gradients in bf16 against float32. PyTorch's own distance on this model is 0.07 for the worst tensor
 * (tools/nn_vectors.py noise). */
static const double BF16_NOISE = 0.05;

static double distance(const float *got, const float *want, uint64_t count)
{
    double wrong = 0, size = 0;
    for (uint64_t i = 0; i < count; i++) {
        wrong += ((double)got[i] - (double)want[i]) * ((double)got[i] - (double)want[i]);
        size += (double)want[i] * (double)want[i];
    }
    return sqrt(wrong / (size > 0 ? size : 1));
}

static void *open_device(const NnDevice *device, Arena *arena, const NnModel *model, uint32_t batch,
                         uint32_t seq)
{
    char why[512] = "";
    NnDeviceModel shape = nn_device_model(arena, &model->table);
    void *d = device->open(&shape, batch, seq, why, sizeof why);
    if (!d) {
        printf("no device: %s\n", why);
        return NULL;
    }
    device->put(d, NN_WEIGHTS, model->weights);
    return d;
}

static NnConfig small_config(void)
{
    NnConfig c = nn_config_default();
    c.layers = 3;
    c.width = 192;
    c.heads = 4;
    c.kv_heads = 2;
    c.ffn = 320;
    c.vocab = 512;
    return c;
}

static void fill(int32_t *tokens, int32_t *targets, uint32_t count, uint32_t vocab, uint64_t stream)
{
    for (uint32_t i = 0; i < count; i++) {
        tokens[i] = (int32_t)rng_range(1, stream, i, 0, vocab);
        targets[i] = i % 6 == 5 ? -1 : (int32_t)rng_range(2, stream, i, 0, vocab);
    }
}

static void check_gradients(const NnDevice *cuda, const NnConfig *config)
{
    Arena arena = {0};
    NnModel model = nn_open(&arena, config);
    nn_init(&model, 1);
    const NnDevice *devices[2] = {nn_device_cpu(), cuda};
    float *grads[3];
    double loss[2] = {0};
    static int32_t tokens[BATCH * SEQ], targets[BATCH * SEQ];
    fill(tokens, targets, BATCH * SEQ, config->vocab, 3);
    for (int i = 0; i < 3; i++) {
        const NnDevice *device = devices[i ? 1 : 0];
        void *d = open_device(device, &arena, &model, BATCH, SEQ);
        grads[i] = nn_floats_new(model.table.total);
        if (!d) {
            failures++;
            continue;
        }
        loss[i ? 1 : 0] = device->evaluate(d, tokens, targets);
        device->learn(d, tokens, targets, 1.0f / (BATCH * SEQ));
        device->get(d, NN_GRADS, grads[i]);
        device->close(d);
    }
    check(fabs(loss[1] - loss[0]) < 2e-3 * loss[0], "loss", fabs(loss[1] - loss[0]) / loss[0]);
    for (uint32_t i = 0; i < model.table.count; i++) {
        const NnTensor *t = &model.table.tensors[i];
        double far = distance(grads[1] + t->at, grads[0] + t->at, t->count);
        if (!(far < BF16_NOISE) || t->layer == 0)
            check(far < BF16_NOISE, t->name, far);
    }
    check(!memcmp(grads[1], grads[2], model.table.total * sizeof(float)), "two runs, same bits", 0);
    for (int i = 0; i < 3; i++)
        nn_floats_free(grads[i]);
    nn_close(&model);
    arena_drop(&arena);
}

/* The loss of ten steps on the same batch, taken in two halves that add up. */
static void curve(const NnDevice *device, const NnConfig *config, double *losses)
{
    Arena arena = {0};
    NnModel model = nn_open(&arena, config);
    nn_init(&model, 1);
    static int32_t tokens[BATCH * SEQ], targets[BATCH * SEQ];
    void *d = open_device(device, &arena, &model, BATCH, SEQ);
    for (uint64_t step = 1; d && step <= STEPS; step++) {
        NnDeviceStep s = {3e-3, 0.9, 0.95, 1e-8, 0.1, 1.0, step};
        NnDeviceResult result = {0};
        for (uint64_t half = 0; half < 2; half++) {
            fill(tokens, targets, BATCH * SEQ, config->vocab, half);
            device->learn(d, tokens, targets, 0.5f / (BATCH * SEQ));
        }
        if (!device->update(d, &s, &result)) {
            printf("%s\n", device->error(d));
            failures++;
        }
        losses[step - 1] = result.loss / (2 * BATCH * SEQ);
    }
    if (d)
        device->close(d);
    nn_close(&model);
    arena_drop(&arena);
}

static void check_curve(const NnDevice *cuda, const NnConfig *config)
{
    double cpu[STEPS] = {0}, gpu[STEPS] = {0}, far = 0;
    curve(nn_device_cpu(), config, cpu);
    curve(cuda, config, gpu);
    for (int i = 0; i < STEPS; i++)
        far = fmax(far, fabs(gpu[i] - cpu[i]) / cpu[i]);
    printf("losses: cpu %.4f to %.4f, cuda %.4f to %.4f\n", cpu[0], cpu[STEPS - 1], gpu[0],
           gpu[STEPS - 1]);
    check(far < 1e-2 && cpu[STEPS - 1] < 0.9 * cpu[0], "ten steps", far);
}

static void measure(const NnDevice *cuda, uint32_t batch, uint32_t seq)
{
    Arena arena = {0};
    NnConfig config = nn_config_default();
    NnModel model = nn_open(&arena, &config);
    nn_init(&model, 1);
    uint32_t rows = batch * seq;
    int32_t *tokens = heap_alloc(2 * (size_t)rows * sizeof *tokens), *targets = tokens + rows;
    fill(tokens, targets, rows, config.vocab, 5);
    void *d = open_device(cuda, &arena, &model, batch, seq);
    double best = 1e9, start;
    for (uint64_t round = 0; d && round < 6; round++) {
        start = now();
        for (uint64_t step = 1; step <= 10; step++) {
            NnDeviceStep s = {1e-3, 0.9, 0.95, 1e-8, 0.1, 1.0, round * 10 + step};
            NnDeviceResult result;
            cuda->learn(d, tokens, targets, 1.0f / (float)rows);
            if (!cuda->update(d, &s, &result))
                failures++;
        }
        best = fmin(best, (now() - start) / 10);
    }
    if (d) {
        double flops = 6.0 * (double)model.table.total +
                       6.0 * config.layers * seq * nn_q_size(&config);
        printf("{\"engine\": \"acraft\", \"parameters\": %llu, \"batch\": %u, \"seq\": %u, "
               "\"step_ms\": %.2f, \"tokens_per_second\": %.0f, \"utilisation\": %.3f}\n",
               (unsigned long long)model.table.total, batch, seq, best * 1e3, rows / best,
               flops * rows / best / 989e12);
        cuda->close(d);
    }
    heap_free(tokens);
    nn_close(&model);
    arena_drop(&arena);
}

int main(int argc, char **argv)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    const NnDevice *cuda = nn_device_find("cuda", &diag);
    if (!cuda) {
        printf("%s\n", diag.items.at[0].text);
        return 3;
    }
    if (argc < 2 || strcmp(argv[1], "--speed")) {
        NnConfig c = small_config();
        check_gradients(cuda, &c);
        c.tied = false;
        c.head_dim = 128;
        c.layers = 1;
        check_gradients(cuda, &c);
        c = small_config();
        check_curve(cuda, &c);
    }
    measure(cuda, 64, 1024);
    printf("%s: %d failed\n", failures ? "FAILED" : "passed", failures);
    arena_drop(&arena);
    return failures != 0;
}
