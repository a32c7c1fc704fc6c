/* The cycle model's exam: public kernels that were measured on a board, run as they are, time only.
 *
 *     bench-exam CLONES [--only GLOB,...] [--source NAME] [--role training|test] [--table OUT.tsv] [--all] [--stage DIR]
 *
 * In: bench/exam/rows.tsv (what to run, how long it took), bench/exam/maps.tsv (vendor's kernels that are not public:
 * shapes and times), bench/exam/split.tsv (which operators may
 * give constants: training; which only judge: test), and CLONES, a directory of clones made by the user
 * (asc-devkit, ops-nn, ops-transformer, NPUKernelBench). Kernels that are not there are skipped by name.
 * Out: error by class, training and test apart, how steps of a tuning are ordered, the worst rows;
 * with --table every row. --stage keeps the copies of vendor operators, so that a second run compiles nothing. ACRAFT names the program to run (build/release-gcc/acraft). Without arguments
 * nothing is run.
 *
 * A source is a repository of kernels. Leave one source out: tools/fit_costs --sources fits the constants on the
 * training rows of the other sources and prints them; with a program built for it (ACRAFT, ACRAFT_COSTS) --source NAME
 * --role test then judges that source by constants that none of its rows gave. */
#include "base/file.h"
#include "base/proc.h"
#include "base/rng.h"
#include "base/temp.h"
#include "base/vec.h"
#include "npu/npu.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ARGS = 96, WORST = 10 };

typedef struct ExamRow {
    const char *id, *op, *kase, *class, *pair, *chip, *kernel, *args;
    const char *time; /* "task": with dispatch; "core": the cores' own time */
    const char *edit; /* a sed command that makes this row's variant of the text; "-": none */
    double measured, predicted; /* us; predicted 0: not run */
    double seconds;             /* to run it here */
    const char *why;            /* not run: why */
    bool test;
} ExamRow;

typedef struct Exam {
    Arena arena;
    const char *clones, *only, *source, *role, *table, *acraft, *cwd;
    const char *stage; /* where copies of operators are made; kept when the user names it */
    bool all;
    uint32_t files; /* of values, written so far */
    TempDir temp;
    VEC(ExamRow) rows;
    Diag diag;
} Exam;

/* --- tables --- */

static const char *next_field(Arena *arena, Str *line)
{
    Str field = {0};
    str_next(line, '\t', &field);
    return str_dup(arena, field);
}

/* The next line that is no comment. */
static bool next_line(Str *text, Str *line)
{
    while (str_next(text, '\n', line))
        if (line->len && line->at[0] != '#')
            return true;
    return false;
}

/* The role of an operator; an operator that the split does not name is an error. */
static bool is_test(Exam *e, Str split, const char *op)
{
    Str line;
    while (next_line(&split, &line)) {
        const char *name = next_field(&e->arena, &line), *role = next_field(&e->arena, &line);
        if (!strcmp(name, op))
            return !strcmp(role, "test");
    }
    fprintf(stderr, "bench/exam/split.tsv does not name %s\n", op);
    exit(2);
}

/* --only: globs with commas between them. */
static bool is_among(Exam *e, const char *op)
{
    Str globs = str_from(e->only), glob;
    while (str_next(&globs, ',', &glob))
        if (fnmatch(str_dup(&e->arena, glob), op, 0) == 0)
            return true;
    return false;
}

/* The repository that a row's kernel comes from: the first folder of its path. */
static bool of_source(const ExamRow *r, const char *source)
{
    size_t n = strlen(source);
    return !strncmp(r->kernel, source, n) && r->kernel[n] == '/';
}

static bool is_wanted(Exam *e, const ExamRow *r)
{
    return (!e->role || !strcmp(e->role, r->test ? "test" : "training")) &&
           (!e->only || is_among(e, r->op)) && (!e->source || of_source(r, e->source));
}

