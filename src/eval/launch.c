/* Launches that host code asks for: an operator of the project by its aclnn name, or a kernel of the
 * candidate by <<<>>>. In: an event with addresses. Out: memory changed by the twin. */
#include "eval/device.h"

#include "eval/sample.h"

#include "base/hash.h"
#include <math.h>
#include <string.h>

/* ---- tensors of a launch ---- */

typedef struct Lent {
    TwinTensor tensor;
    TwinView view;
    EvalRoom *room;
    void *dense;     /* a copy of a strided view; NULL: used in place */
    uint64_t before; /* of the allocation's bytes; 0: all alike, whoever wrote them */
    bool held;       /* it held values before the launch */
} Lent;

typedef VEC(Lent) Lents;

static bool whole(const TwinView *v, const EvalRoom *room, uint64_t bytes)
{
    return v->address == room->address && !v->offset && bytes == room->memory.bytes;
}

static bool fail_launch(EvalHost *host, VerdictStatus status, const char *reason)
{
    return eval_judge_fail(host->j, status, STAGE_RUN, reason);
}

static uint64_t fingerprint(const TwinTensor *memory)
{
    const char *at = memory->data;
    size_t period = 8, bytes = memory->bytes;
    if (bytes <= period || memcmp(at, at + period, bytes - period) == 0)
        return 0;
    return hash64(at, bytes) | 1;
}

/* Makes the elements of a view available as dense bytes. */
static bool lend(EvalHost *host, EvalDevice *d, const TwinView *v, const char *name, SimRole role,
                 Lents *lents)
{
    Arena *arena = host->j->arena;
    Lent lent = {.view = *v, .room = eval_device_at(d, v->address)};
    uint64_t count;
    if (!lent.room || !twin_view_count(v, &count) || v->rank > TWIN_MOST_DIMS)
        return fail_launch(host, VERDICT_CRASHED, "a launch gets a tensor without memory");
    bool no_values = host->j->config->no_values;
    lent.before = role == SIM_IN || no_values ? 0 : fingerprint(&lent.room->memory);
    lent.held = lent.room->known;
    lent.tensor = (TwinTensor){.name = name, .dtype = v->dtype, .rank = v->rank, .role = role};
    lent.tensor.bytes = (size_t)(count * dtype_bytes(v->dtype));
    for (uint32_t i = 0; i < v->rank; i++)
        lent.tensor.shape[i] = (uint64_t)v->size[i];
    if (v->rank == 0) {
        lent.tensor.rank = 1;
        lent.tensor.shape[0] = 1;
    }
    bool in_place = twin_view_dense(v) && whole(v, lent.room, lent.tensor.bytes);
    if (host->j->config->sample && !in_place)
        return fail_launch(host, VERDICT_NO_TIME, "a launch gets part of a tensor");
    if (no_values && !lent.room->holds && !host->j->config->sample) {
        lent.tensor.data = NULL;
    } else if (in_place) {
        lent.tensor.data = lent.room->memory.data;
        lent.tensor.fd = lent.room->memory.fd;
    } else {
        lent.dense = arena_alloc(arena, lent.tensor.bytes + 1);
        lent.tensor.data = lent.dense;
        if (!twin_view_gather(v, lent.room->memory.data, lent.room->memory.bytes, lent.dense))
            return fail_launch(host, VERDICT_CRASHED, "a launch gets a tensor outside its memory");
    }
    vec_push(arena, lents, lent);
    return true;
}

/* Written copies go back to where they came from. */
static void give_back(Lents *lents, bool no_values)
{
    for (uint32_t i = 0; i < lents->len; i++) {
        Lent *l = &lents->at[i];
        if (l->tensor.role == SIM_IN)
            continue;
        l->room->known = true;
        l->room->sampled = l->tensor.role == SIM_OUT && l->tensor.fd > 0;
        l->room->by_kernel |= no_values;
        if (no_values)
            continue;
        if (l->dense)
            twin_view_scatter(&l->view, l->room->memory.data, l->room->memory.bytes, l->dense);
        l->room->by_kernel |= !l->before || fingerprint(&l->room->memory) != l->before;
    }
}

/* ---- launches that only copy ---- */

/* The bytes of `piece` stand in `whole` one after the other. */
static bool is_piece_of(Str piece, Str whole)
{
    const char *at = whole.at;
    size_t head = piece.len < 64 ? piece.len : 64;
    for (size_t left = whole.len; left >= piece.len;) {
        const char *found = memmem(at, left, piece.at, head);
        if (!found || left - (size_t)(found - at) < piece.len)
            return false;
        if (memcmp(found, piece.at, piece.len) == 0)
            return true;
        left -= (size_t)(found - at) + 1;
        at = found + 1;
    }
    return false;
}

