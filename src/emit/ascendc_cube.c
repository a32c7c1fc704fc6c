/* The cube's calls as C++. In: statements of a cube core. Out: lines, and the small functions that
 * they call: the vendor's parameter structs have more fields than one line should set. */
#include "emit/ascendc_int.h"

#include <string.h>

static const char load_tile[] = "// Rows and columns of an NZ tile in L1 into L0, as an image of "
                                "one line: its rows are the points.\n"
                                "template <typename T>\n"
                                "__aicore__ inline void LoadTile(const AscendC::LocalTensor<T> "
                                "&dst, const AscendC::LocalTensor<T> &src,\n"
                                "    int64_t tileRows, int64_t tileColumns, int64_t firstRow, "
                                "int64_t rows, int64_t firstColumn,\n"
                                "    int64_t columns, bool transpose)\n"
                                "{\n"
                                "    AscendC::LoadData3DParamsV2<T> p;\n"
                                "    p.l1H = 1;\n"
                                "    p.l1W = static_cast<uint16_t>(tileRows);\n"
                                "    p.channelSize = static_cast<uint16_t>(tileColumns);\n"
                                "    p.kExtension = static_cast<uint16_t>(columns);\n"
                                "    p.mExtension = static_cast<uint16_t>(rows);\n"
                                "    p.kStartPt = static_cast<uint16_t>(firstColumn);\n"
                                "    p.mStartPt = static_cast<uint16_t>(firstRow);\n"
                                "    p.enTranspose = transpose;\n"
                                "    AscendC::LoadData(dst, src, p);\n"
                                "}\n"
                                "\n";

static const char load_fractals[] =
    "// Fractals of L1 one after the other into L0.\n"
    "template <typename T>\n"
    "__aicore__ inline void LoadFractals(const AscendC::LocalTensor<T> &dst,\n"
    "    const AscendC::LocalTensor<T> &src, int64_t count)\n"
    "{\n"
    "    AscendC::LoadData2DParams p;\n"
    "    p.repeatTimes = static_cast<uint8_t>(count);\n"
    "    p.srcStride = 1;\n"
    "    AscendC::LoadData(dst, src, p);\n"
    "}\n"
    "\n";

static const char load_squares[] =
    "// Squares of 32 x 32 bytes of L1, transposed into L0B.\n"
    "template <typename T>\n"
    "__aicore__ inline void LoadSquares(const AscendC::LocalTensor<T> &dst,\n"
    "    const AscendC::LocalTensor<T> &src, int64_t count, int64_t apart)\n"
    "{\n"
    "    AscendC::LoadData2dTransposeParams p;\n"
    "    p.repeatTimes = static_cast<uint8_t>(count);\n"
    "    p.srcStride = static_cast<uint16_t>(apart);\n"
    "    p.dstGap = 1;\n"
    "    AscendC::LoadDataWithTranspose(dst, src, p);\n"
    "}\n"
    "\n";

/* Short products in a row: without a barrier the next would write the accumulator before the last has finished. */
static const char multiply[] =
    "// c = a x b where `init` holds, else c += a x b.\n"
    "template <typename C, typename T>\n"
    "__aicore__ inline void Multiply(const AscendC::LocalTensor<C> &c, const "
    "AscendC::LocalTensor<T> &a,\n"
    "    const AscendC::LocalTensor<T> &b, int64_t m, int64_t n, int64_t k, bool init, bool wide)\n"
    "{\n"
    "    AscendC::MmadParams p;\n"
    "    p.m = static_cast<uint16_t>(m);\n"
    "    p.n = static_cast<uint16_t>(n);\n"
    "    p.k = static_cast<uint16_t>(k);\n"
    "    p.cmatrixInitVal = init;\n"
    "    p.kDirectionAlign = wide;\n"
    "    AscendC::Mmad(c, a, b, p);\n"
    "    if (m * n < 10 * 256) {\n"
    "        AscendC::PipeBarrier<PIPE_M>();\n"
    "    }\n"
    "}\n"
    "\n";

static const char store_tile[] =
    "// A tile of L0C to GM, row by row.\n"
    "template <typename T, typename C>\n"
    "__aicore__ inline void StoreTile(const AscendC::GlobalTensor<T> &dst, const "
    "AscendC::LocalTensor<C> &src,\n"
    "    int64_t rows, int64_t columns, int64_t dstRow, int64_t tileRows, QuantMode_t mode, bool "
    "relu)\n"
    "{\n"
    "    AscendC::FixpipeParamsV220 p;\n"
    "    p.nSize = static_cast<uint16_t>(columns);\n"
    "    p.mSize = static_cast<uint16_t>(rows);\n"
    "    p.srcStride = static_cast<uint16_t>(tileRows);\n"
    "    p.dstStride = static_cast<uint32_t>(dstRow);\n"
    "    p.quantPre = mode;\n"
    "    p.reluEn = relu;\n"
    "    p.ndNum = 1;\n"
    "    AscendC::Fixpipe<T, C, AscendC::CFG_ROW_MAJOR>(dst, src, p);\n"
    "}\n"
    "\n";

