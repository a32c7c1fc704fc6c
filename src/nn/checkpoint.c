/* config.json and the tensors of a checkpoint, in and out. */
#include "nn/checkpoint.h"

#include "base/dtype.h"
#include "base/file.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

static bool fail_config(Diag *diag, const char *key, const char *why)
{
    diag_error(diag, "N001", (Span){0}, "config.json: '%s' %s", key, why);
    return false;
}

static bool read_size(const json_t *root, const char *key, uint32_t *value, Diag *diag)
{
    const json_t *field = json_object_get(root, key);
    json_int_t n = json_integer_value(field);
    if (!json_is_integer(field) || n < 1 || n > UINT32_MAX)
        return fail_config(diag, key, "is missing or no positive integer");
    *value = (uint32_t)n;
    return true;
}

/* A field that may be missing or null; otherwise it must be a number. */
static bool read_number(const json_t *root, const char *key, float *value, Diag *diag)
{
    const json_t *field = json_object_get(root, key);
    if (!field || json_is_null(field))
        return true;
    if (!json_is_number(field))
        return fail_config(diag, key, "is no number");
    *value = (float)json_number_value(field);
    return true;
}

static bool read_sizes(const json_t *root, NnConfig *c, Diag *diag)
{
    bool ok = read_size(root, "num_hidden_layers", &c->layers, diag) &&
              read_size(root, "hidden_size", &c->width, diag) &&
              read_size(root, "num_attention_heads", &c->heads, diag) &&
              read_size(root, "intermediate_size", &c->ffn, diag) &&
              read_size(root, "vocab_size", &c->vocab, diag) &&
              read_size(root, "max_position_embeddings", &c->context, diag);
    if (!ok)
        return false;
    c->kv_heads = c->heads;
    c->head_dim = c->width / c->heads;
    return (!json_object_get(root, "num_key_value_heads") ||
            read_size(root, "num_key_value_heads", &c->kv_heads, diag)) &&
           (!json_object_get(root, "head_dim") || read_size(root, "head_dim", &c->head_dim, diag));
}

/* rope_theta stands at the top (transformers 4) or in rope_parameters (5). */
static bool read_rotary(const json_t *root, NnConfig *c, Diag *diag)
{
    c->rope_theta = 10000;
    c->norm_eps = 1e-6f;
    const json_t *rope = json_object_get(root, "rope_parameters");
    const json_t *scaling = json_object_get(root, "rope_scaling");
    const json_t *kind = json_object_get(rope, "rope_type");
    if (!kind)
        kind = json_object_get(scaling, "rope_type");
    if (!kind)
        kind = json_object_get(scaling, "type");
    if (kind && (!json_is_string(kind) || strcmp(json_string_value(kind), "default")))
        return fail_config(diag, "rope_type",
                           "is not 'default'; scaled positions are not supported");
    return read_number(root, "rope_theta", &c->rope_theta, diag) &&
           read_number(rope, "rope_theta", &c->rope_theta, diag) &&
           read_number(root, "rms_norm_eps", &c->norm_eps, diag);
}

static bool is_text(const json_t *root, const char *key, const char *want)
{
    const json_t *field = json_object_get(root, key);
    return !field || (json_is_string(field) && !strcmp(json_string_value(field), want));
}

static bool read_config(const json_t *root, NnConfig *c, Diag *diag)
{
    if (!json_is_object(root))
        return fail_config(diag, "", "is no JSON object");
    if (!json_object_get(root, "model_type") || !is_text(root, "model_type", "qwen3"))
        return fail_config(diag, "model_type", "is not 'qwen3', the only architecture here");
    if (!is_text(root, "hidden_act", "silu"))
        return fail_config(diag, "hidden_act", "is not 'silu'");
    if (json_is_true(json_object_get(root, "attention_bias")))
        return fail_config(diag, "attention_bias", "is true; biases are not supported");
    if (json_is_true(json_object_get(root, "use_sliding_window")))
        return fail_config(diag, "use_sliding_window", "is true; windows are not supported");
    c->tied = json_is_true(json_object_get(root, "tie_word_embeddings"));
    return read_sizes(root, c, diag) && read_rotary(root, c, diag) && nn_config_check(c, diag);
}

