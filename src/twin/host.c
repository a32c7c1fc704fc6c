/* Compiles op_host texts into a host program, and reads its description. */
#include "twin/host.h"
#include "twin/host_int.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_OPS = 256, MOST_ANSWER = 8 << 20 };

typedef struct GeType {
    int32_t number;
    DType dtype;
    const char *name;
} GeType;

static const GeType ge_types[] = {
    {0, DT_F32, "DT_FLOAT"},      {1, DT_F16, "DT_FLOAT16"}, {2, DT_I8, "DT_INT8"},
    {3, DT_I32, "DT_INT32"},      {4, DT_U8, "DT_UINT8"},    {6, DT_I16, "DT_INT16"},
    {7, DT_U16, "DT_UINT16"},     {8, DT_U32, "DT_UINT32"},  {9, DT_I64, "DT_INT64"},
    {10, DT_U64, "DT_UINT64"},    {11, DT_F64, "DT_DOUBLE"}, {12, DT_BOOL, "DT_BOOL"},
    {16, DT_C64, "DT_COMPLEX64"}, {27, DT_BF16, "DT_BF16"},
};
enum { GE_TYPES = sizeof ge_types / sizeof *ge_types };

int32_t twin_ge_dtype(DType dtype)
{
    for (int i = 0; i < GE_TYPES; i++)
        if (ge_types[i].dtype == dtype)
            return ge_types[i].number;
    return -1;
}

bool twin_from_ge_dtype(int32_t number, DType *dtype)
{
    for (int i = 0; i < GE_TYPES; i++) {
        if (ge_types[i].number == number) {
            *dtype = ge_types[i].dtype;
            return true;
        }
    }
    return false;
}

const char *twin_ge_dtype_name(int32_t number)
{
    for (int i = 0; i < GE_TYPES; i++)
        if (ge_types[i].number == number)
            return ge_types[i].name;
    return "DT_UNDEFINED";
}

/* --- asking the host program ----------------------------------------------------------------- */

static bool read_answer(Arena *arena, int fd, Str *answer)
{
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || size > MOST_ANSWER)
        return false;
    char *at = arena_alloc(arena, (size_t)size + 1);
    *answer = (Str){at, (size_t)size};
    return pread(fd, at, (size_t)size, 0) == size;
}

static int memory_file(const char *name, Str content)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0 && content.len && pwrite(fd, content.at, content.len, 0) != (ssize_t)content.len) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void fail_refused(Arena *arena, const BoxResult *box, Verdict *verdict)
{
    Str said = str_trim(str_slice(box->out, 0, 300));
    verdict_fail(verdict, VERDICT_BAD_TILING, STAGE_TILING,
                 said.len ? str_format(arena, "the host code refused: %.*s", STR_ARG(said))
                          : "the host code refused");
}

