/* mutate [options] PATH [run options...]   or   mutate [options] --list FILE
 *
 * Options: --most N of each kernel, chosen by --seed S; --least P: exit 1 when the score by default
 * is below P per cent; --show: every mutant; --seconds S per run; --results FILE: what this build
 * has found out before is not run again, what is new is added; --minutes M: break off then, exit 3.
 *
 * A mutant is caught when something is found that the kernel itself does not show, or when its
 * values differ. It is equivalent only if shown: the same records (so the same edges); a line that
 * gives no record (left out of all counts); right values with every conflicting pair of accesses
 * ordered, by the second checker of proof.c. All else is missed. What does not compile is no mutant.
 * The score is what is caught of what is not equivalent. */
#include "tools/mutate/mutate.h"

#include "base/hash.h"
#include "base/rng.h"
#include "twin/twin_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_WORDS = 64 };

typedef enum Class { CAUGHT, BY_VALUES, SAME, ORDERED, MISSED, STILLBORN, CLASSES } Class;
static const char *const class_names[] = {
    "caught", "caught by values", "equivalent, same records", "equivalent, ordered",
    "MISSED", "does not compile"};
static const char *const kind_names[] = {"synchronisation", "buffer", "offset", "count"};

typedef struct Tally {
    uint32_t of[2][CLASSES];              /* default, strict */
    uint32_t right[2][CLASSES];           /* how many of these have right values */
    uint32_t kind[MUTATE_KINDS][CLASSES]; /* by default */
} Tally;

typedef struct Options {
    int64_t most;
    uint64_t seed;
    double seconds, least, minutes;
    bool show;
    const char *list, *results;
} Options;

typedef struct Session {
    Options options;
    Results results;
    uint64_t build; /* of this program and the headers it compiles against */
    double begun;
    bool broken_off;
    uint32_t idle; /* mutants in lines never executed */
    Tally tally;
} Session;

static bool found_new(const Seen *seen, const Seen *original)
{
    for (uint32_t i = 0; i < seen->findings.len; i++) {
        bool old = false;
        for (uint32_t k = 0; k < original->findings.len; k++)
            old |= original->findings.at[k] == seen->findings.at[i];
        if (!old)
            return true;
    }
    return seen->status != original->status || !seen->ran;
}

/* Every conflicting pair of the mutant is ordered, but for those that the kernel itself leaves so:
 * under --strict, where it leans on inserted synchronisation. */
static bool as_ordered(const Seen *seen, const Seen *original, LoosePair *new_one)
{
    bool shown = seen->proved && (seen->loose.len == 0 || original->proved);
    for (uint32_t i = 0; shown && i < seen->loose.len; i++) {
        bool old = false;
        for (uint32_t k = 0; k < original->loose.len; k++)
            old |= memcmp(&original->loose.at[k], &seen->loose.at[i], sizeof(LoosePair)) == 0;
        shown = old;
        *new_one = seen->loose.at[i];
    }
    return shown;
}

static Class classify(const Seen *seen, const Seen *original, bool exact)
{
    if (!seen->built)
        return STILLBORN;
    if (found_new(seen, original))
        return CAUGHT;
    if (!seen_same_values(seen, original, exact))
        return BY_VALUES;
    if (seen->stream == original->stream)
        return SAME;
    LoosePair pair;
    return as_ordered(seen, original, &pair) ? ORDERED : MISSED;
}

static const char *why(Arena *arena, Class class, const Seen *seen, const Seen *original)
{
    LoosePair pair = {0};
    if (class == CAUGHT)
        return seen->first ? seen->first : seen->reason;
    if (class != ORDERED && class != MISSED)
        return "";
    if (class == ORDERED && seen->loose.len)
        return "no pair without order that the kernel itself does not have";
    if (class == MISSED && !as_ordered(seen, original, &pair) && pair.line[1])
        return str_format(arena, "no path from %s line %u (%s) to %s line %u (%s)",
                          npu_pipe_name(pair.pipe[0]), pair.line[0],
                          pair.write[0] ? "writes" : "reads", npu_pipe_name(pair.pipe[1]),
                          pair.line[1], pair.write[1] ? "writes" : "reads");
    return seen->path;
}

