/* Requests to a host program: shapes, dtypes and attributes in, tiling out. The request is built
 * as one block whose pointers hold for the address where the host program maps it. */
#include "twin/host_int.h"

#include <string.h>

enum { FORMAT_ND = 2 };
#define SYSTEM_WORKSPACE (16ull << 20)

/* A growing block; offsets become addresses only when everything has its place. */
typedef struct Block {
    Arena *arena;
    Buf buf;
} Block;

static uint64_t address_of(size_t at) { return HOST_REQUEST_ADDRESS + at; }

static size_t block_add(Block *b, const void *from, size_t bytes)
{
    while (b->buf.len % 16)
        buf_char(&b->buf, 0);
    size_t at = b->buf.len;
    if (from)
        buf_add(&b->buf, from, bytes);
    else
        buf_fill(&b->buf, 0, bytes);
    return at;
}

/* Pointers are plain 64-bit addresses in the other process. */
static void *block_pointer(size_t at) { return (void *)(uintptr_t)address_of(at); }

static const char *block_text(Block *b, const char *text)
{
    return block_pointer(block_add(b, text, strlen(text) + 1));
}

/* Plain row-major memory is what a run has; another format only where the operator takes no ND. */
static int32_t format_of(const TwinOpTensor *as)
{
    for (uint32_t i = 0; as && i < as->formats.len; i++)
        if (as->formats.at[i] == FORMAT_ND)
            return FORMAT_ND;
    return as && as->formats.len ? as->formats.at[0] : FORMAT_ND;
}

static AcraftHostTensor host_tensor(Block *b, const TwinHostTensor *from,
                                    const TwinOpTensors *declared)
{
    const TwinTensor *tensor = from->tensor;
    const TwinOpTensor *as = from->declared < declared->len ? &declared->at[from->declared] : NULL;
    AcraftHostTensor to = {.ir_index = (int32_t)from->declared,
                           .dtype = twin_ge_dtype(tensor->dtype),
                           .format = format_of(as),
                           .rank = (int32_t)tensor->rank};
    for (uint32_t i = 0; i < tensor->rank && i < ACRAFT_HOST_RANK; i++)
        to.dims[i] = (int64_t)tensor->shape[i];
    if (as && as->by_value && tensor->data && tensor->bytes < 1 << 20) {
        to.data = block_pointer(block_add(b, tensor->data, tensor->bytes));
        to.bytes = tensor->bytes;
    }
    return to;
}

static const AcraftHostTensor *host_tensors(Block *b, const TwinHostTensor *from, uint32_t count,
                                            const TwinOpTensors *declared)
{
    AcraftHostTensor *list = arena_array(b->arena, AcraftHostTensor, count + 1);
    for (uint32_t i = 0; i < count; i++)
        list[i] = host_tensor(b, &from[i], declared);
    return block_pointer(block_add(b, list, count * sizeof *list));
}

/* --- attributes ------------------------------------------------------------------------------ */

static const char *given_value(const NameList *attrs, const char *name)
{
    size_t len = strlen(name);
    for (uint32_t i = 0; attrs && i < attrs->len; i++)
        if (strncmp(attrs->at[i], name, len) == 0 && attrs->at[i][len] == '=')
            return attrs->at[i] + len + 1;
    return NULL;
}

static bool is_type(const TwinOpAttr *attr, const char *type)
{
    return strcmp(attr->type, type) == 0;
}

/* "[1,2,3]" or "1,2,3" */
static bool read_list(Block *b, const TwinOpAttr *attr, const char *text, AcraftHostAttr *to)
{
    VEC(int64_t) ints = {0};
    VEC(double) floats = {0};
    Str rest = str_trim(str_from(text)), piece;
    if (str_starts(rest, "[") && str_ends(rest, "]"))
        rest = str_slice(rest, 1, rest.len - 1);
    while (str_next(&rest, ',', &piece)) {
        double number;
        if (!str_to_double(str_trim(piece), &number))
            return false;
        vec_push(b->arena, &ints, (int64_t)number);
        vec_push(b->arena, &floats, number);
    }
    to->kind = is_type(attr, "list_float")  ? ACRAFT_ATTR_LIST_FLOAT
               : is_type(attr, "list_bool") ? ACRAFT_ATTR_LIST_BOOL
                                            : ACRAFT_ATTR_LIST_INT;
    to->count = (int32_t)ints.len;
    to->ints = block_pointer(block_add(b, ints.at, ints.len * sizeof *ints.at));
    to->floats = block_pointer(block_add(b, floats.at, floats.len * sizeof *floats.at));
    return true;
}