static bool read_rows(Exam *e)
{
    Str text, split, line;
    if (!file_read(&e->arena, "bench/exam/rows.tsv", 0, &text, &e->diag) ||
        !file_read(&e->arena, "bench/exam/split.tsv", 0, &split, &e->diag))
        return false;
    while (next_line(&text, &line)) {
        ExamRow r = {.id = next_field(&e->arena, &line)};
        r.op = next_field(&e->arena, &line);
        r.kase = next_field(&e->arena, &line);
        r.class = next_field(&e->arena, &line);
        r.pair = next_field(&e->arena, &line);
        r.chip = next_field(&e->arena, &line);
        r.measured = strtod(next_field(&e->arena, &line), NULL);
        r.time = next_field(&e->arena, &line);
        r.kernel = next_field(&e->arena, &line);
        r.edit = next_field(&e->arena, &line);
        r.args = next_field(&e->arena, &line);
        r.test = is_test(e, split, r.op);
        if (is_wanted(e, &r))
            vec_push(&e->arena, &e->rows, r);
    }
    return true;
}

/* --- a copy of a vendor's operator with the files for Atlas A2 alone --- */

static bool shell(Exam *e, const char *command)
{
    const char *const argv[] = {"sh", "-c", command, NULL};
    ProcResult result;
    return proc_run(&e->arena, &(ProcSpec){.argv = argv, .seconds = 60}, &result, &e->diag) &&
           result.end == PROC_EXITED && result.status == 0;
}

/* Functions that host code names and that are never called here (tiling for other chips), or that no public repository
 * has (tiling by the older compiler: a row that needs it is refused). */
static const char absent_functions[] =
    "#include \"log/log.h\"\n"
    "#define ABSENT __attribute__((weak))\n"
    "namespace optiling {\n"
    "ABSENT ge::graphStatus Tiling4GroupNormSiluRegBase(gert::TilingContext *)\n"
    "{ return ge::GRAPH_FAILED; }\n"
    "ABSENT bool IsSocVersionArch20Pertoken(const gert::TilingContext *) { return false; }\n"
    "}\n"
    "namespace Ops { namespace NN {\n"
    "ABSENT uint32_t MurmurHash(const void *bytes, uint32_t n, uint32_t seed)\n"
    "{\n"
    "    uint32_t hash = 2166136261u ^ seed;\n"
    "    for (uint32_t i = 0; i < n; i++)\n"
    "        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;\n"
    "    return hash;\n"
    "}\n"
    "} }\n"
    "#if __has_include(\"op_cache_tiling.h\")\n"
    "#include \"op_cache_tiling.h\"\n"
    "namespace optiling {\n"
    "ABSENT bool TilingPrepareForOpCache(gert::TilingContext *) { return true; }\n"
    "ABSENT bool TilingPrepareForOpCache(gert::TilingParseContext *) { return true; }\n"
    "ABSENT bool GenTiling(const std::string &, const BatchmatmulCompileParas &,\n"
    "                      BatchmatmulRunParas &, CacheTilingData &, gert::TilingContext *)\n"
    "{ return false; }\n"
    "ABSENT bool CheckSupportConditionQbmm(QbmmType, QuantBatchMatmulRunParas &, uint64_t, bool)\n"
    "{ return false; }\n"
    "}\n"
    "#endif\n";