/* A kernel, its mutants and how they are run. */
typedef struct Trial {
    Subject subject;
    Mutations all;
    Seen original[2];
    Schema schema;
    bool combined; /* the schema holds those it does not leave out */
} Trial;

/* The mutant by its number in the program made for all, or compiled by itself. The second checker
 * looks only where it decides. */
static void run_mutant(Arena *arena, Trial *t, uint32_t i, Str text, double seconds, Seen seen[2])
{
    bool exact = t->all.at[i].kind != MUTATE_SYNC;
    bool known = t->combined && !t->schema.left_out[i] && schema_number(&t->schema, i + 1);
    subject_run(arena, &t->subject, known ? t->schema.text : text, seconds, false, seen);
    if (classify(&seen[0], &t->original[0], exact) == MISSED ||
        classify(&seen[1], &t->original[1], exact) == MISSED)
        subject_run(arena, &t->subject, known ? t->schema.text : text, seconds, true, seen);
}

/* Slips outside synchronisation are compared to the bit. */
static Result judge(Arena *arena, Trial *t, uint32_t i, Str text, double seconds)
{
    const Mutation *m = &t->all.at[i];
    Seen seen[2];
    bool exact = m->kind != MUTATE_SYNC;
    run_mutant(arena, t, i, text, seconds, seen);
    Result r = {.kind = m->kind};
    for (int mode = 0; mode < 2; mode++) {
        const Seen *original = &t->original[mode];
        Class class = classify(&seen[mode], original, exact);
        r.class[mode] = class;
        r.right[mode] = class != STILLBORN && seen[mode].ran &&
                        seen_same_values(&seen[mode], original, exact);
        r.why[mode] = why(arena, class, &seen[mode], original);
    }
    return r;
}

static bool result_sane(const Result *r)
{
    return r->kind < MUTATE_KINDS && r->class[0] < CLASSES && r->class[1] < CLASSES;
}

static void count_and_show(Session *session, const char *label, const Mutation *m, const Result *r)
{
    Tally *t = &session->tally;
    t->kind[r->kind][r->class[0]]++;
    for (int mode = 0; mode < 2; mode++) {
        Class class = r->class[mode];
        t->of[mode][class]++;
        t->right[mode][class] += r->right[mode];
        if (session->options.show || class == MISSED)
            printf("%s: %s: %s: %s [%s]\n", label, mode ? "strict" : "default", m->what,
                   class_names[class], r->why[mode] ? r->why[mode] : "");
    }
    fflush(stdout);
}

static bool try_mutant(Session *session, Trial *t, uint32_t i)
{
    const Subject *s = &t->subject;
    const Mutation *m = &t->all.at[i];
    Arena arena = {0};
    Str text = mutate_apply(&arena, s->joined.text, m);
    JoinedPart place = mutate_place(&s->joined, m->line);
    const char *label = str_format(&arena, "%s:%u", place.path, place.line);
    uint64_t key = (hash64(text.at, text.len) * 31 + s->key) * 31 + session->build;
    const Result *known = results_find(&session->results, key);
    bool kept = true;
    if (!known || !result_sane(known)) {
        Result r = judge(&arena, t, i, text, session->options.seconds);
        r.key = key;
        kept = results_add(&session->results, r, str_format(&arena, "%s: %s", label, m->what));
        known = &vec_last(&session->results.known);
    }
    count_and_show(session, label, m, known);
    arena_drop(&arena);
    return kept;
}

/* Lines that give no record in the original are never executed, and their mutants equivalent. */
static void drop_idle(Mutations *all, const Seen *original)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->len; i++) {
        bool executed = false;
        for (uint32_t line = all->at[i].line; line <= all->at[i].last_line; line++)
            executed |= line >= MUTATE_LINES || original->lines[line];
        executed |= all->at[i].last_line == 0;
        if (executed)
            all->at[kept++] = all->at[i];
    }
    all->len = kept;
}

