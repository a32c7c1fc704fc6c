/* Low-rank adapters of the matrices inside the layers: W + scale B A, A [rank, in], B [out, rank], B begins as 0.
 *
 *     gradient of W ─▶ gradients of A and B ─AdamW─▶ A, B ─merge─▶ W of the device
 *
 * Neither the pass nor a device knows of them: the device holds the merged weights, and the gradient of W
 * gives those of A and B. Embedding and head stay as they are, as in PEFT's "all-linear". */
#ifndef NN_LORA_H
#define NN_LORA_H

#include "nn/device.h"
#include "nn/train.h"

typedef struct NnLora {
    uint32_t rank;
    float scale;
    uint64_t total; /* floats of all adapters: A then B of each matrix, in table order */
    float *weights;
} NnLora;
NnLora nn_lora_open(const NnTable *table, uint32_t rank, float scale, uint64_t seed);
void nn_lora_close(NnLora *lora);
/* into = base + adapters; `base` and `into` are blocks of the table. */
void nn_lora_merge(const NnLora *lora, const NnTable *table, float *into, const float *base);
/* adapter_grads[total] += from the gradients of the merged weights */
void nn_lora_grads(const NnLora *lora, const NnTable *table, float *adapter_grads,
                   const float *grads);
/* AdamW over the adapters, without decay. */
void nn_lora_step(NnLora *lora, const NnAdam *adam, const float *grads, float *m, float *v,
                  uint64_t step);
/* DIR/adapter_model.safetensors and DIR/adapter_config.json, as PEFT names and reads them; `start` is where
 * the model they belong to lies. */
bool nn_lora_save(const NnLora *lora, const NnTable *table, const char *dir, const char *start,
                  Diag *diag);

/* Adapters while they are trained on a device. */
typedef struct NnLoraRun {
    NnLora lora;
    const NnTable *table;
    float *base;              /* the weights that are not trained */
    float *moment1, *moment2; /* [lora.total] */
    float *block;             /* of the table: gradients, then merged weights */
    float *grads;             /* [lora.total] */
} NnLoraRun;
/* Starts adapters on the model's present weights. */
NnLoraRun *nn_lora_run_open(const NnModel *model, uint32_t rank, float scale, uint64_t seed);
void nn_lora_run_close(NnLoraRun *run);
/* The merged weights go to the device. */
void nn_lora_run_put(NnLoraRun *run, const NnDevice *device, void *on);
/* A step of the adapters in the place of device->update. */
bool nn_lora_run_update(NnLoraRun *run, const NnDevice *device, void *on, const NnDeviceStep *step,
                        NnDeviceResult *result);

#endif
