/* Opening, migrating and locking the database; statements. In: a path. Out: a Store. */
#include "store/store.h"

#include "base/file.h"
#include "store/store_int.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Span no_place = {0, 0, 0};

enum { APPLICATION = 0x61637266, BUSY_MS = 10000 }; /* "acrf" */

typedef struct Migration {
    int version;
    const char *sql;
} Migration;

static const Migration migrations[] = {
#define MIGRATION(version, sql) {version, sql},
#include "store/schema.def"
#undef MIGRATION
};
enum { NEWEST = sizeof migrations / sizeof *migrations };

/* ---- what SQLite says ---- */

static const char *code_of(int error)
{
    switch (error & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return "D003";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "D005";
    case SQLITE_CANTOPEN: return "D001";
    default: return "D002";
    }
}

bool store_fail(Store *store, const char *doing, Diag *diag)
{
    int error = sqlite3_extended_errcode(store->db);
    int system = sqlite3_system_errno(store->db);
    const char *code = code_of(error);
    bool has_system = system && (error & 0xff) != SQLITE_FULL;
    diag_error(diag, code, no_place, "cannot %s '%s': %s%s%s", doing, store->path,
               sqlite3_errmsg(store->db), has_system ? ": " : "",
               has_system ? strerror(system) : "");
    if (!strcmp(code, "D002"))
        diag_hint(diag, "what was stored before is kept; make room or give another --store, then "
                        "run the same command again");
    return false;
}

sqlite3_stmt *store_prepare(Store *store, const char *sql, Diag *diag)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK)
        store_fail(store, "read", diag);
    return statement;
}

bool store_exec(Store *store, const char *sql, const char *doing, Diag *diag)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           store_fail(store, doing, diag);
}

bool store_step_once(Store *store, sqlite3_stmt *statement, Diag *diag)
{
    bool ok = sqlite3_step(statement) == SQLITE_DONE || store_fail(store, "write to", diag);
    sqlite3_finalize(statement);
    return ok;
}

bool store_begin(Store *store, Diag *diag)
{
    return store_exec(store, "BEGIN IMMEDIATE", "write to", diag);
}

bool store_commit(Store *store, Diag *diag)
{
    if (store_exec(store, "COMMIT", "write to", diag))
        return true;
    store_rollback(store);
    return false;
}

void store_rollback(Store *store)
{
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- parameters and columns ---- */

void store_put_text(StoreRow *row, const char *text)
{
    sqlite3_bind_text(row->statement, row->at++, text ? text : "", -1, SQLITE_TRANSIENT);
}

void store_put_int(StoreRow *row, int64_t value)
{
    sqlite3_bind_int64(row->statement, row->at++, value);
}

void store_put_number(StoreRow *row, double value)
{
    sqlite3_bind_double(row->statement, row->at++, value); /* SQLite keeps NaN as NULL */
}

const char *store_get_text(StoreRow *row)
{
    const char *text = (const char *)sqlite3_column_text(row->statement, row->at);
    size_t len = (size_t)sqlite3_column_bytes(row->statement, row->at++);
    return str_dup(row->arena, (Str){text ? text : "", text ? len : 0});
}

int64_t store_get_int(StoreRow *row) { return sqlite3_column_int64(row->statement, row->at++); }

double store_get_number(StoreRow *row)
{
    int at = row->at++;
    return sqlite3_column_type(row->statement, at) == SQLITE_NULL
               ? (double)NAN
               : sqlite3_column_double(row->statement, at);
}

/* ---- opening ---- */

static bool read_number(Store *store, const char *sql, int64_t *value, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(store, sql, diag);
    int step = s ? sqlite3_step(s) : SQLITE_ERROR;
    if (step == SQLITE_ROW)
        *value = sqlite3_column_int64(s, 0);
    else if (s)
        store_fail(store, "read", diag);
    sqlite3_finalize(s);
    return step == SQLITE_ROW;
}

static bool migrate_from(Store *store, int64_t version, Diag *diag)
{
    if (!store_begin(store, diag))
        return false;
    /* Another process may have been quicker. */
    bool ok = read_number(store, "PRAGMA user_version", &version, diag);
    for (int64_t i = version; ok && i < NEWEST; i++)
        ok = store_exec(store, migrations[i].sql, "write to", diag);
    char finish[96];
    sqlite3_snprintf(sizeof finish, finish, "PRAGMA user_version=%d; PRAGMA application_id=%d",
                     (int)NEWEST, (int)APPLICATION);
    ok = ok && store_exec(store, finish, "write to", diag);
    if (!ok)
        store_rollback(store);
    return ok && store_commit(store, diag);
}

static bool check_version(Store *store, StoreMode mode, Diag *diag)
{
    int64_t version = 0, application = 0, tables = 0;
    if (!read_number(store, "PRAGMA user_version", &version, diag) ||
        !read_number(store, "PRAGMA application_id", &application, diag) ||
        !read_number(store, "SELECT count(*) FROM sqlite_master", &tables, diag))
        return false;
    if (tables > 0 && application != APPLICATION) {
        diag_error(diag, "D001", no_place, "'%s' is a database of another program", store->path);
        return false;
    }
    if (version > NEWEST) {
        diag_error(diag, "D004", no_place,
                   "'%s' was made by a newer acraft (schema %lld; this one knows %d)", store->path,
                   (long long)version, (int)NEWEST);
        return false;
    }
    if (version == NEWEST)
        return true;
    if (mode == STORE_READ) {
        diag_error(diag, "D004", no_place,
                   "'%s' has schema %lld, this acraft reads %d; any command that writes to it "
                   "brings it up to date",
                   store->path, (long long)version, (int)NEWEST);
        return false;
    }
    return migrate_from(store, version, diag);
}

/* FULL: a commit is on the disk when it returns. The log goes back into the database rarely, so
 * that a log cut short costs the newest attempts and nothing older. */
static const char settings[] = "PRAGMA foreign_keys=ON; PRAGMA synchronous=FULL;"
                               "PRAGMA wal_autocheckpoint=8192;";

/* After a death with the log still there: is what is left whole? */
static bool check_whole(Store *store, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(store, "PRAGMA quick_check(1)", diag);
    int step = s ? sqlite3_step(s) : SQLITE_ERROR;
    const char *said = step == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0)
                                          : sqlite3_errmsg(store->db);
    bool whole = said && !strcmp(said, "ok");
    if (!whole) {
        diag_error(diag, "D003", no_place, "'%s' is damaged: %s", store->path, said ? said : "");
        diag_hint(diag, "sqlite3 '%s' .recover gives back what can be read", store->path);
    }
    sqlite3_finalize(s);
    return whole;
}