/* `most` of the mutations, in the order of the text. */
static void choose(Mutations *all, const Options *o)
{
    uint32_t keep = o->most > 0 && o->most < all->len ? (uint32_t)o->most : all->len, kept = 0;
    uint32_t total = all->len;
    for (uint32_t i = 0; i < total; i++)
        if (rng_range(o->seed, 7, i, 0, total - i) < keep - kept)
            all->at[kept++] = all->at[i];
    all->len = kept;
}

static double print_row(const char *name, const uint32_t of[CLASSES])
{
    uint32_t caught = of[CAUGHT] + of[BY_VALUES], equal = of[SAME] + of[ORDERED];
    uint32_t all = caught + equal + of[MISSED], judged = caught + of[MISSED];
    double score = judged ? 100.0 * caught / judged : 100.0;
    printf("%-28s %5u %7u %9u %6u %6u %6u %8.2f %%\n", name, all, of[CAUGHT], of[BY_VALUES],
           of[SAME], of[ORDERED], of[MISSED], score);
    return score;
}

/* Everything that decides a result beside the mutant: this program, headers, compiler. */
static uint64_t build_key(void)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "mutate", (Str){0});
    Verdict verdict = verdict_make();
    TwinPlaces places = {0};
    Str program = {0};
    file_read(&arena, "/proc/self/exe", 1 << 28, &program, &diag);
    twin_places_find(&arena, &(TwinOptions){0}, &places, &verdict);
    uint64_t key = hash64(program.at, program.len) * 31 +
                   hash64(places.headers_hash, sizeof places.headers_hash);
    arena_drop(&arena);
    return key;
}

static double time_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool out_of_time(const Session *session)
{
    return session->options.minutes > 0 &&
           time_now() > session->begun + 60 * session->options.minutes;
}

static bool try_mutants(Session *session, Trial *t)
{
    Tally before = session->tally;
    bool ok = true;
    for (uint32_t i = 0; ok && i < t->all.len && !session->broken_off; i++) {
        session->broken_off = out_of_time(session);
        ok = session->broken_off || try_mutant(session, t, i);
    }
    for (int mode = 0; mode < 2; mode++) {
        uint32_t of[CLASSES];
        for (int class = 0; class < CLASSES; class ++)
            of[class] = session->tally.of[mode][class] - before.of[mode][class];
        print_row(mode ? "  strict" : "  default", of);
    }
    return ok;
}

static void explain_failure(const char *path, const Seen *original, const Diag *diag)
{
    Buf text = {0};
    diag_print(diag, &text);
    fprintf(stderr, "%s: the kernel itself does not pass: %s\n%.*s", path,
            original->reason ? original->reason : "", (int)text.len, text.at ? text.at : "");
    buf_free(&text);
}

/* A text without anything to slip in need not run. */
static bool try_subject(Session *session, const char *const *words, uint32_t count)
{
    const Options *o = &session->options;
    Trial t = {0};
    Subject *s = &t.subject;
    Diag diag = diag_make(&s->arena, words[0], (Str){0});
    bool ok = subject_read(s, words, count, &diag);
    mutate_scan(&s->arena, s->joined.text, &t.all);
    uint32_t written = t.all.len;
    if (ok && written) {
        subject_run(&s->arena, s, s->joined.text, o->seconds, true, t.original);
        ok = t.original[0].ran && t.original[0].status == VERDICT_OK;
    }
    if (ok) {
        drop_idle(&t.all, &t.original[0]);
        uint32_t executed = t.all.len;
        choose(&t.all, o);
        session->idle += written - executed;
        t.combined = t.all.len > 2 && subject_combine(s, &t.all, t.original, o->seconds, &t.schema);
        printf("%s: %u of %u mutants, %u more in lines never executed%s\n", s->path, t.all.len,
               executed, written - executed, t.combined ? "" : ", each compiled");
        if (t.original[1].findings.len)
            printf("  strict findings of its own: %u, %u not by missing inserted synchronisation\n",
                   t.original[1].findings.len, t.original[1].own);
        ok = try_mutants(session, &t);
    } else {
        explain_failure(words[0], &t.original[0], &diag);
    }
    subject_free(s);
    return ok;
}

