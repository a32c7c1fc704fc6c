/* The page in a real browser, unless ACRAFT_BROWSER=0: headless Chromium, driven over its
 * debugging pipe (JSON messages ended by a zero byte on descriptors 3 and 4), no network.
 *
 * Looked at: no error on the console, an attack in the store runs nothing, links and filters and
 * the timeline's zoom work, ten thousand attempts open in under two seconds. Screenshots, wide and
 * narrow, light and dark, go to $ACRAFT_SHOTS when it is set. */
#include "report/report.h"

#include "base/file.h"
#include "base/proc.h"
#include "tests/report/synthetic.h"
#include "tests/t.h"
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Browser {
    Arena arena;
    Diag diag;
    const char *dir;
    pid_t pid;
    int to, from;
    Buf in;
    int id;
    const char *session;
    uint32_t errors; /* on the console, thrown, or blocked by the policy */
} Browser;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the process ---- */

static void become_browser(const Browser *b, int in, int out)
{
    Arena arena = {0};
    int quiet = open("/dev/null", O_RDWR);
    int safe_in = fcntl(in, F_DUPFD, 10), safe_out = fcntl(out, F_DUPFD, 10);
    dup2(quiet, 0);
    dup2(quiet, 1);
    dup2(quiet, 2);
    dup2(safe_in, 3);
    dup2(safe_out, 4);
    execlp("chromium", "chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
           "--remote-debugging-pipe", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--disable-default-apps",
           "--no-first-run", "--no-default-browser-check", "--disable-extensions",
           "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--hide-scrollbars",
           str_format(&arena, "--user-data-dir=%s/profile", b->dir), "about:blank", (char *)NULL);
    _exit(127);
}