static bool has_log(const Store *store)
{
    Arena arena = {0};
    bool has = file_exists(str_format(&arena, "%s-wal", store->path));
    arena_drop(&arena);
    return has;
}

static bool prepare_store(Store *store, StoreMode mode, Diag *diag)
{
    bool died = has_log(store);
    if (!store_exec(store, settings, "open", diag))
        return false;
    if (mode != STORE_READ && !store_exec(store, "PRAGMA journal_mode=WAL", "write to", diag))
        return false;
    return (!died || check_whole(store, diag)) && check_version(store, mode, diag);
}

/* A reader of a write-ahead log makes a file beside it, which a read-only directory does not allow. Nobody
 * can write there either, so that, without a log, the file may be read as it stands. */
static bool stands_still(Arena *arena, const char *path)
{
    const char *log = str_format(arena, "%s-wal", path);
    return access(path, R_OK) == 0 && access(path_dir(arena, path), W_OK) != 0 && !file_exists(log);
}

static const char *uri_of(Arena *arena, const char *path)
{
    Buf uri = {0};
    buf_puts(&uri, "file:");
    for (; *path; path++)
        if (strchr("%?#", *path))
            buf_printf(&uri, "%%%02x", (unsigned)*path);
        else
            buf_char(&uri, *path);
    buf_puts(&uri, "?immutable=1");
    const char *text = buf_take(&uri, arena);
    buf_free(&uri);
    return text;
}

static int open_file(Store *store, StoreMode mode)
{
    int flags = mode == STORE_READ    ? SQLITE_OPEN_READONLY
                : mode == STORE_WRITE ? SQLITE_OPEN_READWRITE
                                      : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    Arena arena = {0};
    bool still = mode == STORE_READ && stands_still(&arena, store->path);
    int error = sqlite3_open_v2(still ? uri_of(&arena, store->path) : store->path, &store->db,
                                flags | (still ? SQLITE_OPEN_URI : 0), NULL);
    arena_drop(&arena);
    return error;
}

/* Why a file could not be made: SQLite says only that it is not there. */
static int reason_of(const Store *store, StoreMode mode)
{
    Arena arena = {0};
    int reason = store->db ? sqlite3_system_errno(store->db) : ENOMEM;
    if (mode == STORE_MAKE && reason == ENOENT && access(path_dir(&arena, store->path), W_OK) != 0)
        reason = errno;
    arena_drop(&arena);
    return reason;
}

static bool open_database(Store *store, StoreMode mode, Diag *diag)
{
    int error = open_file(store, mode);
    if (error != SQLITE_OK) {
        errno = reason_of(store, mode);
        diag_error(diag, "D001", no_place, "cannot open '%s': %s", store->path,
                   errno ? strerror(errno) : sqlite3_errstr(error));
        return false;
    }
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_MS);
    if (mode != STORE_READ && sqlite3_db_readonly(store->db, "main") == 1) {
        diag_error(diag, "D002", no_place, "cannot write to '%s': it is read-only", store->path);
        return false;
    }
    return prepare_store(store, mode, diag);
}

static char *joined(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    char *both = heap_alloc(n + m + 1);
    memcpy(both, path, n);
    memcpy(both + n, ending, m);
    return both;
}

Store *store_open(const char *path, StoreMode mode, Diag *diag)
{
    Store *store = heap_alloc(sizeof *store);
    store->path = joined(path, "");
    store->blobs = joined(path, ".blobs");
    store->lock = -1;
    if (open_database(store, mode, diag))
        return store;
    store_close(store);
    return NULL;
}

void store_close(Store *store)
{
    if (!store)
        return;
    sqlite3_close(store->db); /* the last one out folds the log into the database */
    if (store->lock >= 0)
        close(store->lock);
    heap_free(store->path);
    heap_free(store->blobs);
    heap_free(store);
}