static Str lent_bytes(const Lent *l) { return (Str){.at = l->tensor.data, .len = l->tensor.bytes}; }

/* Everything the launch wrote is what another of its tensors held before. Two that it wrote may be alike
 * (a result and the workspace that it was computed in). */
static bool only_copies(const Lents *lents)
{
    bool any = false;
    for (uint32_t i = 0; i < lents->len; i++) {
        const Lent *out = &lents->at[i];
        bool piece = false, wrote = out->tensor.role != SIM_IN && out->room->by_kernel;
        for (uint32_t k = 0; wrote && k < lents->len && !piece; k++)
            piece = k != i && lents->at[k].room != out->room && lents->at[k].held &&
                    is_piece_of(lent_bytes(out), lent_bytes(&lents->at[k]));
        if (wrote && !piece)
            return false;
        any |= wrote;
    }
    return any;
}

/* A row of the table that says: this result replaces an input. */
static bool replaces_input(const TorchTask *task, const TorchOperand *row)
{
    bool result = row->role == OPERAND_OUT || row->role == OPERAND_OUTS;
    for (uint32_t i = 0; result && i < task->operands.len; i++) {
        const TorchOperand *in = &task->operands.at[i];
        bool input = in->role == OPERAND_IN || in->role == OPERAND_OPT || in->role == OPERAND_LIST;
        if (input && strcmp(in->name, row->name) == 0)
            return true;
    }
    return row->role == OPERAND_MUT;
}

bool eval_task_in_place(const EvalJudge *j)
{
    const TorchTask *task = j->ref && j->ref->model ? j->ref->model->task : NULL;
    bool mutates = !j->ref || (task && task->in_place);
    for (uint32_t i = 0; task && i < task->operands.len; i++)
        mutates |= replaces_input(task, &task->operands.at[i]);
    return mutates;
}

static bool same_elements(const Tensor *a, const Tensor *b)
{
    bool same = a->count == b->count;
    for (int64_t i = 0; same && i < a->count; i++)
        same = tensor_get(a, i) == tensor_get(b, i);
    return same;
}

static Str tensor_bytes(const Tensor *t)
{
    return (Str){.at = t->at, .len = (size_t)t->count * dtype_bytes(t->dtype)};
}

/* On this case each result is an input as it lies, or part of one (a mean over single elements, a comparison that holds
 * nowhere where an input has as many zeros): whoever copies it has done all there is to do. */
static bool results_are_inputs(const EvalReference *ref)
{
    const Graph *g = ref->graph;
    bool all = g->outputs.len > 0;
    for (uint32_t i = 0; all && i < g->outputs.len; i++) {
        bool found = false;
        for (uint32_t k = 0; k < ref->in.n_inputs && !found; k++)
            found = same_elements(ref->want[i], ref->in.inputs[k]) ||
                    is_piece_of(tensor_bytes(ref->want[i]), tensor_bytes(ref->in.inputs[k]));
        all = found;
    }
    return all;
}

bool eval_host_computes(EvalHost *host)
{
    return host->computes || host->j->config->no_values || eval_host_is_theirs(host->j) ||
           eval_task_copies(host->j->ref->graph) || results_are_inputs(host->j->ref) ||
           eval_judge_fail(host->j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                           "its kernels only copy what they are given: the work is PyTorch's");
}

/* Fresh memory that one launch writes and the caller gets is an output: all of it must be written.
 * Other fresh memory is scratch, and a result of which the caller gets a part: what it gets is compared. */
static SimRole role_of(const EvalRoom *room, uint64_t bytes, bool no_values)
{
    if (no_values && room->holds && !room->is_result)
        return SIM_IN; /* so that the launch has what it holds */
    if (room->known)
        return SIM_INOUT;
    bool all = room->is_result && !room->is_part && bytes == room->memory.bytes;
    return all && room->uses == 1 ? SIM_OUT : SIM_WORKSPACE;
}

static TwinTensor *tensors_of(Arena *arena, const Lents *lents)
{
    TwinTensor *list = arena_array(arena, TwinTensor, lents->len + 1);
    for (uint32_t i = 0; i < lents->len; i++)
        list[i] = lents->at[i].tensor;
    return list;
}

/* In a sample only some cores run, so that a second launch would go on from results that are
 * there only in part. */
static bool may_launch(EvalHost *host)
{
    EvalSample *sample = host->j->config->sample;
    return !sample || sample->launches++ == 0 ||
           fail_launch(host, VERDICT_NO_TIME, "host code launches several kernels");
}

