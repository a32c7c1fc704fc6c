/* A device that trains: one struct of functions, the same for the CPU and for CUDA, so that the
 * training loop knows neither. Plain C and C++ alike, as nvcc reads it too.
 *
 *     void *d = device->open(&model, batch, seq, why, sizeof why);
 *     device->put(d, NN_WEIGHTS, weights);
 *     device->learn(d, tokens, targets, weight);            several times: gradients add up
 *     device->update(d, &step, &result);                    clip, AdamW, gradients to zero
 */
#ifndef NN_DEVICE_H
#define NN_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The model as a device needs it; made by nn_device_model (trainer.h). */
typedef struct NnDeviceModel {
    uint32_t layers, width, heads, kv_heads, head_dim, ffn, vocab, tensor_count;
    float rope_theta, norm_eps;
    int tied;
    uint64_t total;       /* floats of a block */
    const uint64_t *at;   /* [layers][tensor_count]: the place of each tensor in a block */
    const uint8_t *decay; /* [total / 64, rounded up]: whether these 64 weights are decayed */
    const void *table;    /* NnTable, for the CPU */
} NnDeviceModel;

typedef enum NnBlock { NN_WEIGHTS, NN_MOMENT1, NN_MOMENT2, NN_GRADS, NN_BLOCK_COUNT } NnBlock;

typedef struct NnDeviceStep {
    double rate, beta1, beta2, eps, decay, clip; /* clip 0: none */
    uint64_t step;                               /* from 1 */
} NnDeviceStep;

typedef struct NnDeviceResult {
    double loss; /* sum over all learn calls since the last update, not weighted */
    double norm; /* of the gradients, before clipping */
} NnDeviceResult;

typedef struct NnDevice {
    const char *name;
    /* NULL: why not, in words. */
    void *(*open)(const NnDeviceModel *model, uint32_t batch, uint32_t seq, char *why, size_t size);
    void (*close)(void *device);
    void (*put)(void *device, NnBlock block, const float *values);
    void (*get)(void *device, NnBlock block, float *values);
    /* tokens and targets [batch, seq]; targets below 0 are not learnt from. Adds weight times the
     * gradient of the sum of losses. */
    void (*learn)(void *device, const int32_t *tokens, const int32_t *targets, float weight);
    /* 0: the device failed; `why` of open says nothing then, error() does. */
    int (*update)(void *device, const NnDeviceStep *step, NnDeviceResult *result);
    /* Sum of the losses, no gradient. */
    double (*evaluate)(void *device, const int32_t *tokens, const int32_t *targets);
    const char *(*error)(void *device); /* NULL: none so far */
} NnDevice;

/* The name under which the CUDA library exports its device: const NnDevice *(void). */
#define NN_CUDA_ENTRY "nn_cuda_device"

#ifdef __cplusplus
}
#endif

#endif