/* The folder of a project's copies: one for each edit, beside links to the operators that it includes by relative paths. */
static const char *stage_folder(Exam *e, const char *from, const char *edit)
{
    uint32_t hash = 2166136261u;
    for (const char *at = edit; at && *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    const char *up = str_dup(&e->arena, path_base(path_dir(&e->arena, from)));
    const char *name = edit ? str_format(&e->arena, "%s-%08x", up, hash) : up;
    return path_join(&e->arena, e->stage, name);
}

static const char *stage_project(Exam *e, const char *from, const char *edit)
{
    const char *name = str_dup(&e->arena, path_base(from));
    const char *folder = stage_folder(e, from, edit);
    const char *to = path_join(&e->arena, folder, name);
    if (file_exists(path_join(&e->arena, to, "op_host/exam_absent.cpp")))
        return to;
    const char *up = path_dir(&e->arena, from);
    const char *command = str_format(
        &e->arena,
        "mkdir -p '%s' && cd '%s' && "
        "for s in '%s'/*/; do b=$(basename $s); test -e $b || ln -s ${s%%/} $b; done && rm -rf "
        "'%s' && "
        "mkdir -p '%s/op_graph' && cp -r '%s/op_host' '%s/op_kernel' '%s/' && cd '%s' && "
        "ln -s '%s/../common/inc/op_kernel' inc && "
        "rm -rf op_host/config op_host/op_api && touch op_graph/%s_proto.h && "
        "find . -name '*arch35*.cpp' -delete && find . -path '*arch35*' -name '*.cpp' -delete && "
        "find . -path '*arch20*' -name '*.cpp' -delete && "
        "find . -name '*_apt.*' -delete && find . -name '*regbase*.cpp' -delete && "
        "find op_host -name '*infershape*' -delete && "
        /* classes of another chip that the list for this one names */
        "find op_host -name '*.cpp' -exec sed -i -e "
        "'/REGISTER_TILING_TEMPLATE(.*PpMatmulInt8Tiling/d' "
        "-e 's/return QuantBatchMatmulPertokenArch20(context).DoTiling()/return ge::GRAPH_FAILED/' "
        "{} +",
        folder, folder, up, name, to, from, from, to, to, up, name);
    if (edit)
        command = str_format(&e->arena, "%s && find . -type f -exec sed -i '%s' {} +", command,
                             edit);
    Str absent = {.at = absent_functions, .len = sizeof absent_functions - 1};
    bool ok = shell(e, command) &&
              file_write(path_join(&e->arena, to, "op_host/exam_absent.cpp"), absent, &e->diag);
    return ok ? to : NULL;
}

/* A copy of an example's file beside its headers, with a line of it changed. */
static const char *stage_example(Exam *e, const char *from, const char *edit)
{
    const char *folder = stage_folder(e, from, edit);
    const char *to = path_join(&e->arena, folder, str_dup(&e->arena, path_base(from)));
    if (file_exists(to))
        return to;
    const char *command = str_format(
        &e->arena,
        "mkdir -p '%s' && cp '%s'/*.h '%s/' && sed '%s' '%s' > '%s.new' && mv '%s.new' '%s'",
        folder, path_dir(&e->arena, from), folder, edit, from, to, to, to);
    return shell(e, command) ? to : NULL;
}

/* --- integers that decide what a kernel does --- */

static void put_number(Buf *bytes, Str dtype, double value)
{
    int64_t wide = (int64_t)value;
    int32_t word = (int32_t)value;
    float real = (float)value;
    if (str_is(dtype, "f32"))
        buf_add(bytes, &real, sizeof real);
    else if (str_is(dtype, "i64"))
        buf_add(bytes, &wide, sizeof wide);
    else
        buf_add(bytes, &word, sizeof word);
}

static uint64_t elements_of(Str shape)
{
    uint64_t n = 1, dim = 0;
    for (size_t i = 0; i < shape.len; i++) {
        if (shape.at[i] >= '0' && shape.at[i] <= '9')
            dim = dim * 10 + (uint64_t)(shape.at[i] - '0');
        else if (shape.at[i] == ',' || shape.at[i] == ']')
            n *= dim, dim = 0;
    }
    return n;
}

/* A permutation of 0..n-1 by steps of a number that shares no factor with n. */
static uint64_t step_through(uint64_t n)
{
    uint64_t step = n / 3 * 2 + 1;
    for (uint64_t a = step, b = n; b;) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
        if (!b && a != 1)
            a = ++step, b = n;
    }
    return step;
}

