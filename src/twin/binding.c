/* Compiles binding texts into a program and runs one call of it in the box. */
#include "twin/binding_int.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_MEMORY (1ull << 30)

static Str marked(Arena *arena, const TwinHostFile *file)
{
    Buf out = {0};
    Str text = twin_bind_text(arena, file->text);
    ptrdiff_t start = str_find(text, STR("#line 1\n"));
    buf_str(&out, str_slice(text, 0, (size_t)start));
    buf_puts(&out, "#line 1 ");
    buf_json_str(&out, str_from(file->path));
    buf_str(&out, str_slice(text, (size_t)start + 7, text.len));
    Str unit = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return unit;
}

TwinBinding *twin_binding_compile(Arena *arena, const TwinHostFile *files, uint32_t count,
                                  const TwinOptions *options, Verdict *verdict, Diag *diag)
{
    static const char *const flags[] = {"-DACRAFT_BINDING", "-ffunction-sections",
                                        "-fdata-sections", NULL};
    TwinPlaces places;
    verdict->stage = STAGE_COMPILE;
    if (!twin_places_find(arena, options, &places, verdict))
        return NULL;
    BuildText *texts = arena_array(arena, BuildText, count + 1);
    for (uint32_t i = 0; i < count; i++)
        texts[i] = (BuildText){.text = marked(arena, &files[i]), .shown = files[i].path};
    BuildUnit unit = {
        .texts = texts, .text_count = count, .flags = flags, .host = true, .binding = true};
    BuildResult built;
    if (!twin_build_program(arena, &places, &unit, options, &built, verdict, diag))
        return NULL;
    TwinBinding *binding = arena_new(arena, TwinBinding);
    binding->exe = built.exe;
    return binding;
}

void twin_binding_release(TwinBinding *binding)
{
    if (binding->exe >= 0)
        close(binding->exe);
    binding->exe = -1;
}

/* --- one call -------------------------------------------------------------------------------- */

static int memory_file(const char *name, Str content)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    size_t done = 0;
    while (fd >= 0 && done < content.len) {
        ssize_t wrote = pwrite(fd, content.at + done, content.len - done, (off_t)done);
        if (wrote <= 0) {
            close(fd);
            return -1;
        }
        done += (size_t)wrote;
    }
    return fd;
}

static bool read_all(Arena *arena, int fd, uint64_t most, Str *bytes)
{
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || (uint64_t)size > most)
        return false;
    char *at = arena_alloc(arena, (size_t)size + 1);
    *bytes = (Str){at, (size_t)size};
    return pread(fd, at, (size_t)size, 0) == size;
}

static bool ask(Arena *arena, const TwinBinding *binding, const TwinBindCall *call,
                const TwinOptions *options, Str *answer, Str *printed, Verdict *verdict)
{
    Str request = twin_bind_request(arena, call, twin_chip(options));
    uint64_t memory = call->memory ? call->memory : MOST_MEMORY;
    int fds[BIND_FD_COUNT] = {memory_file("acraft-call", request),
                              memory_file("acraft-events", (Str){0}), twin_seen_slots()};
    const char *const argv[] = {"binding", NULL};
    BoxSpec spec = {.argv = argv,
                    .exe_fd = binding->exe,
                    .profile = BOX_ZYGOTE,
                    .fds = fds,
                    .fd_count = BIND_FD_COUNT,
                    .seconds = 10,
                    .memory = memory,
                    .processes = 1,
                    .files = 16,
                    .output = (1 + BIND_UNHEARD_CALLS) * (uint64_t)BIND_PRINTED,
                    .file_bytes = memory / 4,
                    .allow_missing = options->trust};
    BoxResult box = {.end = BOX_FAILED, .reason = "no memory for a call"};
    if (fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0) {
        box_run(arena, &spec, &box);
        twin_seen_add_file(options->seen, binding->exe, fds[2]);
    }
    bool ok = twin_build_box_ok(arena, &box, STAGE_RUN, verdict);
    *printed = (Str){str_format(arena, "%.*s%.*s", STR_ARG(box.out), STR_ARG(box.err)),
                     box.out.len + box.err.len};
    if (!ok && verdict->status == VERDICT_OK)
        verdict_fail(verdict, VERDICT_CRASHED, STAGE_RUN,
                     str_format(arena, "the host code ended with status %d", box.status));
    ok = ok && read_all(arena, fds[1], memory / 4, answer);
    for (int i = 0; i < BIND_FD_COUNT; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return ok;
}

static bool ended_well(Arena *arena, const TwinBindDone *done, Verdict *verdict)
{
    const TwinEvent *last = done->events.len ? &vec_last(&done->events) : NULL;
    if (last && last->kind == BIND_FAILED)
        verdict_fail(verdict, VERDICT_CRASHED, STAGE_RUN,
                     str_format(arena, "the host code raised an error: %s", last->name));
    else if (last && last->kind == BIND_UNSUPPORTED) {
        vec_push(arena, &verdict->unsupported, last->name);
        verdict_fail(verdict, VERDICT_UNSUPPORTED, STAGE_RUN,
                     str_format(arena, "the host code needs %s", last->name));
    } else if (!last || (last->kind != BIND_DONE && !done->waits && last->kind != BIND_FUNCTION))
        verdict_fail(verdict, VERDICT_CRASHED, STAGE_RUN, "the host code ended early");
    return verdict->status == VERDICT_OK;
}

bool twin_binding_call(Arena *arena, const TwinBinding *binding, const TwinBindCall *call,
                       const TwinOptions *options, TwinBindDone *done, Verdict *verdict)
{
    Str answer = {0};
    *done = (TwinBindDone){0};
    if (!ask(arena, binding, call, options, &answer, &done->printed, verdict))
        return false;
    if (!twin_bind_events(arena, answer, done)) {
        verdict_fail(verdict, VERDICT_FORGED, STAGE_RUN, "the host code left no readable events");
        return false;
    }
    uint32_t reads = 0;
    for (uint32_t i = 0; i < done->events.len; i++)
        reads += done->events.at[i].kind == BIND_READ || done->events.at[i].kind == BIND_FILE;
    done->waits = reads > call->answers.len;
    return ended_well(arena, done, verdict);
}
