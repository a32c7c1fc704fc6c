/* Inside the store: the open database, and statements whose columns are bound and read in order. */
#ifndef STORE_STORE_INT_H
#define STORE_STORE_INT_H

#include "store/store.h"
#include <sqlite3.h>

struct Store {
    sqlite3 *db;
    char *path, *blobs;
    int lock; /* of PATH.lock; -1: not opened yet */
};

/* What SQLite says as an error of ours; always false. `doing`: "write to". */
bool store_fail(Store *store, const char *doing, Diag *diag);
/* NULL with an error. */
sqlite3_stmt *store_prepare(Store *store, const char *sql, Diag *diag);
bool store_exec(Store *store, const char *sql, const char *doing, Diag *diag);
/* Runs a statement that gives no rows, and ends it. */
bool store_step_once(Store *store, sqlite3_stmt *statement, Diag *diag);
/* A write transaction; store_rollback after anything failed. */
bool store_begin(Store *store, Diag *diag);
bool store_commit(Store *store, Diag *diag);
void store_rollback(Store *store);

/* The next parameter to bind or column to read. */
typedef struct StoreRow {
    sqlite3_stmt *statement;
    Arena *arena; /* where read text goes */
    int at;
} StoreRow;

static inline StoreRow store_params(sqlite3_stmt *s) { return (StoreRow){s, NULL, 1}; }
static inline StoreRow store_columns(sqlite3_stmt *s, Arena *a) { return (StoreRow){s, a, 0}; }
void store_put_text(StoreRow *row, const char *text); /* NULL is "" */
void store_put_int(StoreRow *row, int64_t value);
void store_put_number(StoreRow *row, double value); /* NaN is NULL */
const char *store_get_text(StoreRow *row);
int64_t store_get_int(StoreRow *row);
double store_get_number(StoreRow *row);

#endif