static void start_browser(Browser *b)
{
    int down[2], up[2];
    REQUIRE(pipe2(down, O_CLOEXEC) == 0 && pipe2(up, O_CLOEXEC) == 0);
    b->pid = fork();
    REQUIRE(b->pid >= 0);
    if (b->pid == 0) {
        setpgid(0, 0);
        become_browser(b, down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    b->to = down[1];
    b->from = up[0];
}

/* ---- messages ---- */

static json_t *read_message(Browser *b, double until)
{
    for (;;) {
        const char *end = b->in.len ? memchr(b->in.at, 0, b->in.len) : NULL;
        if (end) {
            size_t len = (size_t)(end - b->in.at);
            json_t *message = json_loadb(b->in.at, len, 0, NULL);
            memmove(b->in.at, end + 1, b->in.len - len - 1);
            b->in.len -= len + 1;
            return message;
        }
        struct pollfd p = {b->from, POLLIN, 0};
        static char some[1 << 16];
        if (now() > until || poll(&p, 1, 1000) < 0)
            return NULL;
        ssize_t got = p.revents ? read(b->from, some, sizeof some) : 0;
        if (p.revents && got <= 0)
            return NULL;
        buf_add(&b->in, some, (size_t)got);
    }
}

static void note_event(Browser *b, json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    json_t *params = json_object_get(message, "params");
    json_t *entry = json_object_get(params, "entry");
    const char *level = json_string_value(
        json_object_get(entry ? entry : params, entry ? "level" : "type"));
    bool bad = method &&
               (!strcmp(method, "Runtime.exceptionThrown") || (level && !strcmp(level, "error")));
    if (bad) {
        char *text = json_dumps(params, JSON_COMPACT);
        fprintf(stderr, "console: %.600s\n", text);
        free(text);
    }
    b->errors += bad;
}

/* The result of a command; the caller drops it. */
static json_t *command(Browser *b, const char *method, json_t *params)
{
    json_t *message = json_pack("{s:i, s:s, s:o}", "id", ++b->id, "method", method, "params",
                                params ? params : json_object());
    if (b->session)
        json_object_set_new(message, "sessionId", json_string(b->session));
    char *text = json_dumps(message, JSON_COMPACT);
    size_t len = strlen(text) + 1;
    for (size_t at = 0; at < len;) {
        ssize_t put = write(b->to, text + at, len - at);
        REQUIRE(put > 0);
        at += (size_t)put;
    }
    free(text);
    json_decref(message);
    double until = now() + 120;
    for (;;) {
        json_t *reply = read_message(b, until);
        CHECK_MSG(reply != NULL, "no reply to %s", method);
        if (!reply)
            t_stop();
        if (json_integer_value(json_object_get(reply, "id")) == b->id) {
            json_t *result = json_incref(json_object_get(reply, "result"));
            CHECK_MSG(result != NULL, "%s failed", method);
            json_decref(reply);
            return result;
        }
        note_event(b, reply);
        json_decref(reply);
    }
}

static void tell(Browser *b, const char *method, json_t *params)
{
    json_decref(command(b, method, params));
}

/* A number or truth that the page computes; promises are waited for. */
static double ask(Browser *b, const char *expression)
{
    json_t *result = command(b, "Runtime.evaluate",
                             json_pack("{s:s, s:b, s:b}", "expression", expression, "awaitPromise",
                                       1, "returnByValue", 1));
    json_t *value = json_object_get(json_object_get(result, "result"), "value");
    CHECK_MSG(!json_object_get(result, "exceptionDetails"), "%s", expression);
    double number = json_is_true(value) ? 1 : json_number_value(value);
    json_decref(result);
    return number;
}

/* ---- pages ---- */

static bool open_browser(Browser *b)
{
    *b = (Browser){0};
    b->diag = diag_make(&b->arena, "", STR(""));
    const char *wish = getenv("ACRAFT_BROWSER");
    if (wish && !strcmp(wish, "0"))
        t_skip("ACRAFT_BROWSER=0");
    if (!proc_find(&b->arena, "chromium"))
        t_skip("chromium is not installed");
    REQUIRE(setenv("TMPDIR", file_is_dir("/dev/shm") ? "/dev/shm" : "/tmp", 1) == 0);
    REQUIRE(file_temp_dir(&b->arena, "page-test", &b->dir, &b->diag));
    start_browser(b);
    json_t *made = command(b, "Target.createTarget", json_pack("{s:s}", "url", "about:blank"));
    json_t *joined = command(
        b, "Target.attachToTarget",
        json_pack("{s:O, s:b}", "targetId", json_object_get(made, "targetId"), "flatten", 1));
    b->session = str_dup(&b->arena,
                         str_from(json_string_value(json_object_get(joined, "sessionId"))));
    json_decref(made);
    json_decref(joined);
    tell(b, "Runtime.enable", NULL);
    tell(b, "Log.enable", NULL);
    tell(b, "Page.enable", NULL);
    return true;
}

static void close_browser(Browser *b)
{
    kill(-b->pid, SIGKILL);
    waitpid(b->pid, NULL, 0);
    CHECK_EQ_INT(b->errors, 0);
    buf_free(&b->in);
    Diag diag = diag_make(&b->arena, "", STR(""));
    file_remove_tree(b->dir, &diag); /* a dying helper may still write there */
    arena_drop(&b->arena);
}

static const char *write_page(Browser *b, SyntheticSpec spec, double *megabytes)
{
    Buf page = {0};
    const char *path = path_join(&b->arena, b->dir, "page.html");
    Store *store = synthetic_store(&b->arena, path_join(&b->arena, b->dir, "r.db"), &spec,
                                   &b->diag);
    ReportSpec report = {
        .runs = synthetic_runs(&b->arena, &spec), .count = spec.runs, .version = "0"};
    REQUIRE(report_page(store, &report, &page, &b->diag));
    REQUIRE(file_write(path, buf_view(&page), &b->diag));
    *megabytes = (double)page.len / 1e6;
    store_close(store);
    buf_free(&page);
    return str_format(&b->arena, "file://%s", path);
}

/* Seconds until the page is loaded, its list drawn and a frame painted. */
static double visit(Browser *b, const char *url)
{
    double start = now();
    tell(b, "Page.navigate", json_pack("{s:s}", "url", url));
    double until = start + 60;
    while (ask(b, "document.readyState === 'complete' && location.href !== 'about:blank'") < 1)
        REQUIRE(now() < until);
    ask(b, "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(1), 0)))");
    return now() - start;
}

static void set_size(Browser *b, int width, int height, bool dark)
{
    tell(b, "Emulation.setDeviceMetricsOverride",
         json_pack("{s:i, s:i, s:i, s:b}", "width", width, "height", height, "deviceScaleFactor", 1,
                   "mobile", width < 600));
    tell(b, "Emulation.setEmulatedMedia",
         json_pack("{s:[{s:s, s:s}]}", "features", "name", "prefers-color-scheme", "value",
                   dark ? "dark" : "light"));
}

static Str decoded(Arena *arena, const char *base64)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *at = arena_alloc(arena, strlen(base64) + 1);
    size_t len = 0;
    uint32_t bits = 0, count = 0;
    for (; *base64 && *base64 != '='; base64++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, *base64) - digits);
        if ((count += 6) >= 8)
            at[len++] = (char)(bits >> (count -= 8));
    }
    return (Str){at, len};
}