bool nn_config_parse(Str text, NnConfig *config, Diag *diag)
{
    json_error_t error;
    json_t *root = json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES, &error);
    *config = (NnConfig){0};
    bool ok = root ? read_config(root, config, diag) : fail_config(diag, "", error.text);
    json_decref(root);
    return ok;
}

void nn_config_print(const NnConfig *c, Buf *out)
{
    buf_printf(out,
               "{\n  \"architectures\": [\"Qwen3ForCausalLM\"],\n  \"model_type\": \"qwen3\",\n"
               "  \"hidden_size\": %u,\n  \"intermediate_size\": %u,\n"
               "  \"num_hidden_layers\": %u,\n  \"num_attention_heads\": %u,\n"
               "  \"num_key_value_heads\": %u,\n  \"head_dim\": %u,\n  \"vocab_size\": %u,\n"
               "  \"max_position_embeddings\": %u,\n  \"hidden_act\": \"silu\",\n"
               "  \"attention_bias\": false,\n  \"tie_word_embeddings\": %s,\n",
               c->width, c->ffn, c->layers, c->heads, c->kv_heads, c->head_dim, c->vocab,
               c->context, c->tied ? "true" : "false");
    buf_puts(out, "  \"rms_norm_eps\": ");
    buf_printf(out, "%.9g", (double)c->norm_eps);
    buf_printf(out, ",\n  \"rope_theta\": %.9g\n}\n", (double)c->rope_theta);
}

static bool read_config_of(Arena *arena, const char *path, const StSet *set, NnConfig *config,
                           Diag *diag)
{
    Str text = set->files.len == 1 ? st_metadata(&set->files.at[0], NN_CONFIG_KEY) : STR("");
    const char *dir = file_is_dir(path) ? path : path_dir(arena, path);
    if (!text.len && !file_read(arena, path_join(arena, dir, "config.json"), 1 << 20, &text, diag))
        return false;
    return nn_config_parse(text, config, diag);
}

bool nn_checkpoint_open(Arena *arena, const char *path, NnConfig *config, StSet *set, Diag *diag)
{
    if (!st_set_open(arena, path, set, diag))
        return false;
    if (read_config_of(arena, path, set, config, diag))
        return true;
    st_set_close(set);
    return false;
}

/* [rows, cols]; a vector [rows]. */
static bool shape_fits(const StTensor *stored, const NnTensor *t)
{
    bool matrix = nn_tensor_is_matrix(t);
    return stored->rank == (matrix ? 2 : 1) && stored->shape[0] == t->rows &&
           (!matrix || stored->shape[1] == t->cols);
}

static bool fail_tensor(Diag *diag, const NnTensor *t, const char *why)
{
    diag_error(diag, "N003", (Span){0}, "tensor '%s' (%u x %llu) %s", t->name, t->rows,
               (unsigned long long)nn_tensor_cols(t), why);
    return false;
}

/* The scales of an I8 matrix, one for every group of columns. */
static bool apply_scales(const StSet *set, const NnTensor *t, float *out, Diag *diag)
{
    char name[128];
    int len = snprintf(name, sizeof name, "%s.scale", t->name);
    const StTensor *s = st_set_find(set, (Str){name, (size_t)len});
    uint64_t groups = s && s->rank == 2 ? s->shape[1] : 0;
    if (!s || s->dtype != ST_F32 || s->rank != 2 || s->shape[0] != t->rows || !groups ||
        nn_tensor_cols(t) % groups)
        return fail_tensor(diag, t, "is I8 without a fitting F32 tensor of its scales");
    uint64_t group = nn_tensor_cols(t) / groups;
    for (uint64_t i = 0; i < s->count; i++) {
        float scale = 0;
        st_floats(s, i, 1, &scale);
        for (uint64_t k = 0; k < group; k++)
            out[i * group + k] *= scale;
    }
    return true;
}

