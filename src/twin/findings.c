/* The simulator's faults as findings of the verdict, and the status that follows from them. */
#include "twin/run_int.h"

static FindingKind finding_kind(SimFaultKind kind)
{
    switch (kind) {
    case SIM_KIND_LEAK: return FINDING_LEAK;
    case SIM_KIND_HANG: return FINDING_HANG;
    case SIM_KIND_RACE: return FINDING_RACE;
    default: return FINDING_FAULT;
    }
}

static const char *keep(Arena *arena, const char *text)
{
    return text ? str_dup(arena, str_from(text)) : "";
}

/* Of a race the second access is the earlier one, with a place of its own. */
static void add_accesses(Arena *arena, const SimFault *fault, VerdictFinding *finding)
{
    for (size_t i = 0; i < sizeof fault->range / sizeof *fault->range; i++) {
        const SimRange *range = &fault->range[i];
        bool other = i == 1 && fault->other_line;
        if (range->space == NPU_NOWHERE)
            continue;
        VerdictAccess access = {.memory = npu_space_name(range->space),
                                .write = range->write,
                                .from = range->from,
                                .to = range->to,
                                .file = other ? keep(arena, fault->other_file) : finding->file,
                                .line = other ? fault->other_line : finding->line};
        vec_push(arena, &finding->accesses, access);
    }
}

static const char *full_message(Arena *arena, const SimFault *fault, const SimFaultRow *row)
{
    const char *detail = fault->message ? fault->message : "";
    return detail[0] ? str_format(arena, "%s: %s", row->title, detail) : row->title;
}

static VerdictFinding make_finding(Arena *arena, const SimFault *fault, const SimFaultRow *row)
{
    VerdictFinding finding = {.kind = finding_kind(row->kind),
                              .warning = row->kind == SIM_KIND_WARNING,
                              .inserted = fault->inserted,
                              .code = row->code,
                              .message = full_message(arena, fault, row),
                              .file = keep(arena, fault->file),
                              .line = fault->line,
                              .core = fault->core,
                              .count = fault->count,
                              .api = keep(arena, fault->api),
                              .device = row->device,
                              .repair = row->repair};
    add_accesses(arena, fault, &finding);
    return finding;
}

static void add_unsupported(Arena *arena, const char *name, Verdict *verdict)
{
    for (uint32_t i = 0; i < verdict->unsupported.len; i++)
        if (str_is(str_from(name), verdict->unsupported.at[i]))
            return;
    vec_push(arena, &verdict->unsupported, name);
}

static VerdictStatus fault_status(const SimFault *fault, const SimFaultRow *row)
{
    if (fault->code == SIM_FAULT_BAD_RECORD)
        return VERDICT_FORGED;
    if (row->kind == SIM_KIND_UNSUPPORTED)
        return VERDICT_UNSUPPORTED;
    return row->kind == SIM_KIND_HANG ? VERDICT_HANG : VERDICT_HAZARD;
}

/* A forged stream outweighs all; what we lack outweighs what follows from it; then as found. */
static int weight(VerdictStatus status)
{
    return status == VERDICT_FORGED ? 3 : status == VERDICT_UNSUPPORTED ? 2 : 1;
}

void twin_findings_add(Arena *arena, const SimAnswer *answer, Verdict *verdict)
{
    const SimFault *worst = NULL;
    VerdictStatus status = VERDICT_OK;
    for (uint32_t i = 0; i < answer->faults.len; i++) {
        const SimFault *fault = &answer->faults.at[i];
        const SimFaultRow *row = sim_fault_row(fault->code);
        VerdictStatus of_this = fault_status(fault, row);
        if (of_this == VERDICT_UNSUPPORTED)
            add_unsupported(arena, keep(arena, fault->api), verdict);
        else
            vec_push(arena, &verdict->hazards, make_finding(arena, fault, row));
        if (row->kind == SIM_KIND_WARNING)
            continue;
        if (!worst || weight(of_this) > weight(status)) {
            worst = fault;
            status = of_this;
        }
    }
    if (worst)
        verdict_fail(verdict, status, STAGE_RUN,
                     full_message(arena, worst, sim_fault_row(worst->code)));
    if (answer->left_out && verdict->hazards.len) {
        VerdictFinding *last = &vec_last(&verdict->hazards);
        last->message = str_format(arena, "%s (the last that is listed of %llu more)",
                                   last->message, (unsigned long long)answer->left_out);
    }
}