void print_cube_helpers(Pen *pen, Str text)
{
    static const struct {
        AscCubeOp op;
        const char *call, *body, *api; /* api: the call that the records are of */
    } helpers[] = {
        {ASC_CUBE_LOAD3D, "LoadTile(", load_tile, "AscendC::LoadData("},
        {ASC_CUBE_LOAD2D, "LoadFractals(", load_fractals, "AscendC::LoadData("},
        {ASC_CUBE_LOAD_SQUARES, "LoadSquares(", load_squares, "AscendC::LoadDataWithTranspose("},
        {ASC_CUBE_MMAD, "Multiply(", multiply, "AscendC::Mmad("},
        {ASC_CUBE_FIXPIPE, "StoreTile(", store_tile, "AscendC::Fixpipe<"}};
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
        if (str_find(text, str_from(helpers[i].call)) < 0)
            continue;
        buf_puts(pen->out, helpers[i].body);
        const char *api = strstr(helpers[i].body, helpers[i].api);
        for (const char *c = helpers[i].body; *c; c++) {
            if (c == api && pen->notes)
                pen->notes->cube[helpers[i].op] = pen->line + 1;
            pen->line += *c == '\n';
        }
    }
}

static const char *quant_mode(DType from, DType to)
{
    return from == DT_F32 && to == DT_F16    ? "F322F16"
           : from == DT_F32 && to == DT_BF16 ? "F322BF16"
                                             : "NoQuant";
}

void print_cube(const Printer *pr, const AscStmt *s, const char *dst, const char *a, const char *b)
{
    Pen *pen = pr->pen;
    const char *arg[ASC_CUBE_ARGS];
    const char *mode = s->mode ? "true" : "false";
    for (size_t i = 0; i < ASC_CUBE_ARGS; i++)
        arg[i] = s->arg[i] ? print_expr(pr, s->arg[i]) : "0";
    switch (s->cube) {
    case ASC_CUBE_ND2NZ:
        pen_line(pen,
                 "AscendC::DataCopy(%s, %s, AscendC::Nd2NzParams(1, %s, %s, 0, %s, %s, 1, 0));",
                 dst, a, arg[0], arg[1], arg[2], arg[3]);
        break;
    case ASC_CUBE_LOAD3D:
        pen_line(pen, "LoadTile(%s, %s, %s, %s, %s, %s, %s, %s, %s);", dst, a, arg[0], arg[1],
                 arg[2], arg[3], arg[4], arg[5], mode);
        break;
    case ASC_CUBE_LOAD2D: pen_line(pen, "LoadFractals(%s, %s, %s);", dst, a, arg[0]); break;
    case ASC_CUBE_LOAD_SQUARES:
        pen_line(pen, "LoadSquares(%s, %s, %s, %s);", dst, a, arg[0], arg[1]);
        break;
    case ASC_CUBE_MMAD:
        pen_line(pen, "Multiply(%s, %s, %s, %s, %s, %s, %s, %s);", dst, a, b, arg[0], arg[1],
                 arg[2], arg[3], mode);
        break;
    case ASC_CUBE_FIXPIPE:
        pen_line(pen, "StoreTile(%s, %s, %s, %s, %s, %s, QuantMode_t::%s, %s);", dst, a, arg[0],
                 arg[1], arg[2], arg[3], quant_mode(s->a.dtype, s->dst.dtype), mode);
        break;
    case ASC_CUBE_SIGNAL:
        pen_line(pen, "AscendC::CrossCoreSetFlag<2, PIPE_%s>(%u);", npu_pipe_name(s->pipe),
                 s->flag);
        break;
    case ASC_CUBE_AWAIT: pen_line(pen, "AscendC::CrossCoreWaitFlag(%u);", s->flag); break;
    case ASC_CUBE_HF32: pen_line(pen, "AscendC::SetHF32Mode(%s);", mode); break;
    }
}

const char *task_type(const AscProgram *p)
{
    switch (p->task) {
    case ASC_TASK_CUBE: return "KERNEL_TYPE_AIC_ONLY";
    case ASC_TASK_MIX_1_1: return "KERNEL_TYPE_MIX_AIC_1_1";
    case ASC_TASK_MIX_1_2: return "KERNEL_TYPE_MIX_AIC_1_2";
    case ASC_TASK_VECTOR: break;
    }
    return path_syncs(p) ? "KERNEL_TYPE_MIX_AIV_1_0" : "KERNEL_TYPE_AIV_ONLY";
}