static bool try_list(Session *session)
{
    const Options *o = &session->options;
    Arena arena = {0};
    Diag diag = diag_make(&arena, o->list, (Str){0});
    Str text, line, word;
    bool ok = file_read(&arena, o->list, 1 << 20, &text, &diag), all_ran = true;
    while (ok && !session->broken_off && text.len && str_next(&text, '\n', &line)) {
        const char *words[MOST_WORDS];
        uint32_t n = 0;
        line = str_trim(line);
        while (line.len && line.at[0] != '#' && str_next(&line, ' ', &word))
            if (word.len && n < MOST_WORDS)
                words[n++] = str_dup(&arena, word);
        all_ran &= n == 0 || try_subject(session, words, n);
    }
    arena_drop(&arena);
    return ok && all_ran;
}

static double print_tally(const Session *session)
{
    const Tally *t = &session->tally;
    printf("\n%-28s %5s %7s %9s %6s %6s %6s %8s\n", "", "all", "caught", "by values", "same",
           "order", "missed", "score");
    double score = print_row("default", t->of[0]);
    print_row("  of these, right values", t->right[0]);
    print_row("strict", t->of[1]);
    print_row("  of these, right values", t->right[1]);
    for (int kind = 0; kind < MUTATE_KINDS; kind++)
        print_row(kind_names[kind], t->kind[kind]);
    printf(
        "score: caught of what is not equivalent; left out: %u mutants that do not compile, %u in "
        "lines never executed\n",
        t->of[0][STILLBORN], session->idle);
    if (session->broken_off)
        puts("broken off; --results takes it up");
    return score;
}

/* The number of the first word that is no option. */
static int read_options(Options *o, int argc, char **argv)
{
    int at = 1;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        const char *name = argv[at];
        if (strcmp(name, "--show") == 0) {
            o->show = true;
            continue;
        }
        const char *value = at + 1 < argc ? argv[++at] : "";
        if (strcmp(name, "--most") == 0)
            o->most = strtoll(value, NULL, 10);
        else if (strcmp(name, "--seed") == 0)
            o->seed = strtoull(value, NULL, 10);
        else if (strcmp(name, "--seconds") == 0)
            o->seconds = strtod(value, NULL);
        else if (strcmp(name, "--minutes") == 0)
            o->minutes = strtod(value, NULL);
        else if (strcmp(name, "--least") == 0)
            o->least = strtod(value, NULL);
        else if (strcmp(name, "--list") == 0)
            o->list = value;
        else if (strcmp(name, "--results") == 0)
            o->results = value;
        else
            at = argc;
    }
    return at;
}

int main(int argc, char **argv)
{
    Session session = {
        .options = {.seconds = 30, .seed = 1}, .build = build_key(), .begun = time_now()};
    Options *o = &session.options;
    int at = read_options(o, argc, argv);
    if (!o->list && at >= argc) {
        fputs("usage: mutate [--most N] [--seed S] [--seconds S] [--least PERCENT] [--show]\n"
              "              [--results FILE] [--minutes M] (--list FILE | PATH [run options])\n",
              stderr);
        return 2;
    }
    Arena arena = {0};
    Diag diag = diag_make(&arena, o->results ? o->results : "", (Str){0});
    bool ok = results_open(&session.results, o->results, &diag) &&
              (o->list
                   ? try_list(&session)
                   : try_subject(&session, (const char *const *)argv + at, (uint32_t)(argc - at)));
    double score = print_tally(&session);
    results_close(&session.results);
    arena_drop(&arena);
    return session.broken_off ? 3 : score < o->least || !ok;
}