/* "x=i32[8]@fill:3" becomes "x=i32[8]@FILE"; other arguments stay. */
static const char *with_values(Exam *e, const char *arg)
{
    Str text = str_from(arg);
    int64_t at = str_find(text, STR("]@")), is = str_find(text, STR("="));
    if (at < 0 || is < 0)
        return arg;
    const char *how = arg + at + 2;
    Str type = str_slice(text, (size_t)is + 1, (size_t)at + 1);
    int64_t open = str_find(type, STR("["));
    Str dtype = str_slice(type, 0, (size_t)open), shape = str_slice(type, (size_t)open, type.len);
    uint64_t n = elements_of(shape);
    const char *colon = strchr(how, ':');
    double value = colon ? strtod(colon + 1, NULL) : 0;
    Buf bytes = {0};
    uint64_t whole = (uint64_t)value, step = whole ? step_through(whole) : 1;
    for (uint64_t i = 0; i < n; i++) {
        if (!strncmp(how, "parts", 5))
            put_number(&bytes, dtype, (double)(whole / n + (i < whole % n)));
        else if (!strncmp(how, "order", 5))
            put_number(&bytes, dtype, (double)(i % whole * step % whole));
        else if (!strncmp(how, "below", 5))
            put_number(&bytes, dtype, (double)(rng_u64(1, 0, i) % whole));
        else
            put_number(&bytes, dtype, value);
        if (!strncmp(how, "list", 4) && colon)
            colon = strchr(colon + 1, ':'), value = colon ? strtod(colon + 1, NULL) : 0;
    }
    const char *file = path_join(&e->arena, e->temp.path,
                                 str_format(&e->arena, "%u.bin", e->files++));
    file_write(file, buf_view(&bytes), &e->diag);
    buf_free(&bytes);
    return str_format(&e->arena, "%.*s@%s", (int)at + 1, arg, file);
}

/* --- running a row --- */

static uint32_t add_words(Exam *e, const char **argv, uint32_t n, const char *words)
{
    Str text = str_from(words), word;
    while (str_next(&text, ' ', &word) && n + 1 < MOST_ARGS)
        if (word.len)
            argv[n++] = with_values(e, str_dup(&e->arena, word));
    return n;
}

static double number_of(Str json, Str key)
{
    int64_t at = str_find(json, key);
    return at < 0 ? 0 : strtod(json.at + at + key.len, NULL);
}

/* What the row was measured as: the whole task, or the slowest core alone from its first instruction on. */
static double predicted_of(const ExamRow *r, Str json)
{
    if (strcmp(r->time, "core") != 0)
        return number_of(json, STR("\"predicted_us\": "));
    const NpuChip *chip = npu_chip_find(str_from(r->chip));
    double cycles = number_of(json, STR("\"cycles\": "));
    return chip && cycles > 0 ? (cycles + npu_constants[NPU_C_PROLOGUE].value) / chip->mhz : 0;
}

static const char *first_line(Exam *e, Str text)
{
    Str line = {0};
    str_next(&text, '\n', &line);
    return str_dup(&e->arena, line);
}

/* A kernel that was not compiled for one row is not for the next. */
static bool failed_before(const Exam *e, ExamRow *r)
{
    for (const ExamRow *o = e->rows.at; o < r; o++)
        if (!strcmp(o->kernel, r->kernel) && o->why && strstr(o->why, ": error: "))
            r->why = o->why;
    return r->why;
}

/* The headers that stand in for the vendor's, then those of the operator's own repository. */
static const char *vendor_includes(Exam *e, const char *path, const char *project)
{
    const char *repository = path_dir(&e->arena, path_dir(&e->arena, path));
    const char *beside = path_dir(&e->arena, project);
    return str_format(&e->arena, "-I %s/bench/exam/include -I %s -I %s -I %s/common/inc/op_host",
                      e->cwd, beside, repository, repository);
}

static void run_row(Exam *e, ExamRow *r)
{
    const char *path = path_join(&e->arena, e->clones, r->kernel);
    if (!*r->args) {
        r->why = "its host code is not taken by the twin";
        return;
    }
    if (r->args[0] == '!') {
        r->why = r->args + 1;
        return;
    }
    if (!file_exists(path)) {
        r->why = "not fetched";
        return;
    }
    if (failed_before(e, r))
        return;
    const char *argv[MOST_ARGS + 1] = {e->acraft, "run"};
    uint32_t n = 2;
    bool vendor = file_is_dir(path) && !strncmp(r->kernel, "ops-", 4);
    const char *edit = *r->edit == '-' ? NULL : r->edit;
    const char *project = vendor ? stage_project(e, path, edit)
                          : edit ? stage_example(e, path, edit)
                                 : path;
    if (!project) {
        r->why = "could not be copied";
        return;
    }
    argv[n++] = project;
    n = add_words(e, argv, n, r->args);
    if (vendor)
        n = add_words(e, argv, n, vendor_includes(e, path, project));
    n = add_words(e, argv, n, str_format(&e->arena, "--chip %s --time-only --json", r->chip));
    n = add_words(e, argv, n, "--seconds 200 --trust");
    argv[n] = NULL;
    ProcResult result;
    if (!proc_run(&e->arena, &(ProcSpec){.argv = argv, .seconds = 260}, &result, &e->diag))
        r->why = "acraft was not started";
    else if ((r->predicted = predicted_of(r, result.out)) <= 0)
        r->why = first_line(e, result.err.len ? result.err : result.out);
    r->seconds = result.seconds;
}