bool twin_host_ask(Arena *arena, const TwinHost *host, const char *wanted, Str request,
                   const TwinOptions *options, Str *answer, Verdict *verdict)
{
    int fds[HOST_FD_COUNT] = {memory_file("acraft-request", request),
                              memory_file("acraft-answer", (Str){0}), twin_seen_slots()};
    const char *const argv[] = {"host", wanted, NULL};
    BoxSpec spec = {.argv = argv,
                    .exe_fd = host->exe,
                    .profile = BOX_ZYGOTE,
                    .fds = fds,
                    .fd_count = HOST_FD_COUNT,
                    .seconds = 10,
                    .memory = 512 << 20,
                    .processes = 1,
                    .files = 16,
                    .output = (1 + HOST_CALLS) * (uint64_t)HOST_PRINTED,
                    .file_bytes = MOST_ANSWER,
                    .allow_missing = options->trust};
    BoxResult box = {.end = BOX_FAILED, .reason = "no memory for a request"};
    bool scan = strcmp(wanted, HOST_SCAN) == 0;
    bool ok = fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0;
    ok = ok && (!scan || twin_seen_fill(options->scan, host->exe, fds[2]));
    if (ok) {
        box_run(arena, &spec, &box);
        ok = read_answer(arena, fds[1], answer);
        twin_seen_add_file(scan ? NULL : options->seen, host->exe, fds[2]);
    }
    bool said_no = box.end == BOX_EXITED && (box.status == 1 || box.status == 2);
    if (!said_no && !twin_build_box_ok(arena, &box, STAGE_TILING, verdict))
        ok = false;
    if (said_no && !answer->len)
        fail_refused(arena, &box, verdict);
    for (int i = 0; i < HOST_FD_COUNT; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return ok && !(said_no && !answer->len);
}

/* --- the description ------------------------------------------------------------------------- */

static const char *word(Arena *arena, Str *line)
{
    Str piece = {0};
    str_next(line, '\t', &piece);
    return str_dup(arena, piece);
}

static TwinNeed read_need(const char *text)
{
    return strcmp(text, "optional") == 0  ? TWIN_OPTIONAL
           : strcmp(text, "dynamic") == 0 ? TWIN_DYNAMIC
                                          : TWIN_REQUIRED;
}

#define READ_NUMBERS(arena, text, list)                      \
    do {                                                     \
        Str rest_ = str_from(text), piece_;                  \
        int64_t number_;                                     \
        while (str_next(&rest_, ',', &piece_))               \
            if (str_to_i64(piece_, &number_))                \
                vec_push((arena), (list), (int32_t)number_); \
    } while (0)

static TwinOpTensor read_tensor(Arena *arena, Str line)
{
    TwinOpTensor tensor = {.name = word(arena, &line)};
    tensor.need = read_need(word(arena, &line));
    READ_NUMBERS(arena, word(arena, &line), &tensor.dtypes);
    READ_NUMBERS(arena, word(arena, &line), &tensor.formats);
    tensor.by_value = strcmp(word(arena, &line), "1") == 0;
    return tensor;
}

static void read_line(Arena *arena, Str line, TwinOps *ops)
{
    const char *kind = word(arena, &line);
    if (strcmp(kind, "op") == 0 && ops->len < MOST_OPS) {
        TwinOp op = {.name = word(arena, &line)};
        vec_push(arena, ops, op);
    }
    if (!ops->len)
        return;
    TwinOp *op = &vec_last(ops);
    if (strcmp(kind, "input") == 0) {
        vec_push(arena, &op->inputs, read_tensor(arena, line));
    } else if (strcmp(kind, "output") == 0) {
        vec_push(arena, &op->outputs, read_tensor(arena, line));
    } else if (strcmp(kind, "attr") == 0) {
        TwinOpAttr attr = {.name = word(arena, &line)};
        attr.required = strcmp(word(arena, &line), "required") == 0;
        attr.type = word(arena, &line);
        attr.value = word(arena, &line);
        vec_push(arena, &op->attrs, attr);
    } else if (strcmp(kind, "tiling") == 0) {
        op->has_tiling = strcmp(word(arena, &line), "1") == 0;
    }
}

static bool read_description(Arena *arena, TwinHost *host, const TwinOptions *options,
                             Verdict *verdict)
{
    Str text = {0}, line;
    if (!twin_host_ask(arena, host, HOST_DESCRIBE, (Str){0}, options, &text, verdict))
        return false;
    while (str_next(&text, '\n', &line))
        read_line(arena, line, &host->ops);
    if (!host->ops.len)
        verdict_fail(verdict, VERDICT_BAD_TILING, STAGE_TILING,
                     "the host code registers no operator");
    return host->ops.len > 0;
}

/* --- compiling ------------------------------------------------------------------------------- */

static Str marked_text(Arena *arena, const TwinHostFile *file, const char *const *defines)
{
    Buf out = {0};
    for (; defines && *defines; defines++)
        twin_add_define(&out, *defines);
    buf_puts(&out, "#line 1 ");
    buf_json_str(&out, str_from(file->path));
    buf_char(&out, '\n');
    buf_str(&out, twin_without_mark(file->text));
    buf_char(&out, '\n');
    Str text = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return text;
}

/* CANN builds host code with g++, which takes some text that clang refuses (arrays of a length that is not
 * constant, with values): so where clang refuses, g++ is tried, and clang's messages stay if it refuses too. */
static bool build_host(Arena *arena, const TwinPlaces *places, const BuildUnit *unit,
                       const TwinOptions *options, BuildResult *built, Verdict *verdict, Diag *diag)
{
    TwinPlaces other;
    Verdict before = *verdict, again = *verdict;
    Diag kept = *diag;
    if (twin_build_program(arena, places, unit, options, built, verdict, diag))
        return true;
    if (verdict->status != VERDICT_NOT_COMPILED || !twin_places_other(arena, places, &other))
        return false;
    Diag quiet = diag_make(arena, diag->file, diag->source);
    if (!twin_build_program(arena, &other, unit, options, built, &again, &quiet))
        return false;
    *verdict = before;
    *diag = kept;
    return true;
}

TwinHost *twin_host_compile(Arena *arena, const TwinHostSource *source, const TwinOptions *options,
                            Verdict *verdict, Diag *diag)
{
    TwinPlaces places;
    verdict->stage = STAGE_COMPILE;
    if (!twin_places_find(arena, options, &places, verdict))
        return NULL;
    VEC(BuildText) texts = {0};
    for (uint32_t i = 0; i < source->file_count; i++) {
        BuildText text = {.text = marked_text(arena, &source->files[i], source->defines),
                          .shown = source->files[i].path};
        vec_push(arena, &texts, text);
    }
    BuildUnit unit = {.texts = texts.at,
                      .text_count = texts.len,
                      .include_dirs = source->include_dirs,
                      .host = true};
    BuildResult built;
    if (!build_host(arena, &places, &unit, options, &built, verdict, diag))
        return NULL;
    TwinHost *host = arena_new(arena, TwinHost);
    host->exe = built.exe;
    if (read_description(arena, host, options, verdict))
        return host;
    twin_host_release(host);
    return NULL;
}

void twin_host_release(TwinHost *host)
{
    if (host->exe >= 0)
        close(host->exe);
    host->exe = -1;
}

const TwinOps *twin_host_ops(const TwinHost *host) { return &host->ops; }
