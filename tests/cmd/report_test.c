/* acraft report: a file from a store, and the same served on loopback to its own host only. */
#include "cmd/cmd.h"
#include "base/file.h"
#include "base/temp.h"
#include "store/store.h"
#include "tests/t.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Place {
    Arena arena;
    Diag diag;
    const char *dir, *store, *page;
    const char *blob; /* of the candidate */
} Place;

static const char *put(Place *p, Store *store, Str text)
{
    char hash[STORE_HASH];
    REQUIRE(store_blob_put(store, text, hash, &p->diag));
    return str_dup(&p->arena, str_from(hash));
}

static void add_attempt(Place *p, Store *store, int64_t run, int64_t task, uint32_t sample)
{
    StoreAttempt a = {.run = run,
                      .task = task,
                      .sample = sample,
                      .form = "craft",
                      .generator = "plan",
                      .source = p->blob,
                      .status = sample ? VERDICT_WRONG : VERDICT_OK,
                      .compiled = VERDICT_YES,
                      .reason = "",
                      .unsupported = "",
                      .predicted_us = 20,
                      .bound_us = 10,
                      .baseline_us = (double)NAN,
                      .unfused_us = (double)NAN,
                      .measured_us = (double)NAN,
                      .copy_us = (double)NAN,
                      .rule = "acraft",
                      .provenance = "",
                      .licence = "",
                      .dialogue = {"", "", "", "", -1, -1, 0, ""}};
    StoreText text = {"relu.craft", p->blob};
    vec_push(&p->arena, &a.texts, text);
    REQUIRE(store_attempt_add(store, &a, &p->diag));
}

static Store *fill(Place *p)
{
    *p = (Place){0};
    p->diag = diag_make(&p->arena, "", STR(""));
    REQUIRE(file_temp_dir(&p->arena, "acraft-report-test", &p->dir, &p->diag));
    p->store = path_join(&p->arena, p->dir, "r.db");
    p->page = path_join(&p->arena, p->dir, "r.html");
    Store *store = store_open(p->store, STORE_MAKE, &p->diag);
    REQUIRE(store != NULL);
    p->blob = put(p, store, STR("craft = 1\n"));
    StoreRun run = {.suite = "ascendcraft", .generator = "plan", .settings = "{}", .label = ""};
    StoreTask task = {.suite = "ascendcraft",
                      .name = "relu",
                      .category = "activation",
                      .level = "1",
                      .path = "relu.py",
                      .source = p->blob,
                      .wording = "reworded",
                      .licence = ""};
    REQUIRE(store_run_begin(store, &run, &p->diag));
    REQUIRE(store_tasks_put(store, &task, 1, &p->diag));
    add_attempt(p, store, run.id, task.id, 0);
    add_attempt(p, store, run.id, task.id, 1);
    return store;
}

static void drop(Place *p, Store *store)
{
    store_close(store);
    CHECK(file_remove_tree(p->dir, &p->diag));
    arena_drop(&p->arena);
}

static int report(int argc, char **argv)
{
    int nowhere = open("/dev/null", O_WRONLY), err = dup(2);
    dup2(nowhere, 2);
    int status = cmd_report(argc, argv);
    dup2(err, 2);
    close(nowhere);
    close(err);
    return status;
}

T_TEST(report_writes_a_page)
{
    Place p;
    Store *store = fill(&p);
    Str page;
    char *argv[] = {"report", "--store", (char *)p.store, "-o", (char *)p.page, NULL};
    CHECK_EQ_INT(report(5, argv), CMD_OK);
    REQUIRE(file_read(&p.arena, p.page, 0, &page, &p.diag));
    CHECK(str_find(page, STR("<b>50.0<small>%</small></b><span>Pass@1</span>")) > 0);
    CHECK(str_find(page, STR("arXiv 2601.22760v1")) > 0);
    CHECK(str_find(page, STR("never measured")) > 0);
    drop(&p, store);
}

T_TEST(report_refuses_what_is_not_there)
{
    Place p;
    Store *store = fill(&p);
    char *no_run[] = {"report", "--store", (char *)p.store, "--run", "7", NULL};
    char *no_store[] = {"report", "--store", "/nonexistent/r.db", NULL};
    char *no_port[] = {"report", "--store", (char *)p.store, "--serve", "99999", NULL};
    char *bad_run[] = {"report", "--store", (char *)p.store, "--run", "x", NULL};
    CHECK_EQ_INT(report(5, no_run), CMD_USAGE);
    CHECK_EQ_INT(report(3, no_store), CMD_USAGE);
    CHECK_EQ_INT(report(5, no_port), CMD_USAGE);
    CHECK_EQ_INT(report(5, bad_run), CMD_USAGE);
    drop(&p, store);
}

/* ---- the server ---- */