/* ---- operators ---- */

static const TwinOp *find_op(const EvalHost *host, const char *aclnn)
{
    const TwinOps *ops = host->opened ? twin_host_ops(twin_project_host(host->opened)) : NULL;
    const char *name = strncmp(aclnn, "aclnn", 5) == 0 ? aclnn + 5 : aclnn;
    for (uint32_t i = 0; ops && i < ops->len; i++)
        if (strcmp(ops->at[i].name, name) == 0)
            return &ops->at[i];
    return NULL;
}

static bool lend_value(EvalHost *host, EvalDevice *d, const TwinValue *v, const TwinOpTensor *t,
                       bool output, Lents *lents)
{
    if (v->kind == BIND_LIST) {
        for (uint32_t i = 0; i < v->count; i++)
            if (!lend_value(host, d, &v->list[i], t, output, lents))
                return false;
        return true;
    }
    if (v->kind == BIND_NONE && t->need != TWIN_REQUIRED)
        return true;
    if (v->kind != BIND_TENSOR)
        return fail_launch(
            host, VERDICT_CRASHED,
            str_format(host->j->arena, "the binding passes no tensor for '%s'", t->name));
    EvalRoom *room = eval_device_at(d, v->view.address);
    if (!output && room && !room->known)
        return fail_launch(
            host, VERDICT_HAZARD,
            str_format(host->j->arena, "input '%s' is memory that nobody has written", t->name));
    SimRole role = !output ? SIM_IN : room && room->known ? SIM_INOUT : SIM_OUT;
    return lend(host, d, &v->view, t->name, role, lents);
}