static void shoot(Browser *b, const char *name)
{
    const char *dir = getenv("ACRAFT_SHOTS");
    if (!dir)
        return;
    json_t *shot = command(b, "Page.captureScreenshot", json_pack("{s:s}", "format", "png"));
    const char *text = json_string_value(json_object_get(shot, "data"));
    CHECK(file_write(str_format(&b->arena, "%s/%s.png", dir, name), decoded(&b->arena, text),
                     &b->diag));
    json_decref(shot);
}

static void shoot_print(Browser *b, const char *name)
{
    set_size(b, 800, 2400, true);
    tell(b, "Emulation.setEmulatedMedia", json_pack("{s:s}", "media", "print"));
    ask(b, "new Promise(done => setTimeout(() => done(1), 150))");
    shoot(b, str_format(&b->arena, "%s-print", name));
    tell(b, "Emulation.setEmulatedMedia", json_pack("{s:s}", "media", ""));
}

/* The contrast of the first text that has less than 4.5 (WCAG AA) with what lies behind it; 21 when there is none. A
 * drawing's text has its colour in `fill`. */
static const char faint_text[] =
    "(() => { const rgb = c => (c.match(/[\\d.]+/g) || []).map(Number);"
    "const light = c => { const [r, g, b] = rgb(c).map(v => (v /= 255) <= .03928 ? v / 12.92 : "
    "((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };"
    "const behind = e => { for (; e; e = e.parentElement) { const c = "
    "getComputedStyle(e).backgroundColor;"
    "if ((rgb(c)[3] ?? 1) > 0) return c; } return 'rgb(255, 255, 255)'; };"
    "for (const e of document.querySelectorAll('body *')) {"
    "if (e.closest('script, title, option') || "
    "![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;"
    "const s = getComputedStyle(e);"
    "const a = light(e.closest('svg') ? s.fill : s.color), b = light(behind(e));"
    "const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);"
    "if (ratio < 4.5) return ratio; } return 21; })()";

/* The first table that is wider than its place, in pixels too many; 0 when all fit. What is folded is opened first. */
static const char table_too_wide[] =
    "(() => { for (const d of document.querySelectorAll('details')) d.open = true;"
    "for (const e of document.querySelectorAll('.wide'))"
    "if (e.scrollWidth > e.clientWidth + 1) return e.scrollWidth - e.clientWidth; return 0; })()";

static void check_width(Browser *b, const char *name, const char *way)
{
    CHECK_MSG(ask(b, "document.documentElement.scrollWidth <= innerWidth") > 0,
              "%s %s is wider than its window", name, way);
    double more = ask(b, table_too_wide);
    CHECK_MSG(more <= 0, "%s %s has a table that is %.0f pixels too wide", name, way, more);
}

static void check_contrast(Browser *b, const char *name, const char *way)
{
    double contrast = ask(b, faint_text);
    CHECK_MSG(contrast >= 4.5, "%s %s has text of contrast %.2f", name, way, contrast);
}

/* ---- keys ---- */

static void press(Browser *b, const char *key, int code, const char *text)
{
    static const char *const types[] = {"keyDown", "keyUp"};
    for (int i = 0; i < 2; i++)
        tell(b, "Input.dispatchKeyEvent",
             json_pack("{s:s, s:s, s:s, s:i, s:s}", "type", types[i], "key", key, "code", key,
                       "windowsVirtualKeyCode", code, "text", i ? "" : text));
}