static bool read_attr(Block *b, const TwinOpAttr *attr, const char *text, AcraftHostAttr *to)
{
    Str value = str_from(text);
    bool is_true = str_is(value, "true") || str_is(value, "True") || str_is(value, "1");
    if (strncmp(attr->type, "list_", 5) == 0)
        return read_list(b, attr, text, to);
    if (is_type(attr, "string")) {
        to->kind = ACRAFT_ATTR_STRING;
        to->text = block_text(b, text);
        return true;
    }
    if (is_type(attr, "float")) {
        to->kind = ACRAFT_ATTR_FLOAT;
        return str_to_double(value, &to->f);
    }
    if (is_type(attr, "bool")) {
        to->kind = ACRAFT_ATTR_BOOL;
        to->i = is_true;
        return is_true || str_is(value, "false") || str_is(value, "False") || str_is(value, "0");
    }
    to->kind = ACRAFT_ATTR_INT;
    return str_to_i64(value, &to->i);
}

static bool host_attrs(Block *b, const TwinTilingRequest *request, AcraftTilingRequest *to,
                       Verdict *verdict)
{
    uint32_t count = request->op->attrs.len;
    AcraftHostAttr *list = arena_array(b->arena, AcraftHostAttr, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const TwinOpAttr *attr = &request->op->attrs.at[i];
        const char *value = given_value(request->attrs, attr->name);
        const char *why = NULL;
        if (value && !read_attr(b, attr, value, &list[i]))
            why = str_format(b->arena, "attribute '%s' takes a %s, not '%s'", attr->name,
                             attr->type, value);
        else if (!value && attr->required)
            why = str_format(b->arena, "attribute '%s' (%s) is required", attr->name, attr->type);
        if (why) {
            verdict_fail(verdict, VERDICT_BAD_TILING, STAGE_TILING, why);
            return false;
        }
    }
    to->attrs = block_pointer(block_add(b, list, count * sizeof *list));
    to->attr_count = (int32_t)count;
    return true;
}

/* --- the whole request ----------------------------------------------------------------------- */

static const AcraftHostChip *host_chip(Block *b, const NpuChip *chip)
{
    AcraftHostChip to = {.soc = block_text(b, str_format(b->arena, "Ascend%s", chip->name)),
                         .aic = chip->aic,
                         .aiv = chip->aiv,
                         .ub = chip->ub,
                         .l1 = chip->l1,
                         .l0a = chip->l0a,
                         .l0b = chip->l0b,
                         .l0c = chip->l0c,
                         .l2 = (uint64_t)chip->l2_mib << 20,
                         .system_workspace = SYSTEM_WORKSPACE};
    return block_pointer(block_add(b, &to, sizeof to));
}

static bool make_request(Arena *arena, const TwinTilingRequest *request, const TwinOptions *options,
                         Str *block, Verdict *verdict)
{
    Block b = {.arena = arena};
    HostRequest head = {0};
    block_add(&b, NULL, sizeof head);
    head.tiling.op = block_text(&b, request->op->name);
    head.tiling.chip = host_chip(&b, twin_chip(options));
    head.tiling.inputs = host_tensors(&b, request->inputs, request->input_count,
                                      &request->op->inputs);
    head.tiling.input_count = (int32_t)request->input_count;
    head.tiling.outputs = host_tensors(&b, request->outputs, request->output_count,
                                       &request->op->outputs);
    head.tiling.output_count = (int32_t)request->output_count;
    bool ok = host_attrs(&b, request, &head.tiling, verdict);
    head.bytes = b.buf.len;
    memcpy(b.buf.at, &head, sizeof head);
    *block = str_copy(arena, buf_view(&b.buf));
    buf_free(&b.buf);
    return ok;
}

static bool refuse_tiling(Arena *arena, const char *error, Verdict *verdict)
{
    verdict_fail(verdict, VERDICT_BAD_TILING, STAGE_TILING,
                 str_format(arena, "the tiling function refused: %.255s", error));
    return false;
}

