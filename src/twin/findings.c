/* The simulator's faults as findings of the verdict, and the status that follows from them. */
#include "twin/run_int.h"

#include "twin/callers.h"
#include <string.h>

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

/* Adds the accesses of a finding. In a race the second one is the earlier access, at a source
 * line of its own. */
static void add_accesses(Arena *arena, const SimFault *fault, VerdictFinding *finding)
{
    for (size_t i = 0; i < sizeof fault->range / sizeof *fault->range; i++) {
        const SimRange *range = &fault->range[i];
        bool other = i == 1 && fault->other_line;
        if (range->space == NPU_NOWHERE)
            continue;
        VerdictAccess access = {.memory = npu_space_name(range->space),
                                .tensor = range->space == NPU_GM ? keep(arena, fault->tensor) : "",
                                .write = range->write,
                                .from = range->from,
                                .to = range->to,
                                .file = keep(arena, other ? fault->other_file : fault->seen_file),
                                .line = other ? fault->other_line : fault->seen_line};
        vec_push(arena, &finding->accesses, access);
    }
}

/* Where a finding is not named at the instruction that showed it, and its message does not say which. */
static const char *seen_at(Arena *arena, const SimFault *fault, const char *detail)
{
    bool here = fault->line == fault->seen_line && strcmp(fault->file, fault->seen_file) == 0;
    if (here || !fault->seen_line || strstr(detail, str_format(arena, "line %u", fault->seen_line)))
        return "";
    return strcmp(fault->file, fault->seen_file) == 0
               ? str_format(arena, "; seen at line %u", fault->seen_line)
               : str_format(arena, "; seen at %s:%u", fault->seen_file, fault->seen_line);
}

static const char *full_message(Arena *arena, const SimFault *fault, const SimFaultRow *row)
{
    const char *detail = fault->message ? fault->message : "";
    const char *seen = seen_at(arena, fault, detail);
    return detail[0] ? str_format(arena, "%s: %s%s", row->title, detail, seen)
                     : str_format(arena, "%s%s", row->title, seen);
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
                              .repair = fault->repair[0] ? keep(arena, fault->repair)
                                                         : row->repair};
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

/* What the headers may say that acraft lacks. */
static bool is_gap(const char *name)
{
    static const char *const gaps[] = {
#define GAP(name) name,
#include "twin/include/acraft/gaps.def"
#undef GAP
    };
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        if (strcmp(name, gaps[i]) == 0)
            return true;
    return false;
}

static VerdictStatus fault_status(const SimFault *fault, const SimFaultRow *row)
{
    if (fault->code == SIM_FAULT_BAD_RECORD ||
        (fault->op == NPU_UNSUPPORTED && !is_gap(fault->api ? fault->api : "")))
        return VERDICT_FORGED;
    if (row->kind == SIM_KIND_UNSUPPORTED)
        return VERDICT_UNSUPPORTED;
    return row->kind == SIM_KIND_HANG ? VERDICT_HANG : VERDICT_HAZARD;
}

/* The gravest finding gives the status: a forged stream, then what we lack and what may follow from
 * it, a hang, a fault or race, a leak. Of equals the first. */
static int weight(VerdictStatus status, const SimFaultRow *row)
{
    switch (status) {
    case VERDICT_FORGED: return 5;
    case VERDICT_UNSUPPORTED: return 4;
    case VERDICT_HANG: return 3;
    default: return row->kind == SIM_KIND_LEAK ? 1 : 2;
    }
}

bool twin_findings_lack(const SimAnswer *answer)
{
    for (uint32_t i = 0; i < answer->faults.len; i++)
        if (fault_status(&answer->faults.at[i], sim_fault_row(answer->faults.at[i].code)) ==
            VERDICT_UNSUPPORTED)
            return true;
    return false;
}

/* --- causes first --- */

/* What is wrong in the call itself comes before what overruns, that before what races, that before values
 * nobody wrote and outputs nobody filled: the later ones mostly follow from the earlier. */