/* --- plain maps beside the vendor's kernels that are not public --- */

/* The fastest of our plans for a row of bench/exam/maps.tsv, and the attainable time; us. */
static bool plan_map(Exam *e, const char *dtype, const char *shape, const char *expression,
                     double *ours, double *least)
{
    bool two = strstr(expression, "y)");
    const char *path = path_join(&e->arena, e->temp.path, "map.py"),
               *text = str_format(&e->arena,
                                  "import torch\nimport torch.nn as nn\n\n\n"
                                  "class Model(nn.Module):\n    def forward(self, x%s):\n"
                                  "        return %s\n\n\ndef get_inputs():\n"
                                  "    return [torch.rand(%s) for _ in range(%d)]\n\n\n"
                                  "def get_init_inputs():\n    return []\n",
                                  two ? ", y" : "", expression, shape, two ? 2 : 1);
    const char *const argv[] = {e->acraft, "plan", path, "--dtype", dtype, "--json", NULL};
    ProcResult result;
    if (!file_write(path, str_from(text), &e->diag) ||
        !proc_run(&e->arena, &(ProcSpec){.argv = argv, .seconds = 60}, &result, &e->diag))
        return false;
    *ours = number_of(result.out, STR("\"predicted_us\": "));
    *least = number_of(result.out, STR("\"least_us\": "));
    return *ours > 0;
}

static void print_maps(Exam *e)
{
    Str text, split, line;
    if (!file_read(&e->arena, "bench/exam/maps.tsv", 0, &text, &e->diag) ||
        !file_read(&e->arena, "bench/exam/split.tsv", 0, &split, &e->diag))
        return;
    printf(
        "\nplain maps: the vendor's kernel (measured, not public), our fastest plan (predicted), "
        "attainable\n");
    while (next_line(&text, &line)) {
        const char *op = next_field(&e->arena, &line), *dtype = next_field(&e->arena, &line),
                   *shape = next_field(&e->arena, &line);
        double measured = strtod(next_field(&e->arena, &line), NULL), ours = 0, least = 0;
        const char *expression = next_field(&e->arena, &line);
        const char *role = is_test(e, split, op) ? "test" : "training";
        if ((e->role && strcmp(e->role, role) != 0) || (e->only && !is_among(e, op)))
            continue;
        if (!plan_map(e, dtype, shape, expression, &ours, &least))
            continue;
        printf("  %-8s %-5s %-18s %-8s %8.2f %8.2f (%.2f times) %8.2f%s\n", op, dtype, shape, role,
               measured, ours, ours / measured, least, least > measured ? "  ABOVE" : "");
    }
}

/* --- the report --- */

static double error_of(const ExamRow *r) { return fabs(r->predicted / r->measured - 1); }

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef bool Chooses(const ExamRow *r, const char *what);

static void print_line(const Exam *e, const char *name, Chooses *chooses, const char *what)
{
    double *errors = heap_alloc((e->rows.len + 1) * sizeof *errors);
    for (int test = 0; test < 2; test++) {
        double sum = 0, bias = 0;
        uint32_t n = 0;
        for (uint32_t i = 0; i < e->rows.len; i++) {
            const ExamRow *r = &e->rows.at[i];
            if (r->predicted <= 0 || r->test != test || !chooses(r, what))
                continue;
            errors[n++] = error_of(r);
            sum += error_of(r);
            bias += log(r->predicted / r->measured);
        }
        if (test == 0)
            printf("%-22s", name);
        if (n) {
            qsort(errors, n, sizeof *errors, by_number);
            printf("  %4u %6.1f %6.1f %+7.1f", n, 100 * sum / n,
                   50 * (errors[(n - 1) / 2] + errors[n / 2]), 100 * (exp(bias / n) - 1));
        } else {
            printf("  %4s %6s %6s %7s", "0", "-", "-", "-");
        }
    }
    printf("\n");
    heap_free(errors);
}

