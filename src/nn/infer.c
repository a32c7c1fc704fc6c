/* int8 models: made from floats or a checkpoint, and written. */
#include "nn/infer_int.h"

#include "base/file.h"
#include "nn/checkpoint.h"
#include <stdio.h>
#include <string.h>

static NnInt8 new_matrix(uint32_t rows, uint32_t cols)
{
    NnInt8 m = {.rows = rows, .cols = cols, .group = nn_int8_group(cols)};
    m.q = (int8_t *)(void *)nn_floats_new(((uint64_t)rows * cols + 3) / 4);
    m.scale = nn_floats_new((uint64_t)rows * (cols / m.group));
    return m;
}

static void free_matrix(NnInt8 *m)
{
    nn_floats_free((float *)(void *)m->q);
    nn_floats_free(m->scale);
}

/* Where a tensor of the table goes: rows first .. of a matrix, or a vector. */
typedef struct Place {
    NnInt8 *matrix;
    uint32_t first;
    float *vector;
} Place;

static Place place_of(NnInfer *m, const NnTensor *t)
{
    const NnConfig *c = &m->table.config;
    InferLayer *l = &m->layers[t->layer];
    switch (t->id) {
    case NN_EMBED: return (Place){&m->embed, 0, NULL};
    case NN_HEAD: return (Place){&m->head, 0, NULL};
    case NN_Q: return (Place){&l->qkv, 0, NULL};
    case NN_K: return (Place){&l->qkv, nn_q_size(c), NULL};
    case NN_V: return (Place){&l->qkv, nn_q_size(c) + nn_kv_size(c), NULL};
    case NN_O: return (Place){&l->o, 0, NULL};
    case NN_GATE: return (Place){&l->gu, 0, NULL};
    case NN_UP: return (Place){&l->gu, c->ffn, NULL};
    case NN_DOWN: return (Place){&l->down, 0, NULL};
    default: return (Place){NULL, 0, m->vectors + t->at};
    }
}

/* Vectors keep their place in a block of the table of which only they are used; it is small where
 * the table is packed, so they get a block of their own. */
static void place_vectors(NnInfer *m)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < m->table.count; i++)
        if (!nn_tensor_is_matrix(&m->table.tensors[i])) {
            m->table.tensors[i].at = at;
            at += m->table.tensors[i].count;
        }
    m->vectors = nn_floats_new(at);
}

static NnInfer *new_infer(const NnConfig *c)
{
    NnInfer *m = heap_alloc(sizeof *m);
    m->table = nn_table_make(&m->arena, c);
    m->layers = arena_array(&m->arena, InferLayer, c->layers);
    place_vectors(m);
    m->embed = new_matrix(c->vocab, c->width);
    if (!c->tied)
        m->head = new_matrix(c->vocab, c->width);
    for (uint32_t i = 0; i < c->layers; i++) {
        m->layers[i].qkv = new_matrix(nn_qkv_size(c), c->width);
        m->layers[i].o = new_matrix(c->width, nn_q_size(c));
        m->layers[i].gu = new_matrix(2 * c->ffn, c->width);
        m->layers[i].down = new_matrix(c->width, c->ffn);
    }
    return m;
}

void nn_infer_close(NnInfer *m)
{
    if (!m)
        return;
    free_matrix(&m->embed);
    free_matrix(&m->head);
    for (uint32_t i = 0; i < m->table.config.layers; i++) {
        free_matrix(&m->layers[i].qkv);
        free_matrix(&m->layers[i].o);
        free_matrix(&m->layers[i].gu);
        free_matrix(&m->layers[i].down);
    }
    nn_floats_free(m->vectors);
    arena_drop(&m->arena);
    heap_free(m);
}

static void put_tensor(NnInfer *m, const NnTensor *t, const float *w)
{
    Place p = place_of(m, t);
    if (p.matrix)
        nn_int8_round(p.matrix, p.first, w, t->rows);
    else
        memcpy(p.vector, w, t->count * sizeof *w);
}