static const char *number_text(Arena *arena, const TwinValue *v)
{
    Buf out = {0};
    if (v->kind == BIND_FLOAT)
        buf_double(&out, v->f);
    else if (v->kind == BIND_BOOL)
        buf_puts(&out, v->i ? "true" : "false");
    else
        buf_printf(&out, "%lld", (long long)v->i);
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

static const char *attr_text(Arena *arena, const TwinValue *v)
{
    Buf out = {0};
    if (v->kind == BIND_TEXT)
        return str_dup(arena, v->text);
    if (v->kind != BIND_LIST)
        return number_text(arena, v);
    for (uint32_t i = 0; i < v->count; i++)
        buf_printf(&out, "%s%s", i ? "," : "", number_text(arena, &v->list[i]));
    const char *text = out.len ? buf_take(&out, arena) : "";
    buf_free(&out);
    return text;
}

static bool is_input(const TwinOp *op, const char *name)
{
    for (uint32_t i = 0; i < op->inputs.len; i++)
        if (strcmp(op->inputs.at[i].name, name) == 0)
            return true;
    return false;
}

/* Arguments stand as aclnn functions take them: inputs, attributes, outputs; an output that has an
 * input's name is not passed again. */
static bool read_args(EvalHost *host, EvalDevice *d, const TwinOp *op, const TwinEvent *e,
                      TwinCase *kase, Lents *lents)
{
    Arena *arena = host->j->arena;
    uint32_t again = 0, next = 0;
    for (uint32_t i = 0; i < op->outputs.len; i++)
        again += is_input(op, op->outputs.at[i].name);
    uint32_t all = op->inputs.len + op->attrs.len + op->outputs.len;
    bool in_place = again && e->count == all - again;
    if (e->count != all && !in_place)
        return fail_launch(
            host, VERDICT_CRASHED,
            str_format(arena,
                       "the binding passes %u arguments to %s, which has %u inputs, %u "
                       "attributes, %u outputs",
                       e->count, e->name, op->inputs.len, op->attrs.len, op->outputs.len));
    for (uint32_t i = 0; i < op->inputs.len; i++)
        if (!lend_value(host, d, &e->args[next++], &op->inputs.at[i], false, lents))
            return false;
    for (uint32_t i = 0; i < op->attrs.len; i++) {
        const TwinValue *v = &e->args[next++];
        if (v->kind == BIND_TENSOR)
            return fail_launch(host, VERDICT_CRASHED,
                               str_format(arena, "the binding passes a tensor for attribute '%s'",
                                          op->attrs.at[i].name));
        if (v->kind != BIND_NONE)
            vec_push(arena, &kase->attrs,
                     str_format(arena, "%s=%s", op->attrs.at[i].name, attr_text(arena, v)));
    }
    for (uint32_t i = 0; i < op->outputs.len; i++) {
        if (in_place && is_input(op, op->outputs.at[i].name))
            continue;
        if (!lend_value(host, d, &e->args[next++], &op->outputs.at[i], true, lents))
            return false;
    }
    return true;
}

static const TwinOpTensor *declared(const TwinOp *op, const Lent *lent)
{
    const TwinOpTensors *lists[] = {&op->inputs, &op->outputs};
    for (int k = lent->tensor.role == SIM_IN ? 0 : 1; k >= 0; k--)
        for (uint32_t i = 0; i < lists[k]->len; i++)
            if (strcmp(lists[k]->at[i].name, lent->tensor.name) == 0)
                return &lists[k]->at[i];
    return NULL;
}

/* The operator must be defined for these dtypes together, as aclnn checks. */
static bool dtypes_defined(EvalHost *host, const TwinOp *op, const Lents *lents)
{
    uint32_t columns = op->inputs.len    ? op->inputs.at[0].dtypes.len
                       : op->outputs.len ? op->outputs.at[0].dtypes.len
                                         : 0;
    for (uint32_t column = 0; column < columns; column++) {
        bool fits = true;
        for (uint32_t i = 0; i < lents->len && fits; i++) {
            const TwinOpTensor *t = declared(op, &lents->at[i]);
            fits = !t || (column < t->dtypes.len &&
                          t->dtypes.at[column] == twin_ge_dtype(lents->at[i].tensor.dtype));
        }
        if (fits)
            return true;
    }
    Buf types = {0};
    for (uint32_t i = 0; i < lents->len; i++)
        buf_printf(&types, "%s%s %s", i ? ", " : "", lents->at[i].tensor.name,
                   dtype_name(lents->at[i].tensor.dtype));
    const char *text = str_format(host->j->arena, "operator %s is not defined for %s", op->name,
                                  types.len ? types.at : "no tensors");
    buf_free(&types);
    return !columns || fail_launch(host, VERDICT_BAD_TILING, text);
}

bool eval_launch_operator(EvalHost *host, EvalDevice *d, const TwinEvent *e)
{
    EvalJudge *j = host->j;
    Lents lents = {0};
    TwinTensors made = {0};
    TwinCase kase = {0};
    TwinRun run;
    const TwinOp *op = find_op(host, e->name);
    if (!op)
        return fail_launch(
            host, VERDICT_NOT_COMPUTED,
            str_format(j->arena, "the binding calls %s, which is no operator of its own", e->name));
    if (!read_args(host, d, op, e, &kase, &lents) || !dtypes_defined(host, op, &lents))
        return false;
    kase.op = op->name;
    kase.tensors = tensors_of(j->arena, &lents);
    kase.tensor_count = lents.len;
    if (!eval_values_stay(j, op, kase.tensors, kase.tensor_count) || !may_launch(host))
        return false;
    host->launches++;
    bool ok = twin_project_run(j->arena, host->opened, &kase, &j->twin, &made, &run, j->verdict,
                               j->diag);
    eval_launched(j);
    for (uint32_t i = 0; i < lents.len; i++)
        lents.at[i].tensor.role = kase.tensors[i].role;
    for (uint32_t i = 0; i < made.len; i++)
        twin_tensor_free(&made.at[i]);
    give_back(&lents, j->config->no_values);
    host->computes |= ok && (j->config->no_values || !only_copies(&lents));
    return ok;
}

/* ---- kernels ---- */

static bool names_kernel(Str text, Str name)
{
    Str rest = text;
    for (ptrdiff_t at; eval_is_kernel(text) && (at = str_find(rest, name)) >= 0;) {
        Str behind = str_trim(str_slice(rest, (size_t)at + name.len, rest.len));
        if (str_starts(behind, "("))
            return true;
        rest = str_slice(rest, (size_t)at + name.len, rest.len);
    }
    return false;
}

static TwinKernel *compile(EvalHost *host, const char *name)
{
    EvalJudge *j = host->j;
    ptrdiff_t angle = str_find(str_from(name), STR("<"));
    Str bare = str_slice(str_from(name), 0, angle < 0 ? strlen(name) : (size_t)angle);
    for (ptrdiff_t colons; (colons = str_find(bare, STR("::"))) >= 0;)
        bare = str_slice(bare, (size_t)colons + 2, bare.len);
    for (uint32_t i = 0; i < j->candidate->texts.len; i++) {
        const EvalText *text = &j->candidate->texts.at[i];
        if (str_ends(str_from(text->path), ".h"))
            continue;
        Str whole = eval_include(j->arena, j->candidate, text);
        if (names_kernel(whole, bare)) {
            TwinSource source = {.path = text->path, .text = whole, .kernel = name};
            j->diag->file = text->path;
            j->diag->source = text->text;
            return twin_compile(j->arena, &source, &j->twin, j->verdict, j->diag);
        }
    }
    eval_judge_fail(j, VERDICT_NOT_COMPILED, STAGE_COMPILE,
                    str_format(j->arena, "kernel '%s' is launched but defined nowhere", name));
    return NULL;
}

static TwinKernel *kernel_of(EvalHost *host, const char *name)
{
    for (uint32_t i = 0; i < host->kernel_count; i++)
        if (strcmp(host->kernels[i].name, name) == 0)
            return host->kernels[i].kernel;
    TwinKernel *kernel = compile(host, name);
    uint32_t n = sizeof host->kernels / sizeof *host->kernels;
    if (kernel && host->kernel_count < n) {
        host->kernels[host->kernel_count].name = name;
        host->kernels[host->kernel_count++].kernel = kernel;
    }
    return kernel;
}

/* The rest of an allocation from an address on, as bytes. */
static TwinView view_from(const EvalRoom *room, uint64_t address)
{
    int64_t at = (int64_t)(address - room->address);
    return (TwinView){.address = room->address,
                      .offset = at,
                      .dtype = DT_U8,
                      .rank = 1,
                      .size = {(int64_t)room->memory.bytes - at},
                      .stride = {1}};
}

/* An address becomes the tensor that starts there; the same address twice is one tensor. One of no
 * allocation (programs leave pointers unset that this launch does not use) is given as null: to touch
 * it is a fault of the kernel, to pass it is none. */
static bool lend_address(EvalHost *host, EvalDevice *d, uint64_t address, const char *name,
                         Lents *lents, TwinArg *arg)
{
    EvalRoom *room = eval_device_at(d, address);
    *arg = (TwinArg){.kind = TWIN_ARG_NULL};
    if (!address || !room)
        return true;
    if (host->j->config->no_values && room->is_part) /* which of it must be written is not known */
        return fail_launch(host, VERDICT_NO_TIME, "host code gives back part of a tensor");
    TwinView view = view_from(room, address);
    for (uint32_t i = 0; i < lents->len; i++) {
        if (lents->at[i].room != room)
            continue;
        *arg = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = i, .count = 1};
        if (lents->at[i].view.offset == view.offset)
            return true;
        return fail_launch(host, VERDICT_UNSUPPORTED,
                           "two kernel arguments point into one allocation at different places");
    }
    *arg = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = lents->len, .count = 1};
    room->uses++;
    return lend(host, d, &view, name,
                role_of(room, (uint64_t)view.size[0], host->j->config->no_values), lents);
}