static bool of_class(const ExamRow *r, const char *what) { return !strcmp(r->class, what); }
static bool of_chip(const ExamRow *r, const char *what) { return !strcmp(r->chip, what); }
static bool of_op(const ExamRow *r, const char *what) { return !strcmp(r->op, what); }
static bool any(const ExamRow *r, const char *what) { return r->measured > 0 && what; }
static bool is_short(const ExamRow *r, const char *what) { return r->measured < 10 && what; }
static bool is_medium(const ExamRow *r, const char *what)
{
    return r->measured >= 10 && r->measured < 30 && what;
}
static bool is_long(const ExamRow *r, const char *what) { return r->measured >= 30 && what; }
static bool is_vector(const ExamRow *r, const char *what)
{
    return strcmp(r->class, "cube") && strcmp(r->class, "matmul-class") &&
           strcmp(r->class, "mixed") && what;
}

static void print_classes(const Exam *e)
{
    static const char *const classes[] = {"memory", "compute", "cast",         "reduction", "move",
                                          "narrow", "cube",    "matmul-class", "mixed"};
    static const char *const sources[] = {"NPUKernelBench", "ops-nn", "ops-transformer",
                                          "asc-devkit"};
    printf("%-22s  %28s  %28s\n", "", "training", "test");
    printf("%-22s  %4s %6s %6s %7s  %4s %6s %6s %7s   (%% of the measured time)\n", "class", "rows",
           "mean", "median", "bias", "rows", "mean", "median", "bias");
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        print_line(e, classes[i], of_class, classes[i]);
    print_line(e, "all vector", is_vector, "");
    print_line(e, "under 10 us", is_short, "");
    print_line(e, "10 to 30 us", is_medium, "");
    print_line(e, "30 us and more", is_long, "");
    print_line(e, "910B3", of_chip, "910B3");
    print_line(e, "all", any, "");
    printf("\nby source of the kernels\n");
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        print_line(e, sources[i], of_source, sources[i]);
    printf("\nby operator (constants never come from the test operators)\n");
    for (uint32_t i = 0; i < e->rows.len; i++) {
        bool first = true;
        for (uint32_t k = 0; k < i; k++)
            first &= strcmp(e->rows.at[i].op, e->rows.at[k].op) != 0;
        if (first)
            print_line(e, e->rows.at[i].op, of_op, e->rows.at[i].op);
    }
}

/* Measured over predicted of the test rows whose prediction is in [from, to): src/npu/interval.def. */
static void print_interval(const Exam *e, const char *name, Chooses *chooses, double from,
                           double to)
{
    double *ratios = heap_alloc((e->rows.len + 1) * sizeof *ratios);
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->rows.len; i++) {
        const ExamRow *r = &e->rows.at[i];
        if (r->test && r->predicted >= from && r->predicted < to && r->predicted > 0 &&
            chooses(r, ""))
            ratios[n++] = r->measured / r->predicted;
    }
    qsort(ratios, n, sizeof *ratios, by_number);
    if (n)
        printf("  %-8s from %2.0f us: %.2f to %.2f times the prediction (%u test rows)\n", name,
               from, ratios[n / 10], ratios[n - 1 - n / 10], n);
    heap_free(ratios);
}

static bool is_cube(const ExamRow *r, const char *what)
{
    return (!strcmp(r->class, "cube") || !strcmp(r->class, "matmul-class")) && what;
}

static bool is_mixed(const ExamRow *r, const char *what)
{
    return !strcmp(r->class, "mixed") && what;
}

static void print_intervals(const Exam *e)
{
    printf("\n8 of 10 measured times lie in\n");
    print_interval(e, "vector", is_vector, 0, 10);
    print_interval(e, "vector", is_vector, 10, 30);
    print_interval(e, "vector", is_vector, 30, INFINITY);
    print_interval(e, "cube", is_cube, 0, INFINITY);
    print_interval(e, "mixed", is_mixed, 0, INFINITY);
}

