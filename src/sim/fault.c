/* Faults: collected with place, ranges and count, one per code and source line; and their text. */
#include "sim/sim_int.h"

static const SimFaultRow fault_rows[SIM_FAULT_COUNT] = {
#define FAULT(name, code, kind, stops, title, device, repair) \
    [SIM_FAULT_##name] = {code, SIM_KIND_##kind, stops, title, device, repair},
#include "sim/fault.def"
#undef FAULT
};

const SimFaultRow *sim_fault_row(enum SimFaultCode code)
{
    return (uint32_t)code < SIM_FAULT_COUNT ? &fault_rows[code] : NULL;
}

const char *sim_name(const CoreState *core, uint16_t id)
{
    return id > 0 && id < core->names.len && core->names.at[id] ? core->names.at[id] : "";
}

static const char *api_name(const Step *s)
{
    const char *name = sim_name(s->core, s->r->api);
    const NpuIsa *row = npu_isa(s->r->op);
    return *name || !row ? name : row->api;
}

/* A fault of the same kind that was seen before at the same place; NULL: none. */
static SimFault *seen(Sim *sim, const SimFault *f)
{
    for (uint32_t i = 0; i < sim->faults.len; i++) {
        SimFault *old = &sim->faults.at[i];
        if (old->code == f->code && old->seen_line == f->seen_line && old->op == f->op &&
            old->other_line == f->other_line && old->inserted == f->inserted &&
            strcmp(old->seen_file, f->seen_file) == 0)
            return old;
    }
    return NULL;
}

/* What the device compiler repairs by itself weighs no more than a warning here. */
static bool is_light(const SimFault *fault)
{
    return fault_rows[fault->code].kind == SIM_KIND_WARNING || fault->inserted;
}

/* A list full of light ones still has room for what fails a kernel: the last of them goes. */
static SimFault *light_to_give_up(Sim *sim, const SimFault *fault)
{
    if (is_light(fault))
        return NULL;
    for (uint32_t i = sim->faults.len; i-- > 0;)
        if (is_light(&sim->faults.at[i]))
            return &sim->faults.at[i];
    return NULL;
}

/* Ranges in GM as bytes of the tensor they lie in, or begin behind. */
static void name_tensor(const Sim *sim, SimFault *fault)
{
    for (size_t i = 0; i < sizeof fault->range / sizeof *fault->range; i++) {
        SimRange *range = &fault->range[i];
        const SimGm *gm = NULL;
        for (uint32_t k = 0; k < sim->gm.len && sim->gm.at[k]->region.base <= range->from; k++)
            gm = sim->gm.at[k];
        if (range->space != NPU_GM || !gm)
            continue;
        fault->tensor = gm->region.name;
        range->from -= gm->region.base;
        range->to -= gm->region.base;
    }
}

/* Counts a fault; what it does to the core is the same each time it shows. */
static void count_fault(Step *s, enum SimFaultCode code)
{
    s->sim->reports++;
    if (fault_rows[code].kind != SIM_KIND_WARNING)
        s->core->faulted = true;
    if (fault_rows[code].stops)
        s->failed = true;
}

static void sign_fault(const Step *s, SimFault *fault)
{
    fault->core = s->core_index;
    fault->op = s->r->op;
    fault->api = api_name(s);
    fault->seen_file = sim_name(s->core, s->r->file);
    fault->seen_line = s->r->line;
}

bool sim_repeats_fault(Step *s, SimFault fault)
{
    sign_fault(s, &fault);
    SimFault *old = seen(s->sim, &fault);
    if (!old)
        return false;
    count_fault(s, fault.code);
    old->count++;
    old->other_cores |= old->core != s->core_index;
    return true;
}

/* A plain pointer's access has no line of its own: it lies behind the core's last call. */
static bool is_behind_call(const Step *s, SimFault *fault)
{
    bool raw = s->r->op == NPU_RAW_LOAD || s->r->op == NPU_RAW_STORE;
    if (fault->line || !raw || !history_len(s->core))
        return false;
    SimSpot last = spot_of(s->core, history_at(s->core, 0));
    fault->file = last.file;
    fault->line = last.line;
    return last.line != 0;
}

static void add_fault(Step *s, SimFault fault, const char *format, va_list args)
{
    Sim *sim = s->sim;
    bool behind = false;
    if (sim_repeats_fault(s, fault))
        return;
    count_fault(s, fault.code);
    sign_fault(s, &fault);
    if (!fault.line) {
        fault.file = fault.seen_file;
        fault.line = fault.seen_line;
        behind = is_behind_call(s, &fault);
    }
    fault.last_core = sim->cores > 1 && s->core_index + 1 == sim->cores;
    fault.count = 1;
    fault.record = s->core->index;
    if (!fault.before[0])
        memcpy(fault.before, s->core->lines, sizeof fault.before);
    name_tensor(sim, &fault);
    uint32_t most = sim->config.max_faults ? sim->config.max_faults : 200;
    SimFault *room = sim->faults.len < most ? NULL : light_to_give_up(sim, &fault);
    sim->faults_dropped += sim->faults.len >= most;
    if (sim->faults.len >= most && !room)
        return;
    fault.message = str_vformat(&sim->arena, format, args);
    if (behind)
        fault.message = str_format(&sim->arena, "%s, through a plain pointer behind this line",
                                   fault.message);
    if (room)
        *room = fault;
    else
        vec_push(&sim->arena, &sim->faults, fault);
}

void sim_report(Step *s, enum SimFaultCode code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_fault(s, (SimFault){.code = code}, format, args);
    va_end(args);
}

void sim_report_range(Step *s, enum SimFaultCode code, SimRange range, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_fault(s, (SimFault){.code = code, .range = {range}}, format, args);
    va_end(args);
}

void sim_report_fault(Step *s, SimFault fault, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_fault(s, fault, format, args);
    va_end(args);
}

uint64_t sim_faults_left_out(const Sim *sim) { return sim->faults_dropped; }

uint32_t sim_fault_count(const Sim *sim) { return sim->faults.len; }

const SimFault *sim_fault(const Sim *sim, uint32_t index)
{
    return index < sim->faults.len ? &sim->faults.at[index] : NULL;
}

static bool is_unwritten_read(const SimFault *f)
{
    return f->code == SIM_FAULT_UNINITIALISED && f->op == NPU_LOCAL_GET;
}

bool sim_reads_unwritten_only(const Sim *sim)
{
    bool any = false;
    for (uint32_t i = 0; i < sim->faults.len; i++) {
        const SimFault *f = &sim->faults.at[i];
        if (is_unwritten_read(f))
            any = true;
        else if (fault_rows[f->code].kind != SIM_KIND_WARNING)
            return false;
    }
    return any;
}

static void core_text(const Sim *sim, uint32_t core, Buf *out)
{
    const SimCore *c = &sim->core[core].pub;
    if (sim->config.kind == SIM_AIV || sim->config.kind == SIM_AIC)
        buf_printf(out, "block %u", c->block);
    else if (c->aic)
        buf_printf(out, "block %u, cube core", c->block);
    else
        buf_printf(out, "block %u, vector core %u", c->block, c->sub);
}

void sim_fault_text(const Sim *sim, const SimFault *f, Buf *out)
{
    const SimFaultRow *row = &fault_rows[f->code];
    if (*f->file)
        buf_printf(out, "%s:%u: ", f->file, f->line);
    buf_printf(out, "error: %s%s%s: %s [%s]\n", f->api, *f->api ? ": " : "", row->title, f->message,
               row->code);
    buf_puts(out, "  first seen on ");
    core_text(sim, f->core, out);
    if (f->count > 1)
        buf_printf(out, "; %llu times in all", (unsigned long long)f->count);
    buf_char(out, '\n');
    if (*row->device)
        buf_printf(out, "  on the device: %s\n", row->device);
    buf_printf(out, "  repair: %s\n", f->repair ? f->repair : row->repair);
}