bool nn_checkpoint_tensor(const StSet *set, const NnTensor *t, float *out, Diag *diag)
{
    const StTensor *stored = st_set_find(set, str_from(t->name));
    if (!stored)
        return fail_tensor(diag, t, "is not in the checkpoint");
    if (!shape_fits(stored, t))
        return fail_tensor(diag, t, "has another shape in the checkpoint");
    if (stored->dtype != ST_F32 && stored->dtype != ST_F16 && stored->dtype != ST_BF16 &&
        stored->dtype != ST_I8)
        return fail_tensor(diag, t, "has a dtype that is not F32, F16, BF16 or I8");
    st_floats(stored, 0, stored->count, out);
    for (uint64_t i = 0; i < t->count; i++)
        if (!isfinite(out[i]))
            return fail_tensor(diag, t, "holds a value that is not finite");
    return stored->dtype != ST_I8 || apply_scales(set, t, out, diag);
}

/* The files hold a byte of every weight at least, so that a small file cannot ask for much. */
bool nn_checkpoint_fits(const StSet *set, const NnConfig *config, Diag *diag)
{
    Arena arena = {0};
    NnTable table = nn_table_make(&arena, config);
    uint64_t stored = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < table.count; i++)
        if (!st_set_find(set, str_from(table.tensors[i].name)))
            ok = fail_tensor(diag, &table.tensors[i], "is not in the checkpoint");
    for (uint32_t i = 0; i < set->all.len; i++)
        stored += set->all.at[i]->bytes;
    if (ok && stored < table.total) {
        diag_error(diag, "N003", (Span){0},
                   "the weights are fewer bytes than config.json asks for");
        ok = false;
    }
    arena_drop(&arena);
    return ok;
}

bool nn_checkpoint_load(Arena *arena, const char *path, NnModel *model, Diag *diag)
{
    StSet set;
    NnConfig config;
    if (!nn_checkpoint_open(arena, path, &config, &set, diag))
        return false;
    bool ok = nn_checkpoint_fits(&set, &config, diag);
    if (ok) {
        *model = nn_open(arena, &config);
        for (uint32_t i = 0; ok && i < model->table.count; i++) {
            const NnTensor *t = &model->table.tensors[i];
            ok = nn_checkpoint_tensor(&set, t, model->weights + t->at, diag);
        }
        if (!ok)
            nn_close(model);
    }
    st_set_close(&set);
    return ok;
}

/* The block in another dtype; NULL where it stays as it is. */
static uint16_t *convert_block(const NnModel *model, StDtype dtype)
{
    if (dtype == ST_F32)
        return NULL;
    uint16_t *half = heap_alloc(model->table.total * sizeof *half);
    for (uint64_t i = 0; i < model->table.total; i++)
        half[i] = dtype == ST_F16 ? half_from_float(model->weights[i])
                                  : bf16_from_float(model->weights[i]);
    return half;
}

static StTensor describe(const NnTensor *t, StDtype dtype, const void *data)
{
    StTensor out = {.name = str_from(t->name), .dtype = dtype, .count = t->count, .data = data};
    out.rank = nn_tensor_is_matrix(t) ? 2 : 1;
    out.shape[0] = t->rows;
    out.shape[1] = t->cols;
    out.bytes = t->count * st_dtype_bytes(dtype);
    return out;
}

bool nn_checkpoint_save(const char *dir, const NnModel *model, StDtype dtype, uint64_t shard,
                        Diag *diag)
{
    Arena arena = {0};
    Buf config = {0};
    const NnTable *table = &model->table;
    uint16_t *half = convert_block(model, dtype);
    StTensor *tensors = arena_array(&arena, StTensor, table->count);
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t at = table->tensors[i].at;
        const void *data = half ? (const void *)(half + at) : model->weights + at;
        tensors[i] = describe(&table->tensors[i], dtype, data);
    }
    nn_config_print(&table->config, &config);
    bool ok = file_make_dirs(dir, diag) &&
              st_write_set(&arena, dir, tensors, table->count, shard, diag) &&
              file_write(path_join(&arena, dir, "config.json"), buf_view(&config), diag);
    buf_free(&config);
    heap_free(half);
    arena_drop(&arena);
    return ok;
}