/* Steps of a tuning: of how many pairs the model says which is faster as the board did. NULL: of all tunings. */
static uint32_t count_pairs(const Exam *e, const char *tuning, bool test, uint32_t *all)
{
    uint32_t right = 0;
    *all = 0;
    for (uint32_t i = 0; i < e->rows.len; i++)
        for (uint32_t k = i + 1; k < e->rows.len; k++) {
            const ExamRow *a = &e->rows.at[i], *b = &e->rows.at[k];
            if (a->predicted <= 0 || b->predicted <= 0 || *a->pair == '-' || a->test != test ||
                strcmp(a->pair, b->pair) != 0 || (tuning && strcmp(a->pair, tuning) != 0))
                continue;
            ++*all;
            right += (a->predicted < b->predicted) == (a->measured < b->measured);
        }
    return right;
}

static bool is_first_of_tuning(const Exam *e, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (!strcmp(e->rows.at[k].pair, e->rows.at[i].pair))
            return false;
    return *e->rows.at[i].pair != '-';
}

static void print_pairs(const Exam *e)
{
    uint32_t all, tests, right = count_pairs(e, NULL, false, &all),
                         test = count_pairs(e, NULL, true, &tests);
    printf("\npairs of a tuning in the board's order: training %u of %u, test %u of %u\n", right,
           all, test, tests);
    for (uint32_t i = 0; i < e->rows.len; i++) {
        const ExamRow *r = &e->rows.at[i];
        right = is_first_of_tuning(e, i) ? count_pairs(e, r->pair, r->test, &all) : (all = 0);
        if (all)
            printf("  %-28s %2u of %2u (%s)\n", r->pair, right, all, r->test ? "test" : "training");
    }
}

/* Rows of bursts under 32 bytes; the model should be within 1.5 times there. */
static void print_narrow(const Exam *e)
{
    uint32_t all = 0, within = 0;
    printf("\nbursts under 32 bytes: predicted against measured us\n");
    for (uint32_t i = 0; i < e->rows.len; i++) {
        const ExamRow *r = &e->rows.at[i];
        if (!of_class(r, "narrow") || r->predicted <= 0)
            continue;
        double times = r->predicted / r->measured;
        bool near = fmax(times, 1 / times) <= 1.5;
        all++;
        within += near;
        printf("  %-28s %-10s %-8s %9.1f %9.1f  %5.2f times%s\n", r->op, r->kase,
               r->test ? "test" : "training", r->predicted, r->measured, times,
               near ? "" : ", not within 1.5");
    }
    printf("  within 1.5 times: %u of %u\n", within, all);
}

static int by_error(const void *a, const void *b)
{
    const ExamRow *x = a, *y = b;
    double p = fabs(log(x->predicted / x->measured)), q = fabs(log(y->predicted / y->measured));
    return p > q ? -1 : p < q;
}

static void print_worst(Exam *e)
{
    ExamRow *sorted = heap_alloc((e->rows.len + 1) * sizeof *sorted);
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->rows.len; i++)
        if (e->rows.at[i].predicted > 0)
            sorted[n++] = e->rows.at[i];
    qsort(sorted, n, sizeof *sorted, by_error);
    printf("\nthe worst: predicted against measured us\n");
    for (uint32_t i = 0; i < n && (e->all || i < WORST); i++)
        printf("  %-32s %-12s %-10s %-8s %9.1f %9.1f  %5.2f times\n", sorted[i].op, sorted[i].kase,
               sorted[i].class, sorted[i].test ? "test" : "training", sorted[i].predicted,
               sorted[i].measured, sorted[i].predicted / sorted[i].measured);
    heap_free(sorted);
}

static void print_skipped(const Exam *e)
{
    printf("\nnot run:\n");
    for (uint32_t i = 0; i < e->rows.len; i++) {
        const ExamRow *r = &e->rows.at[i];
        uint32_t like = 0, before = 0;
        for (uint32_t k = 0; k < e->rows.len; k++) {
            const ExamRow *o = &e->rows.at[k];
            bool same = o->predicted <= 0 && !strcmp(o->op, r->op) && r->why &&
                        !strcmp(o->why, r->why);
            like += same;
            before += same && k < i;
        }
        if (r->predicted <= 0 && !before)
            printf("  %-28s %2u rows: %s\n", r->op, like, r->why);
    }
}

