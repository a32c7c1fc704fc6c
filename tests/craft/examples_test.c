/* Every program of examples/ and tests/craft: builds in every variant, is spelled canonically
 * (examples), reads back from its IR text, and is Python. */
#include "tests/craft/help.h"

#include "base/proc.h"
#include "ir/prove.h"
#include "ir/run.h"
#include "tests/t.h"

static const char *const folders[] = {"examples", "tests/craft"};
static const char *const shown[] = {"examples", "examples/exemplars"};

static NameList craft_files(Arena *arena, const char *folder)
{
    NameList all = {0}, found = {0};
    Diag diag = diag_make(arena, folder, (Str){0});
    REQUIRE(file_list(arena, folder, &all, &diag));
    for (uint32_t i = 0; i < all.len; i++)
        if (str_ends(str_from(all.at[i]), ".craft"))
            vec_push(arena, &found, path_join(arena, folder, all.at[i]));
    return found;
}

T_TEST(examples_build)
{
    Arena arena = {0};
    for (int f = 0; f < 2; f++) {
        NameList files = craft_files(&arena, folders[f]);
        CHECK(files.len >= (f == 0 ? 40 : 20));
        for (uint32_t i = 0; i < files.len; i++)
            help_builds(&arena, files.at[i], help_read(&arena, files.at[i]));
    }
    arena_drop(&arena);
}

T_TEST(examples_are_canonical)
{
    Arena arena = {0};
    NameList files = craft_files(&arena, "examples");
    for (uint32_t i = 0; i < files.len; i++) {
        Str text = help_read(&arena, files.at[i]);
        CHECK_EQ_STR(str_dup(&arena, help_format(&arena, text)), str_dup(&arena, text));
    }
    arena_drop(&arena);
}

static void check_round_trip(Arena *arena, const char *path)
{
    Str text = help_read(arena, path);
    Diag diag = diag_make(arena, path, text);
    CraftFile *file = craft_read(arena, path, text, &diag);
    IrProgram *p = file ? craft_program(arena, file, 0, &diag) : NULL;
    if (!p)
        return;
    Buf first = {0}, again = {0};
    ir_print(p, &first);
    Diag reread = diag_make(arena, path, buf_view(&first));
    IrProgram *q = ir_parse(arena, path, buf_view(&first), &reread);
    CHECK_MSG(q != NULL, "%s: its IR text does not read back", path);
    if (q) {
        ir_print(q, &again);
        CHECK_EQ_STR(again.at, first.at);
    }
    buf_free(&first);
    buf_free(&again);
}

T_TEST(examples_read_back_from_ir)
{
    Arena arena = {0};
    for (int f = 0; f < 2; f++) {
        NameList files = craft_files(&arena, folders[f]);
        for (uint32_t i = 0; i < files.len; i++)
            check_round_trip(&arena, files.at[i]);
    }
    arena_drop(&arena);
}

T_TEST(examples_are_python)
{
    Arena arena = {0};
    const char *python = proc_find(&arena, "python3");
    if (!python)
        t_skip("no python3");
    VEC(const char *) argv = {0};
    vec_push(&arena, &argv, python);
    vec_push(&arena, &argv, "-c");
    vec_push(
        &arena, &argv,
        "import ast, sys\nfor f in sys.argv[1:]: ast.parse(open(f, encoding='utf-8').read(), f)");
    for (int f = 0; f < 2; f++) {
        NameList files = craft_files(&arena, folders[f]);
        for (uint32_t i = 0; i < files.len; i++)
            vec_push(&arena, &argv, files.at[i]);
    }
    vec_push(&arena, &argv, NULL);
    ProcResult result;
    Diag diag = diag_make(&arena, "python3", (Str){0});
    REQUIRE(proc_run(&arena, &(ProcSpec){.argv = argv.at, .seconds = 50}, &result, &diag));
    CHECK_MSG(result.end == PROC_EXITED && result.status == 0, "%.*s", STR_ARG(result.err));
    arena_drop(&arena);
}

/* ---- every example runs without a fault ---- */

static int64_t pick_dim(const IrVar *v, int64_t wish)
{
    int64_t n = (wish + v->multiple - 1) / v->multiple * v->multiple;
    n = n < v->lo ? v->lo : n;
    return n > v->hi ? v->hi / v->multiple * v->multiple : n;
}

