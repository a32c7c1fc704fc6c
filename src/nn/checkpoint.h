/* Checkpoints: a directory with config.json and safetensors, as transformers writes and reads them
 * for Qwen3 dense, or one safetensors file that carries the config in its metadata. Errors: N001
 * (a config that is not such a model's), N002 (a file), N003 (tensors that do not fit the config). */
#ifndef NN_CHECKPOINT_H
#define NN_CHECKPOINT_H

#include "nn/nn.h"
#include "nn/safetensors.h"

/* The JSON of a Qwen3 dense config.json; what we cannot run is refused by name. */
bool nn_config_parse(Str json, NnConfig *config, Diag *diag);
void nn_config_print(const NnConfig *config, Buf *out);

/* Weights as floats whatever they are stored as; nn_close gives them back. */
bool nn_checkpoint_load(Arena *arena, const char *path, NnModel *model, Diag *diag);
/* The config of a checkpoint, and its tensors left open in `set`. */
bool nn_checkpoint_open(Arena *arena, const char *path, NnConfig *config, StSet *set, Diag *diag);
/* Whether the set has every tensor of such a model and enough bytes for it. */
bool nn_checkpoint_fits(const StSet *set, const NnConfig *config, Diag *diag);
/* One tensor of the table as floats; I8 tensors are multiplied by NAME.scale ([rows, groups]). */
bool nn_checkpoint_tensor(const StSet *set, const NnTensor *tensor, float *out, Diag *diag);
/* Into the directory `dir`, which is made: config.json and weights as F32, F16 or BF16, in shards
 * of at most `shard` bytes (0: one file). */
bool nn_checkpoint_save(const char *dir, const NnModel *model, StDtype dtype, uint64_t shard,
                        Diag *diag);

/* The key of the config in the metadata of a single file. */
#define NN_CONFIG_KEY "acraft.config"

#endif