/* How much of the tables is known: by where the figures come from. */
static void print_sources(void)
{
    uint32_t isa[NPU_COST_M + 1] = {0}, cost[NPU_COST_M + 1] = {0};
    for (uint32_t op = 1; op < NPU_OP_COUNT; op++) {
        /* What cores tell each other costs CROSS_FLAG and SYNC_ALL of cost.def; nothing reads cycles in isa.def. */
        bool read = op != NPU_CROSS_SET && op != NPU_CROSS_WAIT && op != NPU_SYNC_ALL;
        isa[npu_isa(op)->cost] += read;
    }
    for (uint32_t i = 0; i < NPU_CONSTANT_COUNT; i++)
        cost[npu_constants[i].from]++;
    printf("\nconstants: %u measured, %u fitted, %u borrowed, %u unknown of isa.def; %u, %u, %u, "
           "%u of "
           "cost.def\n",
           isa[NPU_COST_M], isa[NPU_COST_F], isa[NPU_COST_P], isa[NPU_COST_U], cost[NPU_COST_M],
           cost[NPU_COST_F], cost[NPU_COST_P], cost[NPU_COST_U]);
    printf("borrowed and unknown: %u\n",
           isa[NPU_COST_P] + isa[NPU_COST_U] + cost[NPU_COST_P] + cost[NPU_COST_U]);
}

static void write_table(Exam *e)
{
    Buf out = {0};
    buf_puts(&out, "id\toperator\tcase\tclass\trole\tmeasured_us\tpredicted_us\tseconds\tsource\n");
    for (uint32_t i = 0; i < e->rows.len; i++) {
        const ExamRow *r = &e->rows.at[i];
        if (r->predicted > 0)
            buf_printf(&out, "%s\t%s\t%s\t%s\t%s\t%.3f\t%.3f\t%.1f\t%.*s\n", r->id, r->op, r->kase,
                       r->class, r->test ? "test" : "training", r->measured, r->predicted,
                       r->seconds, (int)strcspn(r->kernel, "/"), r->kernel);
    }
    file_write(e->table, buf_view(&out), &e->diag);
    buf_free(&out);
}

static bool read_options(Exam *e, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char **to = !strcmp(argv[i], "--only")     ? &e->only
                          : !strcmp(argv[i], "--role")   ? &e->role
                          : !strcmp(argv[i], "--source") ? &e->source
                          : !strcmp(argv[i], "--table")  ? &e->table
                          : !strcmp(argv[i], "--stage")  ? &e->stage
                                                         : NULL;
        if (to && i + 1 < argc)
            *to = argv[++i];
        else if (!strcmp(argv[i], "--all"))
            e->all = true;
        else if (argv[i][0] != '-' && !e->clones)
            e->clones = argv[i];
        else
            return false;
    }
    return e->clones;
}

int main(int argc, char **argv)
{
    char cwd[4096];
    const char *acraft = getenv("ACRAFT");
    Exam e = {.acraft = acraft ? acraft : "build/release-gcc/acraft",
              .cwd = getcwd(cwd, sizeof cwd)};
    e.diag = diag_make(&e.arena, "exam", (Str){0});
    if (argc == 1) {
        printf("bench-exam CLONES: give a directory with clones of the public kernels\n");
        return 0;
    }
    if (!read_options(&e, argc, argv) || !read_rows(&e) ||
        !temp_dir_make(&e.arena, "acraft-exam", &e.temp, &e.diag)) {
        fprintf(stderr,
                "usage: bench-exam CLONES [--only GLOB,...] [--source NAME] [--role training|test] "
                "[--table OUT.tsv] [--all] [--stage DIR]\n");
        return 2;
    }
    e.stage = e.stage ? e.stage : e.temp.path;
    for (uint32_t i = 0; i < e.rows.len; i++)
        run_row(&e, &e.rows.at[i]);
    print_classes(&e);
    print_intervals(&e);
    print_pairs(&e);
    print_narrow(&e);
    print_worst(&e);
    print_skipped(&e);
    if (!e.source)
        print_maps(&e);
    print_sources();
    if (e.table)
        write_table(&e);
    temp_dir_remove(&e.temp, &e.diag);
    arena_drop(&e.arena);
    return 0;
}