static bool read_tiling(Arena *arena, Str answer, TwinTiling *tiling, Verdict *verdict)
{
    AcraftTilingResult result;
    if (answer.len < sizeof result) {
        verdict_fail(verdict, VERDICT_BAD_TILING, STAGE_TILING, "the tiling function gave nothing");
        return false;
    }
    memcpy(&result, answer.at, sizeof result);
    result.error[sizeof result.error - 1] = 0;
    if (result.error[0])
        return refuse_tiling(arena, result.error, verdict);
    if (result.tiling_bytes != answer.len - sizeof result || result.block_dim == 0)
        return refuse_tiling(
            arena, result.block_dim ? "its answer is cut" : "it set no block dimension", verdict);
    result.template_args[sizeof result.template_args - 1] = 0;
    result.tiling_struct[sizeof result.tiling_struct - 1] = 0;
    uint64_t workspace = result.workspace_count ? result.workspace[0] : 0;
    *tiling = (TwinTiling){.bytes = str_copy(arena, str_slice(answer, sizeof result, answer.len)),
                           .key = result.key,
                           .blocks = result.block_dim,
                           .workspace = workspace > SYSTEM_WORKSPACE ? workspace - SYSTEM_WORKSPACE
                                                                     : 0,
                           .template_args = str_dup(arena, str_from(result.template_args)),
                           .tiling_struct = str_dup(arena, str_from(result.tiling_struct)),
                           .kernel_type = result.kernel_type};
    return true;
}

bool twin_host_tiling(Arena *arena, const TwinHost *host, const TwinTilingRequest *request,
                      const TwinOptions *options, TwinTiling *tiling, Verdict *verdict)
{
    Str block, answer = {0};
    verdict->stage = STAGE_TILING;
    return make_request(arena, request, options, &block, verdict) &&
           twin_host_ask(arena, host, HOST_TILING, block, options, &answer, verdict) &&
           read_tiling(arena, answer, tiling, verdict);
}

/* Whatever the host code answers, it is sizes to look at, and few. */
void twin_host_scan(Arena *arena, const TwinHost *host, const TwinTilingRequest *request,
                    const TwinOptions *options)
{
    Verdict quiet = verdict_make();
    Str block, answer = {0};
    HostScanned found;
    if (!make_request(arena, request, options, &block, &quiet) ||
        !twin_host_ask(arena, host, HOST_SCAN, block, options, &answer, &quiet) ||
        answer.len != sizeof found)
        return;
    memcpy(&found, answer.at, sizeof found);
    for (int32_t i = 0; i < found.count && i < HOST_SCAN_MOST; i++)
        vec_push(options->scan->arena, &options->scan->sizes,
                 ((TwinScanSize){found.sizes[i].from, found.sizes[i].to}));
}

static bool read_inferred(Arena *arena, Str answer, TwinTensor *outputs, uint32_t count,
                          Verdict *verdict)
{
    HostInferred *inferred = arena_new(arena, HostInferred);
    if (answer.len != sizeof *inferred)
        return refuse_tiling(arena, "shape inference gave nothing", verdict);
    memcpy(inferred, answer.at, sizeof *inferred);
    inferred->error[sizeof inferred->error - 1] = 0;
    if (inferred->code != 0) {
        verdict_fail(verdict, VERDICT_BAD_TILING, STAGE_TILING,
                     str_format(arena, "%s; give the outputs' types and shapes",
                                inferred->error[0] ? inferred->error : "shape inference failed"));
        return false;
    }
    for (uint32_t i = 0; i < count && i < HOST_MOST_OUTPUTS; i++) {
        const AcraftHostTensor *from = &inferred->outputs[i];
        if (from->rank < 0 || from->rank > TWIN_MOST_DIMS ||
            !twin_from_ge_dtype(from->dtype, &outputs[i].dtype))
            return refuse_tiling(arena, "shape inference gave no shape", verdict);
        outputs[i].rank = (uint32_t)from->rank;
        for (int32_t d = 0; d < from->rank; d++) {
            if (from->dims[d] < 0)
                return refuse_tiling(arena, "shape inference gave an unknown shape", verdict);
            outputs[i].shape[d] = (uint64_t)from->dims[d];
        }
    }
    return true;
}

bool twin_host_infer(Arena *arena, const TwinHost *host, const TwinTilingRequest *request,
                     const TwinOptions *options, TwinTensor *outputs, uint32_t count,
                     Verdict *verdict)
{
    Str block, answer = {0};
    verdict->stage = STAGE_TILING;
    return make_request(arena, request, options, &block, verdict) &&
           twin_host_ask(arena, host, HOST_INFER, block, options, &answer, verdict) &&
           read_inferred(arena, answer, outputs, count, verdict);
}

bool twin_host_header(Arena *arena, const TwinHost *host, const TwinOp *op,
                      const TwinOptions *options, Str *text, Verdict *verdict)
{
    Str block;
    TwinTilingRequest request = {.op = op};
    TwinOp bare = {.name = op->name};
    request.op = &bare;
    *text = (Str){0};
    return make_request(arena, &request, options, &block, verdict) &&
           twin_host_ask(arena, host, HOST_HEADER, block, options, text, verdict);
}
