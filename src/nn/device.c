/* The CPU as a device, and how the CUDA library is loaded. */
#include "nn/trainer.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct CpuDevice {
    NnModel model;
    NnPool *pool;
    NnPass *pass;
    float *blocks[NN_BLOCK_COUNT];
    double loss;
} CpuDevice;

static void *cpu_open(const NnDeviceModel *shape, uint32_t batch, uint32_t seq, char *why,
                      size_t size)
{
    (void)why;
    (void)size;
    CpuDevice *d = heap_alloc(sizeof *d);
    d->model.table = *(const NnTable *)shape->table;
    for (int i = 0; i < NN_BLOCK_COUNT; i++)
        d->blocks[i] = nn_floats_new(shape->total);
    d->model.weights = d->blocks[NN_WEIGHTS];
    d->pool = nn_pool_open(0);
    d->pass = nn_pass_open(&d->model, batch, seq, d->pool, true);
    return d;
}

static void cpu_close(void *device)
{
    CpuDevice *d = device;
    nn_pass_close(d->pass);
    nn_pool_close(d->pool);
    for (int i = 0; i < NN_BLOCK_COUNT; i++)
        nn_floats_free(d->blocks[i]);
    heap_free(d);
}

static size_t block_bytes(const CpuDevice *d) { return d->model.table.total * sizeof(float); }

static void cpu_put(void *device, NnBlock block, const float *values)
{
    CpuDevice *d = device;
    memcpy(d->blocks[block], values, block_bytes(d));
}

static void cpu_get(void *device, NnBlock block, float *values)
{
    const CpuDevice *d = device;
    memcpy(values, d->blocks[block], block_bytes(d));
}

static void cpu_learn(void *device, const int32_t *tokens, const int32_t *targets, float weight)
{
    CpuDevice *d = device;
    nn_pass_forward(d->pass, tokens);
    d->loss += nn_pass_loss(d->pass, targets, weight);
    nn_pass_backward(d->pass, tokens, d->blocks[NN_GRADS]);
}

static int cpu_update(void *device, const NnDeviceStep *step, NnDeviceResult *result)
{
    CpuDevice *d = device;
    NnAdam adam = {step->rate, step->beta1, step->beta2, step->eps, step->decay};
    result->norm = nn_clip(d->blocks[NN_GRADS], d->model.table.total, step->clip);
    result->loss = d->loss;
    nn_adam_step(&adam, &d->model.table, d->blocks[NN_WEIGHTS], d->blocks[NN_GRADS],
                 d->blocks[NN_MOMENT1], d->blocks[NN_MOMENT2], step->step);
    memset(d->blocks[NN_GRADS], 0, block_bytes(d));
    d->loss = 0;
    return 1;
}

static double cpu_evaluate(void *device, const int32_t *tokens, const int32_t *targets)
{
    CpuDevice *d = device;
    nn_pass_forward(d->pass, tokens);
    return nn_pass_loss(d->pass, targets, 0);
}

static const char *cpu_error(void *device)
{
    (void)device;
    return NULL;
}

const NnDevice *nn_device_cpu(void)
{
    static const NnDevice device = {"cpu",     cpu_open,   cpu_close,    cpu_put,  cpu_get,
                                    cpu_learn, cpu_update, cpu_evaluate, cpu_error};
    return &device;
}

/* $ACRAFT_CUDA, or libacraft_cuda.so beside the running program. */
static const char *cuda_library(Arena *arena)
{
    char path[PATH_MAX];
    const char *given = getenv("ACRAFT_CUDA");
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    if (given && *given)
        return given;
    if (len < 0)
        return "libacraft_cuda.so";
    path[len] = 0;
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
    return str_format(arena, "%s/libacraft_cuda.so", path);
}

static const NnDevice *find_cuda(Diag *diag)
{
    typedef const NnDevice *Entry(void);
    const char *path = cuda_library(diag->arena);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    Entry *entry = NULL;
    if (library) {
        void *symbol = dlsym(library, NN_CUDA_ENTRY);
        memcpy(&entry, &symbol, sizeof entry);
    }
    if (entry)
        return entry();
    diag_error(diag, "N006", (Span){0}, "no CUDA device: %s",
               library ? "wrong library" : dlerror());
    diag_hint(diag, "build it with 'make cuda' where nvcc is, or name it in ACRAFT_CUDA");
    return NULL;
}

const NnDevice *nn_device_find(const char *name, Diag *diag)
{
    if (!strcmp(name, "cpu"))
        return nn_device_cpu();
    if (!strcmp(name, "cuda"))
        return find_cuda(diag);
    diag_error(diag, "N006", (Span){0}, "no device '%s'; there are cpu and cuda", name);
    return NULL;
}

NnDeviceModel nn_device_model(Arena *arena, const NnTable *table)
{
    const NnConfig *c = &table->config;
    uint64_t *at = arena_array(arena, uint64_t, (size_t)c->layers * NN_TENSOR_COUNT);
    uint8_t *decay = arena_array(arena, uint8_t, table->total / 64 + 1);
    for (uint32_t i = 0; i < table->count; i++) {
        const NnTensor *t = &table->tensors[i];
        at[(size_t)t->layer * NN_TENSOR_COUNT + t->id] = t->at;
        for (uint64_t k = t->at; nn_tensor_is_matrix(t) && k < t->at + t->count; k += 64)
            decay[k / 64] = 1;
    }
    return (NnDeviceModel){.layers = c->layers,
                           .width = c->width,
                           .heads = c->heads,
                           .kv_heads = c->kv_heads,
                           .head_dim = c->head_dim,
                           .ffn = c->ffn,
                           .vocab = c->vocab,
                           .tensor_count = NN_TENSOR_COUNT,
                           .rope_theta = c->rope_theta,
                           .norm_eps = c->norm_eps,
                           .tied = c->tied,
                           .total = table->total,
                           .at = at,
                           .decay = decay,
                           .table = table};
}