static int rank_of(const SimFault *fault)
{
    switch (fault->code) {
    case SIM_FAULT_TENSOR_BOUNDS:
    case SIM_FAULT_GM_BOUNDS: return 1;
    case SIM_FAULT_CORE_RACE:
    case SIM_FAULT_CROSS_NEVER_SET: return 2;
    case SIM_FAULT_READ_TOO_EARLY:
    case SIM_FAULT_WRITE_TOO_EARLY:
    case SIM_FAULT_WRITE_ORDER:
    case SIM_FAULT_NO_BARRIER: return 3;
    case SIM_FAULT_FLAG_LEFT:
    case SIM_FAULT_BARRIER_HANG:
    case SIM_FAULT_CROSS_LEFT:
    case SIM_FAULT_LEAK:
    case SIM_FAULT_STILL_QUEUED: return 4;
    case SIM_FAULT_UNINITIALISED:
    case SIM_FAULT_GM_UNINITIALISED: return 5;
    case SIM_FAULT_NOT_WRITTEN: return 6;
    case SIM_FAULT_NOT_ENDED: return 7;
    default: return sim_fault_row(fault->code)->kind == SIM_KIND_WARNING ? 8 : 0;
    }
}

/* Orders findings: where one instruction reads several writes too early, the last write is where
 * the wait belongs. */
static bool comes_before(const SimFault *a, const SimFault *b)
{
    int x = rank_of(a), y = rank_of(b);
    if (x != y)
        return x < y;
    return x == 3 && a->code == b->code && a->seen_line == b->seen_line && a->line > b->line &&
           a->line <= a->seen_line && strcmp(a->seen_file, b->seen_file) == 0;
}

static void order_by_cause(SimAnswer *answer)
{
    for (uint32_t i = 1; i < answer->faults.len; i++) {
        SimFault fault = answer->faults.at[i];
        uint32_t at = i;
        for (; at > 0 && comes_before(&fault, &answer->faults.at[at - 1]); at--)
            answer->faults.at[at] = answer->faults.at[at - 1];
        answer->faults.at[at] = fault;
    }
}

/* --- lines inside helpers --- */

static bool in_kernel_text(const TwinKernel *kernel, const char *file)
{
    return strcmp(file, kernel->path) == 0;
}

/* Two accesses in different functions: what orders them belongs where both are called from. */
static void raise_race(const TwinKernel *kernel, const TwinFunctions *all, SimFault *fault)
{
    uint32_t here = fault->seen_line, other = fault->other_line;
    bool at_one = fault->line == here || fault->line == other;
    if (!at_one || here == other || !in_kernel_text(kernel, fault->other_file) ||
        twin_function_at(all, here) == twin_function_at(all, other) ||
        !twin_common_caller(all, &here, &other))
        return;
    fault->line = here < other ? here : other;
}

/* From where the function around `line` was called: what the core was at before tells which of several calls. */
static uint32_t called_from(const TwinFunctions *all, const SimFault *fault, uint32_t line)
{
    uint32_t caller = twin_caller_of(all, line);
    for (uint32_t i = 0; i < SIM_BEFORE && !caller && fault->before[i]; i++)
        caller = twin_caller_near(all, line, fault->before[i]);
    return caller;
}

/* A tensor that is last used in a helper: what is missing belongs where the tensor was dequeued. */
static void raise_use(const TwinFunctions *all, SimFault *fault)
{
    uint32_t caller = fault->line == fault->before[0]
                          ? 0
                          : twin_caller_near(all, fault->line, fault->before[0]);
    if (caller)
        fault->line = caller;
}

/* An access at an offset that the caller handed over. */
static void raise_bounds(const TwinKernel *kernel, const TwinFunctions *all, SimFault *fault)
{
    uint32_t caller = called_from(all, fault, fault->seen_line);
    bool at_call = fault->line == fault->seen_line;
    if (caller && at_call &&
        (twin_offset_is_parameter(all, kernel->text, fault->seen_line) ||
         (fault->tail && twin_count_is_parameter(all, kernel->text, fault->seen_line))))
        fault->line = caller;
}

static bool cores_race(const SimAnswer *answer)
{
    for (uint32_t i = 0; i < answer->faults.len; i++)
        if (answer->faults.at[i].code == SIM_FAULT_CORE_RACE)
            return true;
    return false;
}

/* Elements that lie between the shares of two cores, or after the end for the last core alone: the shares
 * are worked out after where the kernel asks how many cores there are. */
static void raise_split(Arena *arena, const TwinKernel *kernel, const SimAnswer *answer,
                        SimFault *fault)
{
    bool beyond = fault->code == SIM_FAULT_GM_BOUNDS && fault->last_core && !fault->other_cores &&
                  !fault->tail && fault->line == fault->seen_line && !cores_race(answer);
    uint32_t line = twin_word_line(kernel->text, STR("GetBlockNum"));
    line = line ? line : twin_word_line(kernel->text, STR("GetBlockIdx"));
    if (!(fault->split || beyond) || !line)
        return;
    fault->line = line;
    fault->message = str_format(arena, "%s%s; the shares of the cores are worked out from here on",
                                fault->message, beyond ? ", on the last core alone" : "");
}