/* The Tab key reaches everything that can be used, in the order of the page, and shows where it is. */
static void check_keys(Browser *b, const char *name)
{
    int count = (int)ask(
        b, "(() => { window.order = [...document.querySelectorAll('a[href], button, input, select, "
           "summary, [tabindex=\"0\"]')].filter(e => e.checkVisibility()); "
           "order[0].focus(); "
           "return order.length; })()");
    CHECK_MSG(count > 3, "%s has %d places for keys", name, count);
    for (int i = 1; i < count; i++) {
        press(b, "Tab", 9, "");
        if (ask(b, "document.activeElement.matches('.wide')") > 0)
            press(b, "Tab", 9, ""); /* Chromium gives what scrolls a place of its own */
        int at = (int)ask(b,
                          "getComputedStyle(document.activeElement).outlineStyle === 'none' ? -2 "
                          ": order.indexOf(document.activeElement)");
        CHECK_MSG(at == i, "%s: Tab goes to place %d (-2: not shown), not to %d of %d", name, at, i,
                  count);
        if (at != i)
            return;
    }
}

static void shoot_all(Browser *b, const char *name)
{
    static const struct {
        const char *title;
        int width, height;
        bool dark;
    } ways[] = {{"wide-light", 1280, 2400, false},
                {"wide-dark", 1280, 2400, true},
                {"narrow-light", 390, 2400, false},
                {"narrow-dark", 390, 2400, true}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        set_size(b, ways[i].width, ways[i].height, ways[i].dark);
        ask(b, "new Promise(done => setTimeout(() => done(1), 150))");
        check_width(b, name, ways[i].title);
        check_contrast(b, name, ways[i].title);
        shoot(b, str_format(&b->arena, "%s-%s", name, ways[i].title));
    }
    shoot_print(b, name);
    set_size(b, 1280, 900, false);
}

static const char when_shown[] =
    "new Promise(done => { const e = document.getElementById('attempt'); "
    "e.addEventListener('shown', () => done(1), {once: true}); })";

/* ---- tests ---- */

T_TEST(browser_shows_attempts_and_runs_no_attack)
{
    Browser b;
    double megabytes;
    open_browser(&b);
    const char *url = write_page(&b,
                                 (SyntheticSpec){.runs = 2,
                                                 .tasks = 12,
                                                 .samples = 5,
                                                 .text_bytes = 900,
                                                 .hostile = true,
                                                 .traces = true},
                                 &megabytes);
    tell(&b, "Page.addScriptToEvaluateOnNewDocument",
         json_pack("{s:s}", "source",
                   "window.alerts = 0; window.alert = () => { window.alerts++; };"));
    visit(&b, url);
    CHECK_NEAR(ask(&b, "document.querySelectorAll('#list tbody tr').length"), 100, 0);
    CHECK_NEAR(ask(&b, "document.querySelectorAll('img, b b').length"), 0, 0);
    ask(&b, str_format(&b.arena, "(() => { const p = %s; location.hash = '#a1'; return p; })()",
                       when_shown));
    CHECK(ask(&b, "document.querySelectorAll('.source div').length") > 5);
    CHECK(ask(&b, "document.querySelectorAll('.turn').length") > 1);
    CHECK(ask(&b, "document.querySelectorAll('.timeline canvas').length") > 0);
    CHECK_NEAR(ask(&b, "window.alerts"), 0, 0);
    ask(&b, "(() => { document.querySelector('.crumbs a').click(); return 1; })()");
    CHECK(ask(&b, "new Promise(done => setTimeout(() => "
                  "done(!document.getElementById('overview').hidden), 100))") > 0);
    close_browser(&b);
}

T_TEST(browser_zooms_the_timeline)
{
    Browser b;
    double megabytes;
    open_browser(&b);
    const char *url = write_page(
        &b,
        (SyntheticSpec){.runs = 2, .tasks = 40, .samples = 3, .text_bytes = 900, .traces = true},
        &megabytes);
    visit(&b, url);
    shoot_all(&b, "overview");
    ask(&b, str_format(&b.arena, "(() => { const p = %s; location.hash = '#a1'; return p; })()",
                       when_shown));
    shoot_all(&b, "attempt");
    ask(&b, "(() => { window.t = document.querySelector('canvas').timeline; return 1; })()");
    double span = ask(&b, "t.to - t.from");
    ask(&b, "(() => { const c = document.querySelector('canvas'); c.dispatchEvent(new "
            "WheelEvent('wheel', "
            "{deltaY: -50, clientX: c.getBoundingClientRect().left + 500, cancelable: true})); "
            "return 1; })()");
    double nearer = ask(&b, "t.to - t.from");
    CHECK_MSG(nearer < span * 0.7, "%g to %g", span, nearer);
    ask(&b, "(() => { document.querySelector('.tools button').click(); return 1; })()");
    CHECK(ask(&b, "t.to - t.from") < nearer * 0.6);
    ask(&b, "(() => { document.querySelectorAll('.tools button')[2].click(); return 1; })()");
    CHECK_NEAR(ask(&b, "t.to - t.from"), span, 1);
    ask(&b, "(() => { document.getElementById('theme').click(); return 1; })()");
    CHECK(ask(&b, "document.documentElement.dataset.theme === 'dark'") > 0);
    close_browser(&b);
}