NnInfer *nn_infer_make(const NnModel *model)
{
    NnInfer *m = new_infer(&model->table.config);
    for (uint32_t i = 0; i < m->table.count; i++)
        put_tensor(m, &m->table.tensors[i], model->weights + model->table.tensors[i].at);
    return m;
}

/* One tensor at a time passes through floats, so that a large model needs little more than itself. */
static bool read_tensors(NnInfer *m, const StSet *set, Diag *diag)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < m->table.count; i++) {
        const NnTensor *t = &m->table.tensors[i];
        float *w = nn_floats_new(t->count);
        ok = nn_checkpoint_tensor(set, t, w, diag);
        if (ok)
            put_tensor(m, t, w);
        nn_floats_free(w);
    }
    return ok;
}

NnInfer *nn_infer_open(const char *path, Diag *diag)
{
    Arena arena = {0};
    StSet set;
    NnConfig config;
    NnInfer *m = NULL;
    if (nn_checkpoint_open(&arena, path, &config, &set, diag)) {
        if (nn_checkpoint_fits(&set, &config, diag)) {
            m = new_infer(&config);
            if (!read_tensors(m, &set, diag)) {
                nn_infer_close(m);
                m = NULL;
            }
        }
        st_set_close(&set);
    }
    arena_drop(&arena);
    return m;
}

const NnConfig *nn_infer_config(const NnInfer *m) { return &m->table.config; }

static uint64_t matrix_bytes(const NnInt8 *m)
{
    return (uint64_t)m->rows * (m->cols + m->cols / (m->group ? m->group : 1) * sizeof(float));
}

uint64_t nn_infer_bytes(const NnInfer *m)
{
    uint64_t bytes = matrix_bytes(m->table.config.tied ? &m->embed : &m->head);
    for (uint32_t i = 0; i < m->table.config.layers; i++) {
        const InferLayer *l = &m->layers[i];
        bytes += matrix_bytes(&l->qkv) + matrix_bytes(&l->o) + matrix_bytes(&l->gu) +
                 matrix_bytes(&l->down);
    }
    return bytes;
}

static void describe_matrix(Arena *arena, StTensor *out, const NnTensor *t, const Place *p)
{
    const NnInt8 *m = p->matrix;
    uint64_t groups = m->cols / m->group;
    out[0] = (StTensor){.name = str_from(t->name), .dtype = ST_I8, .rank = 2};
    out[0].shape[0] = t->rows;
    out[0].shape[1] = t->cols;
    out[0].count = out[0].bytes = t->count;
    out[0].data = m->q + (size_t)p->first * m->cols;
    out[1] = (StTensor){.dtype = ST_F32, .rank = 2, .count = t->rows * groups};
    out[1].name = str_from(str_format(arena, "%s.scale", t->name));
    out[1].shape[0] = t->rows;
    out[1].shape[1] = groups;
    out[1].bytes = out[1].count * sizeof(float);
    out[1].data = m->scale + p->first * groups;
}

bool nn_infer_save(const NnInfer *m, const char *path, Diag *diag)
{
    Arena arena = {0};
    Buf config = {0};
    uint32_t count = 0;
    StTensor *tensors = arena_array(&arena, StTensor, 2 * (size_t)m->table.count);
    for (uint32_t i = 0; i < m->table.count; i++) {
        const NnTensor *t = &m->table.tensors[i];
        Place p = place_of((NnInfer *)(uintptr_t)m, t);
        if (p.matrix)
            describe_matrix(&arena, tensors + count, t, &p);
        else
            tensors[count] = (StTensor){str_from(t->name),        ST_F32,  1, {t->rows}, t->count,
                                        t->count * sizeof(float), p.vector};
        count += p.matrix ? 2 : 1;
    }
    nn_config_print(&m->table.config, &config);
    StPair pair = {STR(NN_CONFIG_KEY), buf_view(&config)};
    bool ok = st_write(path, tensors, count, &pair, 1, diag);
    buf_free(&config);
    arena_drop(&arena);
    return ok;
}