/* One buffer that is too short was made too short. Several at once are long enough, and the count is
 * wrong: then the calls are named. */
static void blame_counts(SimAnswer *answer)
{
    uint32_t buffer = 0;
    bool several = false;
    for (uint32_t i = 0; i < answer->faults.len; i++) {
        const SimFault *fault = &answer->faults.at[i];
        if (fault->code != SIM_FAULT_TENSOR_BOUNDS || fault->line == fault->seen_line)
            continue;
        several |= buffer && buffer != fault->line;
        buffer = fault->line;
    }
    for (uint32_t i = 0; several && i < answer->faults.len; i++) {
        SimFault *fault = &answer->faults.at[i];
        if (fault->code != SIM_FAULT_TENSOR_BOUNDS)
            continue;
        fault->file = fault->seen_file;
        fault->line = fault->seen_line;
    }
}

/* Several instructions that overrun one and the same buffer: it was made too short. */
static void blame_buffer(SimAnswer *answer)
{
    const SimFault *first = NULL;
    bool lines = false;
    for (uint32_t i = 0; i < answer->faults.len; i++) {
        const SimFault *fault = &answer->faults.at[i];
        if (fault->code != SIM_FAULT_TENSOR_BOUNDS)
            continue;
        if (!fault->made_line || (first && first->made_line != fault->made_line))
            return;
        lines |= first && first->seen_line != fault->seen_line;
        first = first ? first : fault;
    }
    for (uint32_t i = 0; lines && i < answer->faults.len; i++) {
        SimFault *fault = &answer->faults.at[i];
        if (fault->code == SIM_FAULT_TENSOR_BOUNDS)
            fault->line = fault->made_line;
    }
}

/* What makes two cores wait for each other orders the accesses of each of them, too. */
static void join_repairs(SimAnswer *answer)
{
    for (uint32_t i = 0; i < answer->faults.len; i++)
        for (uint32_t k = 0; k < answer->faults.len; k++) {
            const SimFault *cores = &answer->faults.at[k];
            SimFault *own = &answer->faults.at[i];
            bool forth = cores->seen_line == own->seen_line && cores->other_line == own->other_line;
            bool back = cores->seen_line == own->other_line && cores->other_line == own->seen_line;
            if (cores->code == SIM_FAULT_CORE_RACE && own->range[0].space == NPU_GM &&
                own->code == SIM_FAULT_READ_TOO_EARLY && (forth || back))
                own->repair = "the SyncAll that orders the cores here orders these two as well";
        }
}

static void raise_lines(Arena *arena, const TwinKernel *kernel, SimAnswer *answer)
{
    TwinFunctions all = {0};
    for (uint32_t i = 0; i < answer->faults.len; i++) {
        SimFault *fault = &answer->faults.at[i];
        if (!in_kernel_text(kernel, fault->file) || !in_kernel_text(kernel, fault->seen_file))
            continue;
        if (!all.functions.len)
            all = twin_functions(arena, kernel->text);
        bool gm = fault->range[0].space == NPU_GM;
        if (fault->code == SIM_FAULT_QUEUE_FULL || fault->code == SIM_FAULT_QUEUE_EMPTY ||
            fault->code == SIM_FAULT_LEAK)
            raise_use(&all, fault);
        if (fault->code == SIM_FAULT_CORE_RACE || (fault->code == SIM_FAULT_READ_TOO_EARLY && gm))
            raise_race(kernel, &all, fault);
        if (fault->code == SIM_FAULT_GM_BOUNDS || fault->code == SIM_FAULT_TENSOR_BOUNDS ||
            ((fault->code == SIM_FAULT_CORE_RACE || (fault->code == SIM_FAULT_NO_BARRIER && gm)) &&
             fault->seen_line == fault->other_line))
            raise_bounds(kernel, &all, fault);
        raise_split(arena, kernel, answer, fault);
    }
}

void twin_findings_add(Arena *arena, const TwinKernel *kernel, SimAnswer *answer, Verdict *verdict)
{
    blame_counts(answer);
    blame_buffer(answer);
    join_repairs(answer);
    raise_lines(arena, kernel, answer);
    order_by_cause(answer);
    const SimFault *worst = NULL;
    VerdictStatus status = VERDICT_OK;
    int gravest = 0;
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
        if (weight(of_this, row) > gravest) {
            worst = fault;
            status = of_this;
            gravest = weight(of_this, row);
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