static bool bind_args(EvalHost *host, EvalDevice *d, const TwinKernel *kernel, const TwinEvent *e,
                      Lents *lents, TwinArg *args)
{
    const TwinParams *params = twin_kernel_params(kernel);
    if (params->len != e->count)
        return fail_launch(host, VERDICT_CRASHED,
                           str_format(host->j->arena, "kernel '%s' takes %u arguments, not %u",
                                      e->name, params->len, e->count));
    for (uint32_t i = 0; i < e->count; i++) {
        const TwinValue *v = &e->args[i];
        if (v->kind == BIND_TEXT)
            args[i] = (TwinArg){.kind = TWIN_ARG_VALUE, .bytes = v->text};
        else if (!lend_address(host, d, (uint64_t)v->i, params->at[i].name, lents, &args[i]))
            return false;
    }
    return true;
}

bool eval_launch_kernel(EvalHost *host, EvalDevice *d, const TwinEvent *e)
{
    EvalJudge *j = host->j;
    TwinKernel *kernel = kernel_of(host, e->name);
    Lents lents = {0};
    TwinArg *args = arena_array(j->arena, TwinArg, e->count + 1);
    if (!kernel || !bind_args(host, d, kernel, e, &lents, args))
        return false;
    if (e->blocks == 0 || e->blocks > 65535)
        return fail_launch(
            host, VERDICT_BAD_TILING,
            str_format(j->arena, "kernel '%s' is launched with %u blocks", e->name, e->blocks));
    TwinLaunch launch = {.tensors = tensors_of(j->arena, &lents),
                         .tensor_count = lents.len,
                         .args = args,
                         .arg_count = e->count,
                         .blocks = e->blocks};
    TwinRun run = {0};
    if (!may_launch(host))
        return false;
    host->launches++;
    bool ok = twin_run(j->arena, kernel, &launch, &j->twin, &run, j->verdict);
    buf_str(&host->printed, run.printed);
    eval_launched(j);
    give_back(&lents, j->config->no_values);
    host->computes |= ok && (j->config->no_values || !only_copies(&lents));
    return ok;
}