static struct sockaddr_in address(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static uint16_t free_port(void)
{
    struct sockaddr_in at = address(0);
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(bind(fd, (struct sockaddr *)&at, size) == 0);
    REQUIRE(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
    close(fd);
    return ntohs(at.sin_port);
}

/* Everything the server says to one request; waits for a server that is just starting. */
static Str talk(Arena *arena, uint16_t port, const char *request)
{
    struct sockaddr_in at = address(port);
    Buf all = {0};
    char some[4096];
    int fd = -1;
    for (int i = 0; i < 500; i++) {
        fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
            break;
        close(fd);
        usleep(20000);
    }
    CHECK(write(fd, request, strlen(request)) == (ssize_t)strlen(request));
    for (ssize_t got; (got = read(fd, some, sizeof some)) > 0;)
        buf_add(&all, some, (size_t)got);
    close(fd);
    Str text = str_copy(arena, buf_view(&all));
    buf_free(&all);
    return text;
}

static Str get(Place *p, uint16_t port, const char *method, const char *path, const char *host)
{
    return talk(&p->arena, port,
                str_format(&p->arena, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
                           method, path, host));
}

static void check_answers(Place *p, uint16_t port)
{
    const char *here = str_format(&p->arena, "127.0.0.1:%u", port);
    Str page = get(p, port, "GET", "/", here);
    CHECK(str_starts(page, "HTTP/1.1 200"));
    CHECK(str_find(page, STR("class=\"live\"")) > 0);
    Str state = get(p, port, "GET", "/state", here);
    CHECK(str_find(state, STR("{\"attempts\": 2, \"finished\": 0}")) > 0);
    Str attempt = get(p, port, "GET", "/attempt/1", here);
    CHECK(str_find(attempt, str_from(p->blob)) > 0);
    Str blob = get(p, port, "GET", str_format(&p->arena, "/blob/%s", p->blob), here);
    CHECK(str_ends(blob, "craft = 1\n"));
    static const char *const absent[] = {"/blob/../../etc/passwd",
                                         "/blob/",
                                         "/attempt/x",
                                         "/attempt/77",
                                         "/timeline/0",
                                         "/elsewhere"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        CHECK_MSG(str_starts(get(p, port, "GET", absent[i], here), "HTTP/1.1 404"), "%s",
                  absent[i]);
    CHECK(str_starts(get(p, port, "GET", "/", "localhost"), "HTTP/1.1 200"));
    CHECK(str_starts(get(p, port, "GET", "/", "evil.example"), "HTTP/1.1 403"));
    CHECK(str_starts(get(p, port, "GET", "/", "127.0.0.1.evil.example"), "HTTP/1.1 403"));
    CHECK(str_starts(get(p, port, "POST", "/", here), "HTTP/1.1 405"));
}

/* A run with rounds below it: written as a page, served while it grows, and wrong names are said at once. */
T_TEST(report_shows_training_runs)
{
    Arena arena = {0};
    TempDir dir;
    Diag diag = diag_make(&arena, "", STR(""));
    Str page;
    REQUIRE(temp_dir_make(&arena, "acraft-curves", &dir, &diag));
    char *run = (char *)(uintptr_t)path_join(&arena, dir.path, "run");
    char *out = (char *)(uintptr_t)path_join(&arena, dir.path, "page.html");
    const char *round = path_join(&arena, run, "round-1/run/curve.jsonl");
    REQUIRE(file_make_dirs(path_dir(&arena, round), &diag) &&
            file_write(round, STR("{\"step\": 1, \"loss\": 0.5}\n"), &diag));
    CHECK_EQ_INT(report(5, (char *[]){"report", "--training", run, "-o", out, NULL}), CMD_OK);
    REQUIRE(file_read(&arena, out, 0, &page, &diag));
    CHECK(str_find(page, STR("round-1/run")) > 0);
    CHECK_EQ_INT(report(3, (char *[]){"report", "--training", (char *)(uintptr_t)dir.path, NULL}),
                 CMD_USAGE);
    uint16_t port = free_port();
    char *argv[] = {"report", "--training", run, "--serve", str_format(&arena, "%u", port), NULL};
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0)
        _exit(report(5, argv));
    Place p = {0};
    Str served = get(&p, port, "GET", "/", "127.0.0.1");
    CHECK(str_starts(served, "HTTP/1.1 200") && str_find(served, STR("Refresh: 5")) > 0);
    CHECK(str_starts(get(&p, port, "GET", "/state", "127.0.0.1"), "HTTP/1.1 404"));
    CHECK(str_starts(get(&p, port, "GET", "/", "evil.example"), "HTTP/1.1 403"));
    int status = -1;
    kill(pid, SIGTERM);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == CMD_OK);
    arena_drop(&p.arena);
    CHECK(temp_dir_remove(&dir, &diag));
    arena_drop(&arena);
}

T_TEST(report_serves_its_own_host_only)
{
    Place p;
    Store *store = fill(&p);
    uint16_t port = free_port();
    char *argv[] = {
        "report", "--store", (char *)p.store, "--serve", str_format(&p.arena, "%u", port), NULL};
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0)
        _exit(report(5, argv));
    check_answers(&p, port);
    int status = -1;
    kill(pid, SIGTERM);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == CMD_OK);
    drop(&p, store);
}