T_TEST(browser_shows_a_kernel)
{
    Browser b;
    Buf page = {0};
    open_browser(&b);
    Verdict small = verdict_make(), full = verdict_make();
    small.kase = "small";
    small.max_abs_err = small.max_rel_err = 1.2e-7;
    full.kase = "full";
    full.predicted_us = 57.3;
    full.bound_us = 42.1;
    ReportKernel k = {.name = "layer_norm",
                      .chip = "910B2",
                      .version = "0",
                      .task = "layer_norm.py",
                      .summary = "A row a turn over 48 cores, two buffers for the input.",
                      .trace = synthetic_trace(&b.arena, 12, 60)};
    vec_push(&b.arena, &k.reasons, "a row of 4096 floats fits in UB, so it is read once");
    vec_push(&b.arena, &k.files, ((ReportFile){"layer_norm.craft", STR("craft = 1\n\n@kernel\n")}));
    vec_push(&b.arena, &k.files,
             ((ReportFile){"op_kernel/layer_norm.cpp", STR("#include <x.h>\n")}));
    vec_push(&b.arena, &k.verdicts, (const Verdict *)&small);
    vec_push(&b.arena, &k.verdicts, (const Verdict *)&full);
    report_kernel(&k, &page);
    const char *path = path_join(&b.arena, b.dir, "kernel.html");
    REQUIRE(file_write(path, buf_view(&page), &b.diag));
    visit(&b, str_format(&b.arena, "file://%s", path));
    ask(&b, "new Promise(done => setTimeout(() => done(1), 500))");
    CHECK(ask(&b, "document.querySelectorAll('.source div').length") > 2);
    CHECK_NEAR(ask(&b, "document.querySelectorAll('.tabs button').length"), 2, 0);
    CHECK_NEAR(ask(&b, "document.querySelector('canvas').timeline.rows.length"), 24, 0);
    CHECK(ask(&b, "document.querySelectorAll('.source .w').length") > 0); /* words are coloured */
    CHECK(ask(&b, "document.querySelector('.source').tabIndex === 0") > 0);
    shoot_all(&b, "kernel");
    buf_free(&page);
    close_browser(&b);
}

T_TEST(browser_is_used_with_keys_alone)
{
    Browser b;
    double megabytes;
    open_browser(&b);
    visit(&b,
          write_page(&b,
                     (SyntheticSpec){
                         .runs = 2, .tasks = 3, .samples = 2, .text_bytes = 900, .traces = true},
                     &megabytes));
    check_keys(&b, "overview");
    ask(&b, "(() => { document.querySelector('#list th button').focus(); return 1; })()");
    press(&b, "Enter", 13, "\r");
    CHECK(ask(&b, "document.activeElement.closest('th').ariaSort === 'ascending'") > 0);
    ask(&b, str_format(&b.arena,
                       "(() => { window.shown = %s; document.querySelector('#list tbody "
                       "a').focus(); return 1; })()",
                       when_shown));
    press(&b, "Enter", 13, "\r");
    ask(&b, "window.shown");
    check_keys(&b, "attempt");
    close_browser(&b);
}