static void give_memory(Arena *arena, const IrProgram *p, uint32_t i, const int64_t *dims,
                        IrOperand *operands, IrData *items)
{
    const IrTensor *t = &p->tensors.at[i];
    bool list = t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST;
    operands[i] = (IrOperand){list ? 2 : 1, items};
    for (uint32_t k = 0; k < operands[i].count; k++) {
        items[k] = (IrData){.rank = 1, .dims = {list ? 1000 + 77 * (int64_t)k : 1}};
        if (!list)
            REQUIRE(ir_operand_shape(p, npu_chip_find(STR("910B2")), dims, NULL, operands, i,
                                     &items[k]));
        int64_t n = 1;
        for (uint32_t a = 0; a < items[k].rank; a++)
            n *= items[k].dims[a];
        items[k].data = arena_alloc(arena, (size_t)n * dtype_bytes(t->dtype) + 16);
    }
}

static void run_once(const char *path, const IrProgram *p, int64_t wish)
{
    Arena arena = {0};
    int64_t *dims = arena_array(&arena, int64_t, p->dims.len + 1);
    for (uint32_t i = 0; i < p->dims.len; i++)
        dims[i] = pick_dim(&p->vars.at[p->dims.at[i]], wish + (int64_t)i);
    IrOperand *operands = arena_array(&arena, IrOperand, p->operand_count + 1);
    for (uint32_t i = 0; i < p->operand_count; i++)
        give_memory(&arena, p, i, dims, operands, arena_array(&arena, IrData, 2));
    IrRun run = {.p = p, .chip = npu_chip_find(STR("910B2")), .operands = operands, .dims = dims};
    bool ok = ir_run(&arena, &run);
    CHECK_MSG(ok, "%s at %lld: %s", path, (long long)wish,
              run.faults.len ? run.faults.at[0].text
              : run.text     ? run.text
                             : "refused");
    arena_drop(&arena);
}

T_TEST(examples_run_without_faults)
{
    Arena arena = {0};
    NameList files = craft_files(&arena, "examples");
    for (uint32_t i = 0; i < files.len; i++) {
        Str text = help_read(&arena, files.at[i]);
        Diag diag = diag_make(&arena, files.at[i], text);
        CraftFile *file = craft_read(&arena, files.at[i], text, &diag);
        IrProgram *p = file ? craft_program(&arena, file, 0, &diag) : NULL;
        REQUIRE(p);
        run_once(files.at[i], p, 1);
        run_once(files.at[i], p, 7);
        run_once(files.at[i], p, 16);
    }
    arena_drop(&arena);
}

/* ---- every example is proved, in every variant; what may be watched stands here ---- */

static const char *const watched_examples[] = {NULL};

static bool may_be_watched(const char *path)
{
    for (uint32_t i = 0; watched_examples[i]; i++)
        if (str_is(str_from(path), watched_examples[i]))
            return true;
    return false;
}

static void check_proved(const char *path, uint32_t count[3])
{
    Arena arena = {0};
    Str text = help_read(&arena, path);
    Diag diag = diag_make(&arena, path, text);
    CraftFile *file = craft_read(&arena, path, text, &diag);
    REQUIRE(file);
    for (uint32_t v = 0; v < craft_variant_count(file); v++) {
        IrReport report;
        IrProgram *p = craft_program(&arena, file, v, &diag);
        REQUIRE(p);
        ir_prove(&arena, p, npu_chip_find(STR("910B2")), &report, &diag);
        CHECK_MSG(report.count[IR_WATCHED] == 0 || may_be_watched(path), "%s: %s", path,
                  diag.items.len ? vec_last(&diag.items).text : "watched");
        for (int i = 0; i < 3; i++)
            count[i] += report.count[i];
    }
    arena_drop(&arena);
}

T_TEST(examples_are_proved)
{
    Arena arena = {0};
    uint32_t count[3] = {0};
    for (int f = 0; f < 2; f++) {
        NameList files = craft_files(&arena, shown[f]);
        CHECK(files.len >= 20);
        for (uint32_t i = 0; i < files.len; i++)
            check_proved(files.at[i], count);
    }
    CHECK(count[IR_PROVED] > 5000);
    CHECK(count[IR_WATCHED] * 20 <= count[IR_PROVED]);
    CHECK_EQ_INT(count[IR_REFUSED], 0);
    arena_drop(&arena);
}
