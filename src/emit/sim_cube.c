/* The cube's calls as instructions, as the twin's headers make them of the emitted text
 * (ascendc_cube.c; twin/include/acraft: cube.h, copy.h, sync.h). In: a statement of a cube core, or
 * of the flags between the roles. Out: records. */
#include "emit/sim_int.h"

enum { PIPELINED = 10 * 256 }; /* products of fewer results are followed by a barrier */

static int64_t arg(SimCoreRun *c, const SimIns *s, int which)
{
    return s->e[which].given ? esim_value(c, s->e[which]).i : 0;
}

static RecordOperand local(SimCoreRun *c, const SimRef *r)
{
    return esim_operand(esim_local_ref(c, r), 0, 0);
}

/* Both operands on chip, of one dtype. */
static Record *put_load(SimCoreRun *c, const SimIns *s, uint16_t op)
{
    RecordOperand to = local(c, &s->dst), from = local(c, &s->a);
    Record *r = esim_put(c, s, op);
    r->dtype[0] = r->dtype[1] = r->dtype[2] = s->dst.dtype;
    r->operand[0] = to;
    r->operand[1] = from;
    return r;
}

static void put_nd2nz(SimCoreRun *c, const SimIns *s)
{
    uint64_t from = esim_global_ref(c, &s->a);
    RecordOperand to = local(c, &s->dst);
    uint16_t rows = (uint16_t)arg(c, s, 0), columns = (uint16_t)arg(c, s, 1);
    uint16_t step = (uint16_t)arg(c, s, 2), tile = (uint16_t)arg(c, s, 3);
    Record *r = esim_put(c, s, NPU_ND2NZ_GM_L1);
    r->flags = c->bypass[s->a.id] ? REC_L2_BYPASS : 0;
    r->dtype[0] = r->dtype[1] = r->dtype[2] = s->dst.dtype;
    r->operand[0] = to;
    r->operand[1] = (RecordOperand){.address = from};
    r->n[0] = 1;
    r->n[1] = rows;
    r->n[2] = columns;
    r->n[4] = step;
    r->n[5] = tile;
    r->mask[0] = 1;
}

static void put_register(SimCoreRun *c, const SimIns *s, uint8_t which, uint64_t sizes)
{
    Record *r = esim_put(c, s, NPU_SET_REGISTER);
    r->mode = which;
    r->mask[0] = sizes;
}

/* An image of one line: its height is 1, its width the rows of the tile; a filter of one point. */
static void put_load3d(SimCoreRun *c, const SimIns *s)
{
    put_register(c, s, REC_REG_FMATRIX_A, 1 | (uint64_t)(uint16_t)arg(c, s, 0) << 16);
    put_register(c, s, REC_REG_LOAD3D_PAD, 0);
    uint16_t of[ASC_CUBE_ARGS];
    for (int i = 1; i < ASC_CUBE_ARGS; i++)
        of[i] = (uint16_t)arg(c, s, i);
    Record *r = put_load(c, s, NPU_LOAD3D);
    r->n[0] = of[5];
    r->n[1] = of[3];
    r->n[2] = of[4];
    r->n[3] = of[2];
    r->n[4] = of[1];
    r->n[5] = 1 | 1u << 16;
    r->mask[0] = UINT64_C(0x01010101);
    r->mode = s->mode ? 1 : 0;
}

static void put_load2d(SimCoreRun *c, const SimIns *s)
{
    uint8_t count = (uint8_t)arg(c, s, 0);
    Record *r = put_load(c, s, NPU_LOAD2D);
    r->n[1] = count;
    r->n[2] = 1;
}

static void put_squares(SimCoreRun *c, const SimIns *s)
{
    uint8_t count = (uint8_t)arg(c, s, 0);
    uint16_t apart = (uint16_t)arg(c, s, 1);
    Record *r = put_load(c, s, NPU_LOAD_TRANSPOSE);
    r->n[1] = count;
    r->n[2] = apart;
    r->n[3] = 1;
}

static void put_mmad(SimCoreRun *c, const SimIns *s)
{
    int64_t m = arg(c, s, 0), n = arg(c, s, 1), k = arg(c, s, 2);
    bool init = arg(c, s, 3) != 0;
    RecordOperand right = local(c, &s->b);
    Record *r = put_load(c, s, NPU_MMAD);
    r->dtype[1] = s->a.dtype;
    r->dtype[2] = s->b.dtype;
    r->operand[2] = right;
    r->n[0] = (uint16_t)m;
    r->n[1] = (uint16_t)n;
    r->n[2] = (uint16_t)k;
    r->mode = (uint8_t)((init ? 1 : 0) | (s->mode ? 4 : 0));
    if (m * n < PIPELINED)
        esim_put_at(c, NPU_BARRIER, s->file, s->line + MMAD_TO_BARRIER, 0)->mode = NPU_PIPE_M;
}

static uint8_t quant_of(uint8_t from, uint8_t to)
{
    return from == DT_F32 && to == DT_F16    ? REC_QUANT_F32_F16
           : from == DT_F32 && to == DT_BF16 ? REC_QUANT_F32_BF16
                                             : REC_QUANT_NONE;
}

static void put_fixpipe(SimCoreRun *c, const SimIns *s)
{
    uint64_t to = esim_global_ref(c, &s->dst);
    RecordOperand from = local(c, &s->a);
    uint16_t rows = (uint16_t)arg(c, s, 0), columns = (uint16_t)arg(c, s, 1);
    uint32_t step = (uint32_t)arg(c, s, 2);
    uint16_t tile = (uint16_t)arg(c, s, 3);
    Record *r = esim_put(c, s, NPU_FIXPIPE_GM);
    r->dtype[0] = s->dst.dtype;
    r->dtype[1] = r->dtype[2] = s->a.dtype;
    r->operand[0] = (RecordOperand){.address = to};
    r->operand[1] = from;
    r->n[0] = columns;
    r->n[1] = rows;
    r->n[2] = tile;
    r->n[3] = step;
    r->n[4] = 1;
    r->mode = (uint8_t)(1 | (s->mode ? 2 : 0));
    r->mask[0] = quant_of(s->a.dtype, s->dst.dtype);
}

static void put_cross(SimCoreRun *c, const SimIns *s, uint16_t op, uint8_t pipe, uint8_t mode)
{
    Record *r = esim_put(c, s, op);
    r->pipe = pipe;
    r->mode = mode;
    r->n[0] = s->flag;
}

static void put_hf32(SimCoreRun *c, const SimIns *s)
{
    Record *r = esim_put(c, s, NPU_SET_REGISTER);
    r->mode = REC_REG_HF32;
    r->scalar = s->mode ? 1 : 0;
}

void esim_cube(SimCoreRun *c, const SimIns *s)
{
    switch (s->cube) {
    case ASC_CUBE_ND2NZ: put_nd2nz(c, s); break;
    case ASC_CUBE_LOAD3D: put_load3d(c, s); break;
    case ASC_CUBE_LOAD2D: put_load2d(c, s); break;
    case ASC_CUBE_LOAD_SQUARES: put_squares(c, s); break;
    case ASC_CUBE_MMAD: put_mmad(c, s); break;
    case ASC_CUBE_FIXPIPE: put_fixpipe(c, s); break;
    case ASC_CUBE_SIGNAL: put_cross(c, s, NPU_CROSS_SET, s->pipe, 2); break;
    case ASC_CUBE_AWAIT: put_cross(c, s, NPU_CROSS_WAIT, NPU_PIPE_S, 0); break;
    case ASC_CUBE_HF32: put_hf32(c, s); break;
    }
}
