/* The memories of one launch. In: tensors, tiling, workspace. Out: three memory files laid out as
 * twin/rt/share.h says; two of them sealed so that no core process can ever write them. That of GM
 * goes to core processes only where it holds no data. */
#include "twin/run_int.h"

#include "base/hash.h"
#include "base/rng.h"
#include "twin/include/acraft/core.h"
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = SIM_GM_PAGE, GM_STEP = SIM_GM_STEP, LIST_ENTRY = 8 };
_Static_assert(SHARE_GM_BASE == SIM_GM_BASE, "one place for GM");

static size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

static bool shared_open(SharedMemory *memory, const char *name, size_t bytes)
{
    memory->bytes = round_up(bytes ? bytes : 1, PAGE);
    memory->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory->fd < 0 || ftruncate(memory->fd, (off_t)memory->bytes) != 0)
        return false;
    void *at = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
    memory->at = at == MAP_FAILED ? NULL : at;
    return memory->at != NULL;
}

/* After this the tool's own mapping, which the simulator inherits, is the only writable one there can be. */
static bool shared_seal(const SharedMemory *memory)
{
    return fcntl(memory->fd, F_ADD_SEALS,
                 F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

static void shared_close(SharedMemory *memory)
{
    if (memory->at)
        munmap(memory->at, memory->bytes);
    if (memory->fd >= 0)
        close(memory->fd);
    *memory = (SharedMemory){.fd = -1};
}

static size_t shared_take(SharedMemory *memory, size_t bytes)
{
    size_t at = round_up(memory->used, 64);
    if (bytes > memory->bytes || at > memory->bytes - bytes)
        return SIZE_MAX;
    memory->used = at + bytes;
    return at;
}

bool twin_tensor_alloc(TwinTensor *tensor)
{
    SharedMemory own;
    tensor->fd = 0;
    tensor->data = NULL;
    if (!shared_open(&own, "acraft-tensor", tensor->bytes) || !shared_seal(&own)) {
        shared_close(&own);
        return false;
    }
    tensor->data = own.at;
    tensor->fd = own.fd;
    return true;
}

bool twin_tensor_touched(const TwinTensor *t, size_t *from, size_t *to)
{
    off_t data = lseek(t->fd, (off_t)*to, SEEK_DATA);
    off_t hole = data >= 0 ? lseek(t->fd, data, SEEK_HOLE) : -1;
    if (hole < 0 || (size_t)data >= t->bytes)
        return false;
    *from = (size_t)data;
    *to = (size_t)hole < t->bytes ? (size_t)hole : t->bytes;
    return true;
}

void twin_tensor_free(TwinTensor *tensor)
{
    if (tensor->fd > 0) {
        SharedMemory own = {.fd = tensor->fd,
                            .at = tensor->data,
                            .bytes = round_up(tensor->bytes ? tensor->bytes : 1, PAGE)};
        shared_close(&own);
    } else {
        heap_free(tensor->data);
    }
    tensor->data = NULL;
    tensor->fd = 0;
}

/* --- placing GM ------------------------------------------------------------------------------ */

typedef struct Placer {
    uint64_t address;
    size_t at;
    uint64_t seed; /* 0: one place after the other */
    uint32_t count;
} Placer;

/* Where tensors lie is nothing that a kernel may go by. */
static void leave_gap(Placer *p)
{
    enum { MOST_STEPS = 1 << 12, MOST_PAGES = 1 << 9, BASE_STEPS = 1 << 18, PLACE_STREAM = 80 };
    if (!p->seed)
        return;
    uint64_t drawn = rng_u64(p->seed, PLACE_STREAM, p->count);
    uint64_t steps = drawn % (p->count++ ? MOST_STEPS : BASE_STEPS);
    p->address += steps * SIM_GM_STEP + (drawn >> 40) % MOST_PAGES * PAGE;
}

static GmPlace place(Placer *p, size_t bytes)
{
    leave_gap(p);
    GmPlace result = {.address = p->address, .at = p->at, .bytes = bytes, .fd = SHARE_FD_GM};
    p->at += round_up(bytes ? bytes : 1, PAGE);
    p->address = sim_gm_after(p->address, bytes);
    return result;
}

/* A tensor with memory of its own takes only an address, as long as descriptors last. */
static GmPlace place_tensor(Placer *p, LaunchMemory *memory, const TwinTensor *tensor)
{
    if (tensor->fd <= 0 || memory->fd_count == SHARE_MOST_FDS)
        return place(p, tensor->bytes);
    leave_gap(p);
    GmPlace result = {.address = p->address,
                      .bytes = tensor->bytes,
                      .fd = SHARE_FD_LAUNCH + (int32_t)memory->fd_count};
    memory->fds[memory->fd_count++] = tensor->fd;
    p->address = sim_gm_after(p->address, tensor->bytes);
    return result;
}

/* A list of tensors in GM: the byte offset of the addresses, per tensor its rank and shape, then
 * the addresses (asc-devkit, ListTensorDesc). */
static size_t list_shape_bytes(const TwinLaunch *launch, const TwinArg *arg)
{
    size_t bytes = 8;
    for (uint32_t i = 0; i < arg->count; i++)
        bytes += 8 + 8 * (size_t)launch->tensors[arg->index + i].rank;
    return bytes;
}

/* Without data: addresses as always, after them the same few arbitrary bytes over and over. */
static size_t pattern_bytes(const TwinLaunch *launch)
{
    size_t total = launch->workspace + SYSTEM_WORKSPACE_BYTES;
    for (uint32_t i = 0; i < launch->tensor_count; i++)
        total += launch->tensors[i].bytes;
    return sim_pattern_bytes(total);
}

static GmPlace place_pattern(Placer *p, size_t bytes, size_t pattern)
{
    leave_gap(p);
    GmPlace result = {.address = p->address, .bytes = bytes, .fd = SHARE_FD_GM, .repeat = pattern};
    p->address = sim_gm_after(p->address, bytes);
    return result;
}

/* Without data, a tensor that has some all the same: indices, which decide where a kernel goes. */
static bool carries(const LaunchMemory *memory, const TwinTensor *tensor)
{
    return memory->time_only && tensor->data && tensor->role == SIM_IN;
}

static void place_all(Arena *arena, const TwinLaunch *launch, LaunchMemory *memory, Placer *p)
{
    size_t pattern = memory->time_only ? pattern_bytes(launch) : 0;
    p->at = pattern ? pattern + PAGE : 0; /* a store may reach one page past the pattern */
    for (uint32_t i = 0; i < launch->tensor_count; i++) {
        const TwinTensor *t = &launch->tensors[i];
        vec_push(arena, &memory->tensors,
                 pattern && !carries(memory, t) ? place_pattern(p, t->bytes, pattern)
                                                : place_tensor(p, memory, t));
    }
    for (uint32_t i = 0; i < launch->arg_count; i++) {
        const TwinArg *arg = &launch->args[i];
        bool list = arg->kind == TWIN_ARG_LIST;
        GmPlace none = {0};
        vec_push(arena, &memory->lists,
                 list ? place(p, list_shape_bytes(launch, arg) + LIST_ENTRY * (size_t)arg->count)
                      : none);
    }
    memory->tiling = place(p, launch->tiling.len);
    size_t workspace = SYSTEM_WORKSPACE_BYTES + launch->workspace;
    memory->workspace = pattern ? place_pattern(p, workspace, pattern) : place(p, workspace);
}

static void put_u64(uint8_t **to, uint64_t value)
{
    memcpy(*to, &value, sizeof value);
    *to += sizeof value;
}

static void fill_list(const LaunchMemory *memory, const TwinLaunch *launch, uint32_t index)
{
    const TwinArg *arg = &launch->args[index];
    uint8_t *to = memory->gm.at + memory->lists.at[index].at;
    put_u64(&to, list_shape_bytes(launch, arg));
    for (uint32_t i = 0; i < arg->count; i++) {
        const TwinTensor *tensor = &launch->tensors[arg->index + i];
        put_u64(&to, tensor->rank | (uint64_t)i << 32);
        for (uint32_t d = 0; d < tensor->rank; d++)
            put_u64(&to, tensor->shape[d]);
    }
    for (uint32_t i = 0; i < arg->count; i++)
        put_u64(&to, memory->tensors.at[arg->index + i].address);
}

static void copy_in(uint8_t *to, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
}

static bool in_place(const LaunchMemory *memory, uint32_t tensor)
{
    return memory->tensors.at[tensor].fd != SHARE_FD_GM;
}

/* Fills memory with drawn bytes. A run without values is made twice, the second time with the
 * complement of the first draw: whatever a kernel compares a value with, the two are likely to
 * fall on different sides. */
static void fill_arbitrary(void *at, size_t bytes, const LaunchSpec *spec, uint64_t stream)
{
    uint64_t *words = at, flip = spec->second ? ~UINT64_C(0) : 0;
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        words[i] = rng_u64(spec->seed, stream, i) ^ flip;
}

static void fill_gm(const LaunchMemory *memory, const LaunchSpec *spec)
{
    const TwinLaunch *launch = spec->launch;
    for (uint32_t i = 0; i < launch->tensor_count; i++)
        if (launch->tensors[i].role != SIM_OUT && !in_place(memory, i) &&
            (!memory->time_only || carries(memory, &launch->tensors[i])))
            copy_in(memory->gm.at + memory->tensors.at[i].at, launch->tensors[i].data,
                    launch->tensors[i].bytes);
    if (memory->time_only)
        fill_arbitrary(memory->gm.at, memory->workspace.repeat, spec, SIM_PATTERN_STREAM);
    for (uint32_t i = 0; i < launch->arg_count; i++)
        if (launch->args[i].kind == TWIN_ARG_LIST)
            fill_list(memory, launch, i);
    copy_in(memory->gm.at + memory->tiling.at, launch->tiling.at, launch->tiling.len);
}

void twin_memory_take_outputs(const LaunchMemory *memory)
{
    const TwinLaunch *launch = memory->of;
    for (uint32_t i = 0; i < launch->tensor_count && !memory->time_only; i++)
        if (launch->tensors[i].role != SIM_IN && !in_place(memory, i))
            copy_in(launch->tensors[i].data, memory->gm.at + memory->tensors.at[i].at,
                    launch->tensors[i].bytes);
}

const uint8_t *twin_memory_tensor(const LaunchMemory *memory, uint32_t tensor, bool *kept)
{
    const TwinTensor *t = &memory->of->tensors[tensor];
    *kept = t->role != SIM_INOUT || !in_place(memory, tensor);
    return in_place(memory, tensor) ? t->data : memory->gm.at + memory->tensors.at[tensor].at;
}

/* --- opening --------------------------------------------------------------------------------- */

static size_t core_bytes(const NpuChip *chip)
{
    size_t bytes = 2 * PAGE;
    for (uint32_t space = 0; space < NPU_SPACE_COUNT; space++)
        bytes += round_up(npu_space_bytes(chip, space), PAGE);
    return bytes;
}

static size_t values_bytes(const TwinLaunch *launch)
{
    size_t bytes = 2 * launch->tiling.len;
    for (uint32_t i = 0; i < launch->arg_count; i++)
        bytes += launch->args[i].bytes.len + 128;
    return bytes;
}

static size_t left_bytes(const TwinLeft *left)
{
    return left ? (left->of[0].len + left->of[1].len) * sizeof(RecordLeft) + 128 : 0;
}

/* `workspace`: the bytes of it that the host code requested. */
static bool fits_in_machine(Arena *arena, size_t bytes, size_t workspace, Verdict *verdict)
{
    long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    double have = pages > 0 && page > 0 ? (double)pages * (double)page : 1e18;
    /* The simulator keeps shadow state of about the same size. */
    double need = 2.5 * (double)bytes;
    if (need <= have)
        return true;
    bool own_doing = 2.5 * (double)(bytes - workspace) <= have;
    verdict_fail(verdict, own_doing ? VERDICT_BAD_TILING : VERDICT_TOO_LARGE, STAGE_RUN,
                 str_format(arena, "the %s about %.1f GiB to simulate, %.1f GiB are free",
                            own_doing ? "workspace makes it need" : "tensors need",
                            need / (1 << 30), have / (1 << 30)));
    return false;
}

/* Above this a workspace is a mistake of the host code: no device has that much memory. */
#define WORKSPACE_MOST (64ull << 30)

/* Tensors are the task's: too many bytes of them are no fault of the kernel's. Blocks, arguments and
 * workspace are what host code asks for. */
static bool is_launch_sane(Arena *arena, const TwinLaunch *launch, uint32_t cores, Verdict *verdict)
{
    size_t total = 0;
    const char *why = NULL;
    bool fits = true;
    for (uint32_t i = 0; i < launch->tensor_count && fits; i++)
        fits = !__builtin_add_overflow(total, launch->tensors[i].bytes, &total);
    if (cores > SHARE_MOST_CORES)
        why = str_format(arena, "%u blocks: a launch has at most %u cores", launch->blocks,
                         SHARE_MOST_CORES);
    else if (launch->arg_count > SHARE_MOST_ARGS)
        why = str_format(arena, "%u arguments: a launch has at most %u", launch->arg_count,
                         SHARE_MOST_ARGS);
    else if (launch->workspace > WORKSPACE_MOST)
        why = str_format(arena, "a workspace of %.1f GiB: the device has at most %.0f",
                         (double)launch->workspace / (1 << 30), (double)WORKSPACE_MOST / (1 << 30));
    if (why)
        verdict_fail(verdict, VERDICT_BAD_TILING, STAGE_RUN, why);
    else if (!fits || total >= 1ull << 44)
        verdict_fail(verdict, VERDICT_TOO_LARGE, STAGE_RUN, "more bytes than a launch may have");
    return !why && fits && total < 1ull << 44;
}

static uint32_t cores_per_block(SimKind kind)
{
    return kind == SIM_MIX_1_2 ? 3 : kind == SIM_MIX_1_1 ? 2 : 1;
}

static uint32_t cores_of_chip(SimKind kind, const NpuChip *chip)
{
    return kind == SIM_AIV ? chip->aiv : chip->aic * cores_per_block(kind);
}

/* A run without values needs no memory for each core: all cores share one image of each on-chip memory. */
static void make_images(LaunchMemory *memory, const LaunchSpec *spec)
{
    for (uint32_t space = NPU_UB; memory->time_only && space < NPU_SPACE_COUNT; space++) {
        size_t bytes = round_up(npu_space_bytes(spec->chip, space), PAGE);
        memory->launch.used = round_up(memory->launch.used, PAGE);
        memory->image[space] = bytes ? shared_take(&memory->launch, bytes) : SIZE_MAX;
        if (memory->image[space] != SIZE_MAX)
            fill_arbitrary(memory->launch.at + memory->image[space], bytes, spec, space);
    }
}

/* What instructions leave in registers that a kernel can read. */
static void fill_view(const LaunchMemory *memory, RecordView *view)
{
    const uint8_t *from = memory->launch.at + memory->image[NPU_UB];
    memcpy(&view->accumulated, from,
           offsetof(RecordView, control) - offsetof(RecordView, accumulated));
    memcpy(view->merged, from, sizeof view->merged);
}

bool twin_memory_open(Arena *arena, const LaunchSpec *spec, LaunchMemory *memory, Verdict *verdict)
{
    const TwinLaunch *launch = spec->launch;
    SimKind kind = spec->kind;
    uint32_t blocks = launch->blocks < SHARE_MOST_CORES ? launch->blocks : SHARE_MOST_CORES;
    uint32_t cores = blocks * cores_per_block(kind);
    *memory = (LaunchMemory){.launch.fd = -1,
                             .rings.fd = -1,
                             .gm.fd = -1,
                             .of = launch,
                             .kind = kind,
                             .time_only = spec->time_only,
                             .some_data = spec->some_data,
                             .only = spec->only,
                             .sample = spec->sample,
                             .left = spec->left,
                             .together = cores_of_chip(kind, spec->chip),
                             .fd_count = SHARE_FD_FIRST_TENSOR - SHARE_FD_LAUNCH};
    if (!is_launch_sane(arena, launch, launch->blocks > blocks ? UINT32_MAX : cores, verdict))
        return false;
    Placer placer = {.address = SHARE_GM_BASE, .seed = spec->place};
    place_all(arena, launch, memory, &placer);
    if (!fits_in_machine(arena, placer.at, memory->time_only ? 0 : launch->workspace, verdict))
        return false;
    size_t fixed = (1 << 16) + cores * (sizeof(ShareCore) + 8) + values_bytes(launch) +
                   left_bytes(spec->left);
    if (shared_open(&memory->gm, "acraft-gm", placer.at) &&
        shared_open(&memory->rings, "acraft-rings", cores * sizeof(ShareRing)) &&
        shared_open(&memory->launch, "acraft-launch",
                    fixed + (cores + 1) * core_bytes(spec->chip))) {
        memory->launch.used = sizeof(ShareLaunch);
        make_images(memory, spec);
        memory->fds[SHARE_FD_LAUNCH - SHARE_FD_LAUNCH] = memory->launch.fd;
        memory->fds[SHARE_FD_RINGS - SHARE_FD_LAUNCH] = memory->rings.fd;
        memory->fds[SHARE_FD_GM - SHARE_FD_LAUNCH] = memory->gm.fd;
        fill_gm(memory, spec);
        return true;
    }
    verdict_fail(verdict, VERDICT_TOO_LARGE, STAGE_RUN, "no memory for the launch");
    twin_memory_close(memory);
    return false;
}

bool twin_memory_seal(const LaunchMemory *memory)
{
    return shared_seal(&memory->launch) && shared_seal(&memory->gm);
}

uint64_t twin_memory_bytes(const LaunchMemory *memory)
{
    uint64_t bytes = memory->gm.bytes;
    for (uint32_t i = 0; i < memory->tensors.len; i++)
        if (in_place(memory, i))
            bytes += memory->tensors.at[i].bytes;
    return bytes;
}

void twin_memory_close(LaunchMemory *memory)
{
    shared_close(&memory->launch);
    shared_close(&memory->rings);
    shared_close(&memory->gm);
}

void *twin_memory_for_sim(void *context, const char *name, size_t bytes)
{
    (void)name;
    SharedMemory *launch = &((LaunchMemory *)context)->launch;
    launch->used = round_up(launch->used, PAGE);
    size_t at = shared_take(launch, bytes);
    return at == SIZE_MAX ? NULL : launch->at + at;
}

/* --- the simulator's regions ----------------------------------------------------------------- */

/* The simulator's process has not touched these pages yet: all at once is cheaper than one by one. An old
 * kernel does not know the advice; then they come one by one. */
static void bring_pages(const SimRegion *region, bool sampled)
{
    uintptr_t at = (uintptr_t)region->memory, from = at / PAGE * PAGE;
    if (region->memory && region->bytes >= GM_STEP && region->role != SIM_WORKSPACE && !sampled)
        (void)madvise((void *)from, at + region->bytes - from,
                      region->role == SIM_IN ? MADV_POPULATE_READ : MADV_POPULATE_WRITE);
}

static bool add_tensor(const LaunchMemory *memory, Sim *sim, const TwinTensor *tensor,
                       const GmPlace *where, bool in_place)
{
    SimRegion region = {.name = tensor->name,
                        .base = where->address,
                        .bytes = where->bytes,
                        .dtype = (uint32_t)tensor->dtype,
                        .rank = tensor->rank,
                        .role = tensor->role};
    for (uint32_t i = 0; i < tensor->rank && i < 8; i++)
        region.shape[i] = tensor->shape[i];
    region.memory = in_place                             ? tensor->data
                    : memory->time_only && where->repeat ? NULL
                                                         : memory->gm.at + where->at;
    if (memory->sample.blocks && region.role == SIM_OUT)
        region.role = SIM_INOUT; /* nobody asks what of it was written */
    bring_pages(&region, memory->sample.blocks > 0);
    return where->bytes == 0 || sim_gm_add(sim, &region);
}

static bool add_region(const LaunchMemory *memory, Sim *sim, const char *name, const GmPlace *where,
                       void *own, DType dtype, SimRole role)
{
    SimRegion region = {.name = name,
                        .base = where->address,
                        .bytes = where->bytes,
                        .memory = own                                  ? own
                                  : memory->time_only && where->repeat ? NULL
                                                                       : memory->gm.at + where->at,
                        .dtype = (uint32_t)dtype,
                        .role = role};
    bring_pages(&region, memory->sample.blocks > 0);
    return where->bytes == 0 || sim_gm_add(sim, &region);
}

const void *twin_memory_image(const LaunchMemory *memory)
{
    return memory->some_data ? memory->launch.at + memory->image[NPU_UB] : NULL;
}

bool twin_memory_add_regions(const LaunchMemory *memory, const TwinLaunch *launch, Sim *sim)
{
    bool ok = true;
    for (uint32_t i = 0; i < launch->tensor_count; i++)
        ok = add_tensor(memory, sim, &launch->tensors[i], &memory->tensors.at[i],
                        in_place(memory, i)) &&
             ok;
    for (uint32_t i = 0; i < launch->arg_count; i++)
        ok = add_region(memory, sim, "tensor list", &memory->lists.at[i], NULL, DT_U64,
                        SIM_TILING) &&
             ok;
    ok = add_region(memory, sim, "tiling", &memory->tiling, NULL, DT_U8, SIM_TILING) && ok;
    return add_region(memory, sim, "workspace", &memory->workspace, NULL, DT_U8, SIM_WORKSPACE) &&
           ok;
}

/* --- the description for core processes ------------------------------------------------------ */

static uint64_t take_bytes(LaunchMemory *memory, const void *from, size_t bytes, bool *ok)
{
    size_t at = shared_take(&memory->launch, bytes);
    if (at == SIZE_MAX) {
        *ok = false;
        return 0;
    }
    copy_in(memory->launch.at + at, from, bytes);
    return at;
}

static uint64_t offset_in(const LaunchMemory *memory, const void *pointer)
{
    return (uint64_t)((const uint8_t *)pointer - memory->launch.at);
}

static uint32_t vectors_per_block(SimKind kind) { return kind == SIM_MIX_1_2 ? 2 : 1; }

bool twin_memory_is_cube(const LaunchMemory *memory, Sim *sim, uint32_t core)
{
    if (memory->kind == SIM_AIV || memory->kind == SIM_AIC)
        return memory->kind == SIM_AIC;
    return sim_core(sim, core)->aic;
}

bool twin_memory_describe_core(const LaunchMemory *memory, Sim *sim, uint32_t core)
{
    const SimCore *from = sim_core(sim, core);
    ShareCore *to = shared_core(memory, core);
    uint32_t ratio = vectors_per_block(memory->kind);
    if (!from->view)
        return false;
    *to = (ShareCore){
        .role = from->aic ? ACRAFT_ROLE_AIC : ACRAFT_ROLE_AIV,
        .block_idx = from->aic ? from->block : from->block * ratio + from->sub,
        .block_num = memory->of->blocks,
        .sub_block_idx = from->sub,
        .sub_block_num = ratio,
        .task_ratio = from->aic ? 1 : ratio,
        .view_at = offset_in(memory, from->view),
    };
    if (memory->time_only)
        fill_view(memory, from->view);
    for (int space = 0; space < NPU_SPACE_COUNT; space++) {
        if (memory->time_only && from->bytes[space]) {
            to->memory_at[space] = memory->image[space];
            to->memory_bytes[space] = from->bytes[space];
        }
        if (!from->memory[space] || space == NPU_GM)
            continue;
        to->memory_at[space] = offset_in(memory, from->memory[space]);
        to->memory_bytes[space] = from->bytes[space];
    }
    shared_ring(memory, core)->forbidden_call = -1;
    return true;
}

static ShareArg describe_arg(LaunchMemory *memory, const TwinLaunch *launch, uint32_t index,
                             bool *ok)
{
    const TwinArg *arg = &launch->args[index];
    Str bytes = arg->bytes.len ? arg->bytes : launch->tiling;
    switch (arg->kind) {
    case TWIN_ARG_TENSOR: return (ShareArg){.value = memory->tensors.at[arg->index].address};
    case TWIN_ARG_LIST: return (ShareArg){.value = memory->lists.at[index].address};
    case TWIN_ARG_WORKSPACE: return (ShareArg){.value = memory->workspace.address};
    case TWIN_ARG_TILING: return (ShareArg){.value = memory->tiling.address};
    case TWIN_ARG_VALUE:
        return (ShareArg){.data_at = take_bytes(memory, bytes.at, bytes.len, ok),
                          .data_bytes = (uint32_t)bytes.len};
    case TWIN_ARG_NULL: break;
    }
    return (ShareArg){0};
}

/* Whether the block is in the sample: the last one, whose share may be smaller, and others that
 * the seed draws. */
static bool is_sampled(const LaunchMemory *memory, uint32_t block)
{
    uint32_t blocks = memory->of->blocks, want = memory->sample.blocks;
    if (!want || want >= blocks || block + 1 == blocks)
        return true;
    for (uint32_t i = 0; i + 1 < want; i++)
        if (rng_range(memory->sample.seed, 78, i, 0, blocks - 1) == block)
            return true;
    return false;
}

/* Cores of one role in starting order: as numbered, or shuffled by the seed. */
static void describe_order(Arena *arena, LaunchMemory *memory, const TwinOptions *options, Sim *sim,
                           int role, bool *ok)
{
    VEC(uint32_t) order = {0};
    for (uint32_t i = 0; i < sim_core_count(sim); i++)
        if (twin_memory_is_cube(memory, sim, i) == (role == 1) &&
            (!memory->only || memory->only->core[i].leads) && is_sampled(memory, i))
            vec_push(arena, &order, i);
    for (uint32_t i = order.len; options->seed && i > 1; i--) {
        uint32_t j = (uint32_t)rng_range(options->seed, 77, i, 0, i), swap = order.at[i - 1];
        order.at[i - 1] = order.at[j];
        order.at[j] = swap;
    }
    ShareLaunch *head = shared_launch(memory);
    head->order_at[role] = take_bytes(memory, order.at, order.len * sizeof(uint32_t), ok);
    head->order_count[role] = order.len;
}

/* By the order of describe_maps: tensors, lists, tiling, workspace. */
static bool is_fixed(const LaunchMemory *memory, uint32_t place)
{
    if (place < memory->tensors.len)
        return memory->of->tensors[place].role == SIM_IN;
    return place <= memory->tensors.len + memory->lists.len;
}

bool twin_memory_is_fixed(const LaunchMemory *memory, uint64_t address)
{
    for (uint32_t i = 0; i < memory->tensors.len; i++) {
        const GmPlace *p = &memory->tensors.at[i];
        if (address - p->address < p->bytes)
            return is_fixed(memory, i);
    }
    return false;
}

static void describe_maps(Arena *arena, LaunchMemory *memory, bool *ok)
{
    VEC(ShareMap) maps = {0};
    VEC(GmPlace) places = {0};
    for (uint32_t i = 0; i < memory->tensors.len; i++)
        vec_push(arena, &places, memory->tensors.at[i]);
    for (uint32_t i = 0; i < memory->lists.len; i++)
        vec_push(arena, &places, memory->lists.at[i]);
    vec_push(arena, &places, memory->tiling);
    vec_push(arena, &places, memory->workspace);
    for (uint32_t i = 0; i < places.len; i++) {
        ShareMap map = {.address = places.at[i].address,
                        .bytes = round_up(places.at[i].bytes, PAGE),
                        .at = places.at[i].at,
                        .fd = places.at[i].fd,
                        .fixed = is_fixed(memory, i),
                        .repeat = places.at[i].repeat};
        if (map.bytes)
            vec_push(arena, &maps, map);
    }
    shared_launch(memory)->maps_at = take_bytes(memory, maps.at, maps.len * sizeof(ShareMap), ok);
    shared_launch(memory)->map_count = maps.len;
}

/* What the device's cycle counter may stand at: another number for every case. */
static uint64_t cycles_before(const TwinLaunch *launch, uint64_t seed)
{
    enum { HEAD = 256 };
    uint64_t h = seed;
    for (uint32_t i = 0; i < launch->tensor_count; i++) {
        const TwinTensor *t = &launch->tensors[i];
        bool has = t->data && t->role == SIM_IN;
        h = (h ^ t->bytes) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= has ? hash64(t->data, t->bytes < HEAD ? t->bytes : HEAD) : 0;
    }
    return h >> 4;
}

/* A wake-up costs tens of microseconds, a spinning core only its own processor. */
static uint32_t spins_of_a_core(void) { return twin_host_cores() > 1 ? 3000 : 0; }

bool twin_memory_describe(Arena *arena, LaunchMemory *memory, const TwinOptions *options,
                          Str filter, Sim *sim)
{
    bool ok = true;
    const TwinLaunch *launch = memory->of;
    uint32_t cores = sim_core_count(sim);
    ShareLaunch *head = shared_launch(memory);
    *head = (ShareLaunch){
        .abi = SHARE_ABI,
        .core_count = cores,
        .launch_bytes = memory->launch.bytes,
        .ring_bytes = memory->rings.bytes,
        .arg_count = launch->arg_count,
        .spins = spins_of_a_core(),
        .time_only = memory->time_only && !memory->some_data,
        .hidden = !memory->time_only,
        .tiling = memory->tiling.address,
        .tiling_bytes = launch->tiling.len,
        .tiling_key = launch->tiling_key,
        .workspace = memory->workspace.address,
        .workspace_bytes = memory->workspace.bytes,
        .system_workspace_bytes = SYSTEM_WORKSPACE_BYTES,
        .cycles = cycles_before(launch, options->seed),
    };
    head->cores_at = take_bytes(memory, NULL, 0, &ok);
    shared_take(&memory->launch, cores * sizeof(ShareCore));
    ShareArg args[SHARE_MOST_ARGS];
    for (uint32_t i = 0; i < launch->arg_count; i++)
        args[i] = describe_arg(memory, launch, i, &ok);
    head->args_at = take_bytes(memory, args, launch->arg_count * sizeof *args, &ok);
    head->tiling_at = take_bytes(memory, launch->tiling.at, launch->tiling.len, &ok);
    for (int role = 0; memory->left && role < 2; role++) {
        head->left_count[role] = memory->left->of[role].len;
        head->left_at[role] = take_bytes(memory, memory->left->of[role].at,
                                         memory->left->of[role].len * sizeof(RecordLeft), &ok);
    }
    describe_maps(arena, memory, &ok);
    describe_order(arena, memory, options, sim, 0, &ok);
    describe_order(arena, memory, options, sim, 1, &ok);
    head->filter_at = take_bytes(memory, filter.at, filter.len, &ok);
    head->filter_steps = (uint32_t)(filter.len / 8);
    return ok;
}