T_TEST(browser_filters_and_sorts)
{
    Browser b;
    double megabytes;
    open_browser(&b);
    visit(&b,
          write_page(&b, (SyntheticSpec){.runs = 1, .tasks = 10, .samples = 5, .text_bytes = 200},
                     &megabytes));
    ask(&b, "(() => { const s = document.querySelector('.filters select'); s.value = 'wrong'; "
            "s.dispatchEvent(new Event('change')); return 1; })()");
    CHECK(ask(&b, "[...document.querySelectorAll('#list .status')].every(e => e.textContent === "
                  "'wrong')") > 0);
    ask(&b, "(() => { const i = document.querySelector('.filters input'); i.value = 'task_003'; "
            "i.dispatchEvent(new Event('input')); return 1; })()");
    CHECK(ask(&b, "[...document.querySelectorAll('#list tbody a')].every(e => e.textContent === "
                  "'task_003')") > 0);
    close_browser(&b);
}

/* Times that this machine measured have columns of their own, and the page says what they are; else neither. */
T_TEST(browser_shows_measured_times_where_there_are_any)
{
    Browser b;
    double megabytes;
    for (int measured = 0; measured < 2; measured++) {
        open_browser(&b);
        SyntheticSpec spec = {
            .runs = 1, .tasks = 3, .samples = 1, .text_bytes = 200, .measured = measured};
        visit(&b, write_page(&b, spec, &megabytes));
        CHECK_EQ_INT((int)ask(&b, "[...document.querySelectorAll('#list th')].filter(e => "
                                  "e.textContent === 'measured').length"),
                     measured);
        CHECK_EQ_INT((int)ask(&b, "[...document.querySelectorAll('#list tbody tr')].every(e => "
                                  "e.textContent.includes('40.0 us')) * 1"),
                     measured);
        CHECK_EQ_INT((int)ask(&b, "document.body.textContent.includes('measured times are of')"),
                     measured);
        close_browser(&b);
    }
}

/* ---- live ---- */

enum { LIVE_PORT = 18765 };

static pid_t serve(const char *acraft, const char *store)
{
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        Arena arena = {0};
        execl(acraft, acraft, "report", "--store", store, "--serve",
              str_format(&arena, "%d", LIVE_PORT), (char *)NULL);
        _exit(127);
    }
    return pid;
}

T_TEST(browser_follows_a_live_store)
{
    Browser b;
    SyntheticSpec spec = {.runs = 1, .tasks = 3, .samples = 2, .text_bytes = 300};
    open_browser(&b);
    const char *acraft = getenv("ACRAFT"), *path = path_join(&b.arena, b.dir, "live.db");
    if (!acraft || !file_exists(acraft)) {
        close_browser(&b);
        t_skip("ACRAFT names no program");
    }
    Store *store = synthetic_store(&b.arena, path, &spec, &b.diag);
    pid_t server = serve(acraft, path);
    sleep(2);
    visit(&b, str_format(&b.arena, "http://127.0.0.1:%d/", LIVE_PORT));
    CHECK_NEAR(ask(&b, "document.querySelectorAll('#list tbody tr').length"), 7, 0);
    store_close(store);
    spec.tasks = 4;
    store = synthetic_store(&b.arena, path, &spec, &b.diag);
    double until = now() + 30, rows = 0;
    while (rows < 9 && now() < until)
        rows = ask(&b, "new Promise(done => setTimeout(() => "
                       "done(document.querySelectorAll('#list tbody tr').length), 300))");
    CHECK_NEAR(rows, 9, 0);
    ask(&b, str_format(&b.arena, "(() => { const p = %s; location.hash = '#a1'; return p; })()",
                       when_shown));
    CHECK(ask(&b, "document.querySelectorAll('.source div').length") > 5);
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
    store_close(store);
    close_browser(&b);
}

T_TEST(browser_opens_ten_thousand_attempts)
{
    Browser b;
    double megabytes, best = 1e9;
    /* Writing the page with sanitizers takes longer than a test has by default. */
    struct rlimit limit = {300, RLIM_INFINITY};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(1800);
    open_browser(&b);
    const char *url = write_page(
        &b,
        (SyntheticSpec){
            .runs = 2, .tasks = 250, .samples = 20, .text_bytes = 2500, .all_traces = true},
        &megabytes);
    for (int i = 0; i < 5; i++) {
        double took = visit(&b, url);
        best = took < best ? took : best;
        CHECK_NEAR(ask(&b, "document.querySelectorAll('#list tbody tr').length"), 100, 0);
        tell(&b, "Page.navigate", json_pack("{s:s}", "url", "about:blank"));
    }
    printf("ten thousand attempts: %.1f MB, opens in %.2f s\n", megabytes, best);
    close_browser(&b);
}
