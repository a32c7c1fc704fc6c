/* The automaton of the recogniser: tokens in, a point out. Frames are open brackets and parts of statements;
 * what may follow is decided by the innermost frame and by what the operand before can be. The rules are
 * those of docs/craft.grammar with the front end's about places: which functions stand where, how many
 * arguments they take, which names there are. */
#include "craft/prefix_int.h"

#include "craft/fn.h"

enum {
    F_START,   /* a statement begins */
    F_TARGET,  /* its first name, or what was made of it */
    F_TARGETS, /* further names before = */
    F_DONE,    /* it is whole */
    F_VALUE,
    F_RETURN,
    F_COND,
    F_FOR,
    F_ITER,
    F_WITH,
    F_ASSERT,
    F_TEXT,
    F_DECOR,
    F_DEF,
    F_DEF_NAMED,
    F_COLON, /* a header's */
    F_BODY,  /* after it */
    F_PARAMS,
    F_CALL,
    F_INDEX,
    F_GROUP,
    F_LIST,
};

enum { /* flags of frames */
       COMPARED = 1,
       CONDITION = 2, /* an if waits for its else */
       SLICE = 4,
       ITEM = 8,     /* something of the item was read */
       KEYWORD = 16, /* the item is name=value */
       OPEN = 32,    /* names may be new: the shape of a parameter */
       RIGHT = 64,   /* begins the right side of an assignment */
       BARE = 128,   /* of a slice: nothing after the colon */
};

enum { /* what may follow an operand */
       CAN_STAND = 1,
       CAN_CALL = 2,
       CAN_INDEX = 4,
       CAN_ATTR = 8,
       CAN_FACT = 16, /* an attribute of chip */
       CAN_KEY = 32,
       CAN_ASSIGN = 64,
       CAN_CHANGE = 128, /* += and the like */
       CAN_COMMA = 256,
       CAN_LAUNCH = 512, /* an index, then arguments */
       CAN_END = 1024,
       CAN_TYPE = 2048, /* the index of a tensor's type */
};

enum { ROLE_FILE, ROLE_HOST, ROLE_KERNEL, ROLE_HELPER };
enum { IN_STAGE = 1, NESTED = 2, AFTER_IF = 4, INLINE = 8 };
enum { P_NAME, P_NAMED, P_TYPE, P_DEFAULT };

CraftPoint prefix_first_point(void) { return (CraftPoint){.fresh = 1}; }

/* ---- frames ---- */

static void begin_operand(CraftPoint *at, bool fresh)
{
    at->have = 0;
    at->can = 0;
    at->fresh = fresh;
}

static bool push(CraftPrefix *p, CraftPoint *at, uint8_t kind, uint8_t flags, uint16_t fn)
{
    if (p->frames.len >= PREFIX_FRAMES || at->depth >= CRAFT_MAX_DEPTH)
        return false;
    vec_push(&p->fixed, &p->frames, at->frame);
    at->frame = (PrefixFrame){
        .kind = kind, .flags = flags, .fn = fn, .outer = (uint16_t)(p->frames.len - 1)};
    at->depth++;
    begin_operand(at, true);
    return true;
}

static void pop(CraftPrefix *p, CraftPoint *at, uint16_t can)
{
    at->frame = p->frames.at[at->frame.outer];
    at->depth--;
    at->have = 1;
    at->can = can;
}

static bool become(CraftPoint *at, uint8_t kind, uint8_t flags)
{
    at->frame = (PrefixFrame){.kind = kind, .flags = flags};
    begin_operand(at, true);
    return true;
}

/* ---- which words may stand here ---- */

static uint64_t right_side(const CraftPoint *at)
{
    switch (at->block.role) {
    case ROLE_FILE: return W_FILE;
    case ROLE_HOST: return W_HOST;
    case ROLE_KERNEL: return W_SHARE | W_COMPACT | (at->block.flags & NESTED ? 0 : W_BUFFER);
    default: return W_SHARE | W_COMPACT;
    }
}

static uint64_t statement_words(const CraftPrefix *p, const CraftPoint *at, bool *free)
{
    const PrefixBlock *b = &at->block;
    if (at->role_next)
        return W_DEF;
    *free = b->role != ROLE_FILE || p->version_seen;
    if (b->role == ROLE_FILE)
        return p->version_seen ? W_CRAFT | W_PASS | W_DEF | W_VAR : W_CRAFT;
    uint64_t words = W_VAR | W_HELPER | W_PASS;
    words |= b->role == ROLE_HOST     ? W_KERNEL | W_ASSERT
             : b->role == ROLE_HELPER ? W_STMT | W_RETURN
                                      : W_STMT;
    if (at->small)
        return words;
    words |= W_IF | (b->flags & AFTER_IF ? W_ELIF | W_ELSE : 0);
    if (b->role != ROLE_HOST)
        words |= W_FOR | (b->flags & IN_STAGE ? 0 : W_WITH);
    return words;
}

static bool positional_fits(const CraftPoint *at)
{
    const PrefixFrame *f = &at->frame;
    return f->kind != F_CALL || !f->fn || f->items < craft_fns[f->fn - 1].most;
}

static uint64_t call_words(const CraftPoint *at)
{
    FnKind kind = at->frame.fn ? craft_fns[at->frame.fn - 1].kind : FN_UNARY;
    uint64_t words = kind == FN_LOOP ? W_OPERAND | W_LOOP | W_SHARE : W_OPERAND;
    if (at->frame.state)
        return W_STAGE;
    if (!positional_fits(at) && !(at->frame.flags & (ITEM | KEYWORD)))
        words = 0;
    bool keys = kind == FN_BUFFER || kind == FN_FILE || kind == FN_STMT;
    return words | (keys && !(at->frame.flags & ITEM) ? W_KEY : 0);
}

static uint64_t operand_words(const CraftPoint *at, bool *free)
{
    const PrefixFrame *f = &at->frame;
    uint64_t negation = at->fresh ? W_NOT : 0;
    if (f->kind == F_PARAMS && f->state == P_TYPE)
        return W_TYPE | W_DTYPE;
    if (f->kind == F_WITH || f->kind == F_DECOR)
        return f->kind == F_WITH ? W_STAGE : W_DECOR;
    if (f->kind == F_ITER)
        return f->flags & ITEM ? 0 : W_LOOP;
    if (f->kind == F_GROUP && f->state)
        return f->flags & ITEM ? 0 : W_LOOP;
    *free = f->flags & OPEN;
    if (f->kind == F_CALL)
        return call_words(at) | negation;
    return W_OPERAND | negation | (f->flags & RIGHT && !(f->flags & ITEM) ? right_side(at) : 0);
}

/* Whether an operator may follow. */
static bool operator_here(const CraftPoint *at)
{
    uint8_t k = at->frame.kind;
    return at->have && at->can & CAN_STAND && k >= F_VALUE && k != F_WITH && k != F_ITER &&
           k != F_FOR && k != F_DECOR && !(k == F_PARAMS && at->frame.state != P_DEFAULT);
}

/* Words that are operators, after an operand. */
static uint64_t operator_words(const CraftPoint *at)
{
    const PrefixFrame *f = &at->frame;
    if (f->kind == F_FOR)
        return W_IN;
    if (!operator_here(at))
        return 0;
    return W_AND | (f->flags & CONDITION ? W_ELSE : W_IF) | (f->flags & COMPARED ? 0 : W_IN);
}

uint64_t prefix_classes(const CraftPrefix *p, const CraftPoint *at, bool *free)
{
    const PrefixFrame *f = &at->frame;
    *free = false;
    if (at->can & (CAN_FACT | CAN_ATTR) && !at->have)
        return at->can & CAN_FACT ? W_FACT : W_RANGE;
    if (f->kind == F_START)
        return statement_words(p, at, free);
    if (f->kind == F_BODY) {
        CraftPoint inside = *at;
        inside.block = (PrefixBlock){.role = at->opens_role, .flags = at->opens_flags};
        inside.small = 1;
        return statement_words(p, &inside, free);
    }
    if (at->have)
        return operator_words(at);
    if (f->kind == F_DEF) {
        bool awaited = at->role_next == ROLE_KERNEL && p->host_seen;
        *free = !awaited;
        return W_AWAITED;
    }
    if (f->kind == F_TARGETS || f->kind == F_FOR || (f->kind == F_PARAMS && f->state == P_NAME)) {
        *free = true;
        return W_VAR;
    }
    return operand_words(at, free);
}

/* ---- names ---- */

static Str name_text(const CraftPrefix *p, const CraftPoint *at) { return (Str){p->name, at->len}; }

static void await_name(CraftPrefix *p, const CraftPoint *at)
{
    if (p->accepting)
        vec_push(&p->names, &p->pending, str_copy(&p->names, name_text(p, at)));
}

static void declare(CraftPrefix *p, const CraftPoint *at, Str name)
{
    const PrefixWord *w = prefix_words_find(p, name);
    bool local = at->block.role != ROLE_FILE || at->role_next;
    if (!w || !(w->classes & W_VAR))
        prefix_words_add(p, name, local ? W_VAR | W_LOCAL : W_VAR);
}

static void declare_pending(CraftPrefix *p, const CraftPoint *at)
{
    for (uint32_t i = 0; p->accepting && i < p->pending.len; i++)
        declare(p, at, p->pending.at[i]);
    if (p->accepting)
        p->pending.len = 0;
}

/* A new name that is no word of the language. */
static bool is_new(const PrefixWord *w)
{
    return !w || !(w->classes & (W_KEYWORD | W_DTYPE | W_CONST | W_CHIP | W_CRAFT));
}

/* The first name of a statement. */
static bool statement_name(CraftPrefix *p, CraftPoint *at, const PrefixWord *w)
{
    uint64_t c = w ? w->classes & at->classes : 0;
    bool file = at->block.role == ROLE_FILE, kernel = !c && at->block.role == ROLE_HOST;
    if (!is_new(w) && !(c & W_CRAFT))
        return false;
    if (p->accepting && c & W_CRAFT)
        p->version_seen = true;
    at->frame.kind = F_TARGET;
    at->block.flags &= (uint8_t)~AFTER_IF;
    at->have = 1;
    at->can = (uint16_t)(CAN_ASSIGN | (file ? 0 : CAN_COMMA) |
                         (c & (W_STMT | W_HELPER) ? CAN_CALL : 0) |
                         (c & W_VAR && !file ? CAN_INDEX | CAN_CHANGE : 0) |
                         (c & W_KERNEL || kernel ? CAN_LAUNCH : 0));
    at->fn = w ? w->fn : 0;
    if (!(c & W_CRAFT))
        await_name(p, at);
    return true;
}

static bool operand_name(CraftPoint *at, const PrefixWord *w)
{
    uint64_t c = w ? w->classes & at->classes : 0;
    if (at->free && !(c & W_NOT)) {
        at->have = 1;
        at->can = CAN_STAND | CAN_CALL | CAN_INDEX;
        if (c & W_CHIP)
            at->can = CAN_FACT;
        at->fn = 0;
        at->frame.flags |= ITEM;
        return c || is_new(w);
    }
    const uint64_t calls = W_VALUE | W_COMPACT | W_BUFFER | W_LOOP | W_SHARE | W_HOST | W_FILE |
                           W_STAGE | W_HELPER;
    at->have = 1;
    at->can = (uint16_t)((c & calls ? CAN_CALL : 0) |
                         (c & W_VAR ? CAN_STAND | CAN_INDEX | CAN_ATTR : 0) |
                         (c & (W_DTYPE | W_CONST | W_DECOR) ? CAN_STAND : 0) |
                         (c & W_CHIP ? CAN_FACT : 0) | (c & W_TYPE ? CAN_TYPE : 0) |
                         (c & W_KEY ? CAN_KEY : 0));
    if (at->frame.kind == F_CALL && at->frame.state)
        at->can = CAN_STAND;
    if (at->frame.kind == F_DECOR) {
        bool kernel = str_is(w->text, "kernel");
        at->role_next = kernel ? ROLE_KERNEL : ROLE_HOST;
        at->can = kernel ? CAN_STAND | CAN_CALL : CAN_STAND;
        at->fn = 0;
        return c != 0;
    }
    if (!positional_fits(at) && !(at->frame.flags & (ITEM | KEYWORD)))
        at->can &= CAN_KEY;
    at->fn = c & W_HELPER ? 0 : w ? w->fn : 0;
    at->frame.flags |= ITEM;
    return c != 0;
}

static bool def_name(CraftPrefix *p, CraftPoint *at, const PrefixWord *w)
{
    bool awaited = w && w->classes & W_AWAITED;
    if (!is_new(w) || (at->role_next == ROLE_KERNEL && p->host_seen && !awaited))
        return false;
    at->frame.kind = F_DEF_NAMED;
    at->have = 1;
    at->can = CAN_CALL;
    if (!p->accepting)
        return true;
    Str name = str_copy(&p->names, name_text(p, at));
    if (awaited) {
        prefix_words_find(p, name)->classes &= ~W_AWAITED;
        p->awaited--;
    }
    p->kernels += at->role_next == ROLE_KERNEL;
    p->host_seen = p->host_seen || at->role_next == ROLE_HOST;
    if (at->role_next != ROLE_HOST)
        prefix_words_add(p, name, at->role_next == ROLE_KERNEL ? W_KERNEL : W_HELPER);
    return true;
}

static bool attribute(CraftPoint *at, const PrefixWord *w)
{
    uint64_t want = at->can & CAN_FACT ? W_FACT : W_RANGE;
    at->have = 1;
    at->can = CAN_STAND;
    return w && w->classes & want;
}

static bool take_name(CraftPrefix *p, CraftPoint *at, const PrefixWord *w)
{
    PrefixFrame *f = &at->frame;
    if (!at->have && at->can & (CAN_ATTR | CAN_FACT))
        return attribute(at, w);
    if (at->have)
        return false;
    switch (f->kind) {
    case F_START: return statement_name(p, at, w);
    case F_DEF: return def_name(p, at, w);
    case F_TARGETS:
    case F_FOR:
        at->have = 1;
        at->can = CAN_COMMA | CAN_ASSIGN;
        await_name(p, at);
        return is_new(w);
    case F_PARAMS:
        if (f->state != P_NAME)
            return operand_name(at, w);
        f->state = P_NAMED;
        at->have = 1;
        at->can = CAN_STAND;
        f->flags |= ITEM;
        if (p->accepting)
            declare(p, at, str_copy(&p->names, name_text(p, at)));
        return is_new(w);
    case F_GROUP:
        if (f->flags & OPEN && !(w && w->classes & W_KEYWORD))
            await_name(p, at);
        return operand_name(at, w);
    case F_BODY:
    case F_TARGET:
    case F_DONE:
    case F_COLON:
    case F_DEF_NAMED: return false;
    default: return operand_name(at, w);
    }
}

/* ---- statements ---- */

static bool header(CraftPoint *at, uint8_t kind, uint8_t flags)
{
    at->opens_role = at->block.role;
    at->opens_flags = (uint8_t)((at->block.flags & (IN_STAGE | NESTED)) | flags);
    return become(at, kind, 0);
}

static bool statement_keyword(CraftPrefix *p, CraftPoint *at, Tok tok, const PrefixWord *w)
{
    bool free;
    if (!(w->classes & statement_words(p, at, &free)))
        return false;
    bool was_if = tok == TOK_IF || tok == TOK_ELIF;
    at->block.flags = (uint8_t)((at->block.flags & ~AFTER_IF) | (was_if ? AFTER_IF : 0));
    switch (tok) {
    case TOK_IF:
    case TOK_ELIF: return header(at, F_COND, 0);
    case TOK_ELSE: return header(at, F_COLON, 0);
    case TOK_FOR: return header(at, F_FOR, NESTED);
    case TOK_WITH: return header(at, F_WITH, NESTED);
    case TOK_PASS: return become(at, F_DONE, 0);
    case TOK_RETURN: return become(at, F_RETURN, 0);
    case TOK_ASSERT: return become(at, F_ASSERT, 0);
    case TOK_DEF:
        if (!at->role_next)
            at->role_next = ROLE_HELPER;
        if (p->accepting)
            prefix_words_drop(p, W_VAR, true);
        return become(at, F_DEF, 0);
    default: return false;
    }
}

static bool is_whole(const CraftPoint *at)
{
    return at->have && at->can & CAN_STAND && !(at->frame.flags & CONDITION);
}

/* Whether the statement may end here. */
static bool may_end(const CraftPoint *at)
{
    const PrefixFrame *f = &at->frame;
    switch (f->kind) {
    case F_DONE:
    case F_BODY: return true;
    case F_START: return at->small; /* after a semicolon */
    case F_TARGET: return at->can & CAN_END;
    case F_VALUE: return is_whole(at) || (!at->have && f->items && !(f->flags & ITEM));
    case F_RETURN: return is_whole(at) || !(f->flags & ITEM);
    case F_ASSERT:
    case F_TEXT:
    case F_DECOR: return is_whole(at);
    default: return false;
    }
}

static bool begin_statement(CraftPoint *at)
{
    at->small = 1;
    return become(at, F_START, 0);
}

static void close_inline(CraftPrefix *p, CraftPoint *at)
{
    if (at->block.flags & INLINE)
        at->block = p->blocks.at[at->block.outer];
    at->small = 0;
}

static bool push_block(CraftPrefix *p, CraftPoint *at, uint16_t width, uint8_t flags)
{
    if (p->blocks.len > PREFIX_FRAMES)
        return false;
    vec_push(&p->fixed, &p->blocks, at->block);
    at->block = (PrefixBlock){width, at->opens_role, (uint8_t)(at->opens_flags | flags),
                              p->blocks.len - 1};
    at->opens = 0;
    return true;
}

static bool end_statement(CraftPrefix *p, CraftPoint *at)
{
    if (!may_end(at))
        return false;
    bool body = at->frame.kind == F_BODY;
    if (p->accepting && !body)
        declare_pending(p, at);
    if (body)
        at->opens = 1;
    else
        close_inline(p, at);
    at->small = 0;
    return become(at, F_START, 0);
}

bool prefix_begin_line(CraftPrefix *p, CraftPoint *at)
{
    if (p->accepting)
        p->pending.len = 0;
    at->small = 0;
    become(at, F_START, 0);
    if (at->opens)
        return at->width > at->block.width && push_block(p, at, at->width, 0);
    while (at->block.width > at->width)
        at->block = p->blocks.at[at->block.outer];
    return at->block.width == at->width && (!at->role_next || !at->width);
}

/* After a header's colon, on the same line. */
static bool inline_block(CraftPrefix *p, CraftPoint *at)
{
    uint16_t width = at->block.width;
    return push_block(p, at, width, INLINE) && begin_statement(at);
}

static bool take_colon(CraftPrefix *p, CraftPoint *at)
{
    PrefixFrame *f = &at->frame;
    switch (f->kind) {
    case F_COND:
        if (!is_whole(at))
            return false;
        break;
    case F_ITER: /* a call of a loop's function, closed */
    case F_WITH:
        if (!(at->have && at->can & CAN_END))
            return false;
        break;
    case F_DEF_NAMED:
        if (!(at->can & CAN_END))
            return false;
        at->opens_role = at->role_next;
        at->opens_flags = 0;
        at->role_next = 0;
        break;
    case F_COLON: break;
    case F_PARAMS:
        if (f->state != P_NAMED || at->role_next == ROLE_HELPER)
            return false;
        f->state = P_TYPE;
        begin_operand(at, true);
        return true;
    case F_INDEX:
        if (f->flags & (SLICE | CONDITION | OPEN) || (f->flags & ITEM && !is_whole(at)))
            return false;
        f->flags = (uint8_t)((f->flags & ~COMPARED) | SLICE | ITEM | BARE);
        begin_operand(at, true);
        return true;
    default: return false;
    }
    if (f->kind == F_WITH)
        at->opens_flags |= at->frame.state;
    if (p->accepting)
        declare_pending(p, at);
    return become(at, F_BODY, 0);
}

static bool take_assign(CraftPoint *at)
{
    PrefixFrame *f = &at->frame;
    if (f->kind == F_CALL && at->can & CAN_KEY) {
        f->flags = (uint8_t)(f->flags | KEYWORD);
        begin_operand(at, true);
        return true;
    }
    if (f->kind == F_PARAMS && f->state == P_TYPE && is_whole(at)) {
        f->state = P_DEFAULT;
        begin_operand(at, true);
        return at->role_next == ROLE_HOST;
    }
    bool targets = f->kind == F_TARGETS && (!at->have || at->can & CAN_ASSIGN);
    if (!targets && !(f->kind == F_TARGET && at->can & CAN_ASSIGN))
        return false;
    return become(at, F_VALUE, RIGHT);
}

static bool take_comma(CraftPoint *at)
{
    PrefixFrame *f = &at->frame;
    if (f->kind == F_TARGET && at->can & CAN_COMMA) {
        f->kind = F_TARGETS;
        begin_operand(at, true);
        return true;
    }
    if (f->kind == F_TARGETS || f->kind == F_FOR) {
        bool ok = at->have;
        begin_operand(at, true);
        return ok;
    }
    if (f->kind == F_ASSERT)
        return is_whole(at) && become(at, F_TEXT, 0);
    bool bare = f->kind == F_INDEX && f->flags & BARE && !at->have;
    bool named = f->kind == F_PARAMS && f->state == P_NAMED && at->role_next == ROLE_HELPER;
    bool list = f->kind == F_PARAMS || f->kind == F_CALL || f->kind == F_INDEX ||
                f->kind == F_GROUP || f->kind == F_LIST || f->kind == F_RETURN ||
                (f->kind == F_VALUE && at->block.role != ROLE_FILE);
    bool typed = f->kind != F_PARAMS || f->state >= P_TYPE || named;
    if (!list || !typed || !(bare || is_whole(at)))
        return false;
    f->items = (uint8_t)(f->items + (f->items < 255));
    if (f->flags & KEYWORD)
        f->items--;
    f->flags &= OPEN | RIGHT | KEYWORD;
    if (f->kind == F_PARAMS)
        f->state = P_NAME;
    begin_operand(at, true);
    return true;
}

/* ---- brackets ---- */

static bool open_paren(CraftPrefix *p, CraftPoint *at)
{
    PrefixFrame *f = &at->frame;
    if (f->kind == F_START || f->kind == F_FOR || f->kind == F_TARGETS) {
        if (at->have || (f->kind == F_START && (at->block.role == ROLE_FILE || at->role_next)))
            return false;
        f->kind = f->kind == F_START ? F_TARGET : f->kind;
        return push(p, at, F_GROUP, OPEN, 0);
    }
    if (f->kind == F_DEF_NAMED)
        return at->can & CAN_CALL && push(p, at, F_PARAMS, 0, 0);
    if (f->kind == F_ITER && !at->have) {
        bool ok = push(p, at, F_GROUP, 0, 0);
        at->frame.state = 1;
        return ok;
    }
    if (at->have) {
        if (!(at->can & CAN_CALL))
            return false;
        if (f->kind == F_WITH) /* copyin, compute, copyout open a stage; cube and vector do not */
            f->state = str_starts(str_from(craft_fns[at->fn - 1].name), "co") ? IN_STAGE : 0;
        bool roles = f->kind == F_DECOR; /* @kernel(cube, vector) */
        bool ok = push(p, at, F_CALL, f->flags & OPEN, at->fn);
        at->frame.state = roles;
        return ok;
    }
    if (f->kind == F_WITH || f->kind == F_DECOR || f->kind == F_DEF || f->kind == F_COLON ||
        f->kind == F_ITER || f->kind == F_BODY || f->kind == F_TARGET ||
        (f->kind == F_PARAMS && f->state != P_DEFAULT) || !positional_fits(at))
        return false;
    uint8_t inherited = f->flags & (uint8_t)(f->flags & ITEM ? OPEN : OPEN | RIGHT);
    f->flags |= ITEM;
    return push(p, at, F_GROUP, inherited, 0);
}

static bool open_bracket(CraftPrefix *p, CraftPoint *at)
{
    PrefixFrame *f = &at->frame;
    if (at->have) {
        uint8_t open = at->can & CAN_TYPE || f->flags & OPEN ? OPEN : 0;
        if (f->kind == F_TARGET && at->can & CAN_LAUNCH && !(at->can & CAN_INDEX))
            f->state = 1;
        return at->can & (CAN_INDEX | CAN_TYPE | CAN_LAUNCH) && push(p, at, F_INDEX, open, 0);
    }
    if (f->kind < F_VALUE || f->kind == F_WITH || f->kind == F_DECOR || f->kind == F_FOR ||
        f->kind == F_ITER || f->kind == F_DEF || f->kind == F_COLON || f->kind == F_BODY ||
        f->kind == F_PARAMS || !positional_fits(at))
        return false;
    f->flags |= ITEM;
    return push(p, at, F_LIST, f->flags & OPEN, 0);
}

/* A launch of a kernel that is not there yet makes its name one that is awaited. */
static void note_launch(CraftPrefix *p)
{
    if (!p->accepting || !p->pending.len)
        return;
    Str name = p->pending.at[0];
    const PrefixWord *w = prefix_words_find(p, name);
    p->pending.len = 0;
    if (w && w->classes & W_KERNEL)
        return;
    prefix_words_add(p, name, W_KERNEL | W_AWAITED);
    p->awaited++;
}

static void close_call(CraftPrefix *p, CraftPoint *at)
{
    pop(p, at, CAN_STAND | CAN_INDEX);
    switch (at->frame.kind) {
    case F_TARGET:
        at->can = CAN_END;
        if (at->frame.state)
            note_launch(p);
        else if (p->accepting)
            p->pending.len = 0;
        return;
    case F_ITER:
    case F_WITH: at->can = CAN_END; return;
    default: return;
    }
}

static bool close_paren(CraftPrefix *p, CraftPoint *at)
{
    const PrefixFrame f = at->frame;
    bool whole = is_whole(at), empty = !(f.flags & ITEM) && !at->have;
    if (f.kind == F_PARAMS) {
        bool helper = at->role_next == ROLE_HELPER;
        if (!(f.state == P_NAME ? empty : f.state == P_NAMED ? helper : whole))
            return false;
        pop(p, at, CAN_END);
        return true;
    }
    if (f.kind == F_GROUP) {
        if (!whole && !empty)
            return false;
        pop(p, at, CAN_STAND | CAN_INDEX | CAN_ATTR);
        if (at->frame.kind == F_TARGET)
            at->can = CAN_ASSIGN | CAN_COMMA | CAN_INDEX | CAN_CHANGE;
        else if (at->frame.kind == F_FOR || at->frame.kind == F_TARGETS)
            at->can = CAN_COMMA | CAN_ASSIGN;
        else if (at->frame.kind == F_ITER)
            at->can = CAN_END;
        return true;
    }
    uint32_t n = f.items + (at->have && !(f.flags & KEYWORD) ? 1u : 0u);
    if (f.kind != F_CALL || (!whole && !empty) || (f.fn && n < craft_fns[f.fn - 1].least))
        return false;
    close_call(p, at);
    return true;
}

static bool close_bracket(CraftPrefix *p, CraftPoint *at)
{
    const PrefixFrame f = at->frame;
    bool whole = is_whole(at), bare = f.flags & BARE && !at->have;
    bool empty = !(f.flags & ITEM) && !at->have;
    if (f.kind == F_LIST) {
        pop(p, at, CAN_STAND | CAN_INDEX);
        return whole || empty;
    }
    if (f.kind != F_INDEX || !(whole || bare || (empty && f.items)))
        return false;
    pop(p, at, CAN_STAND | CAN_INDEX);
    if (at->frame.kind == F_TARGET) {
        at->can = at->frame.state ? CAN_CALL : CAN_ASSIGN | CAN_CHANGE | CAN_INDEX;
        at->fn = 0;
    }
    return true;
}

/* ---- operators ---- */

static bool next_operand(CraftPoint *at, bool fresh)
{
    at->frame.flags &= (uint8_t)~BARE;
    at->frame.flags |= ITEM;
    begin_operand(at, fresh);
    return true;
}

static bool literal(CraftPoint *at, Tok tok)
{
    PrefixFrame *f = &at->frame;
    if (at->have || (at->can & (CAN_ATTR | CAN_FACT)))
        return false;
    if (f->kind == F_START) {
        if (tok != TOK_STRING || at->role_next)
            return false;
        at->block.flags &= (uint8_t)~AFTER_IF;
        return become(at, F_DONE, 0);
    }
    bool expression = f->kind == F_VALUE || f->kind == F_RETURN || f->kind == F_COND ||
                      f->kind == F_ASSERT || f->kind == F_TEXT || f->kind == F_CALL ||
                      f->kind == F_INDEX || f->kind == F_GROUP || f->kind == F_LIST ||
                      (f->kind == F_PARAMS && f->state == P_DEFAULT);
    bool iterator = f->kind == F_GROUP && f->state;
    if (!expression || iterator || (!(f->flags & (ITEM | KEYWORD)) && !positional_fits(at)))
        return false;
    f->flags &= (uint8_t)~BARE;
    f->flags |= ITEM;
    at->have = 1;
    at->can = CAN_STAND;
    return true;
}

static bool sign(CraftPoint *at)
{
    if (operator_here(at))
        return next_operand(at, false);
    CraftPoint tried = *at;
    if (!literal(&tried, TOK_INT))
        return false;
    return next_operand(at, false);
}

static bool comparison(CraftPoint *at)
{
    if (!operator_here(at) || at->frame.flags & COMPARED)
        return false;
    at->frame.flags |= COMPARED;
    return next_operand(at, false);
}

static bool connective(CraftPoint *at, Tok tok)
{
    if (!operator_here(at))
        return false;
    uint8_t *flags = &at->frame.flags;
    if (tok == TOK_IF ? *flags & CONDITION : tok == TOK_ELSE ? !(*flags & CONDITION) : false)
        return false;
    *flags = (uint8_t)(*flags & ~(COMPARED | (tok == TOK_ELSE ? CONDITION : 0)));
    *flags |= tok == TOK_IF ? CONDITION : 0;
    return next_operand(at, true);
}

static bool take_in(CraftPoint *at)
{
    if (at->frame.kind != F_FOR)
        return comparison(at);
    uint8_t role = at->opens_role, flags = at->opens_flags;
    become(at, F_ITER, 0);
    at->opens_role = role;
    at->opens_flags = flags;
    return true;
}

static bool take_dot(CraftPoint *at)
{
    uint16_t can = at->can & (CAN_ATTR | CAN_FACT);
    if (!at->have || !can)
        return false;
    at->have = 0;
    at->can = can & CAN_FACT ? CAN_FACT : CAN_ATTR;
    return true;
}

static bool take_at(CraftPoint *at)
{
    if (at->frame.kind != F_START || at->block.role != ROLE_FILE || at->role_next || at->small)
        return false;
    return become(at, F_DECOR, 0);
}

static bool keyword(CraftPrefix *p, CraftPoint *at, Tok tok, const PrefixWord *w)
{
    if (at->frame.kind == F_START && !at->have && tok != TOK_TRUE && tok != TOK_FALSE)
        return statement_keyword(p, at, tok, w);
    switch (tok) {
    case TOK_TRUE:
    case TOK_FALSE: return literal(at, tok);
    case TOK_NOT: {
        CraftPoint tried = *at;
        return at->fresh && literal(&tried, tok) && next_operand(at, true);
    }
    case TOK_AND:
    case TOK_OR:
    case TOK_IF:
    case TOK_ELSE: return connective(at, tok);
    case TOK_IN: return take_in(at);
    default: return false;
    }
}

static bool take_newline(CraftPrefix *p, CraftPoint *at)
{
    if (at->frame.kind == F_DECOR) {
        if (!is_whole(at))
            return false;
        return become(at, F_START, 0);
    }
    return end_statement(p, at);
}

static bool take_semicolon(CraftPrefix *p, CraftPoint *at)
{
    if (at->frame.kind == F_BODY || at->frame.kind == F_DECOR || !may_end(at))
        return false;
    declare_pending(p, at);
    return begin_statement(at);
}

bool prefix_token(CraftPrefix *p, CraftPoint *at, Tok tok, const PrefixWord *w)
{
    bool begins = at->frame.kind == F_BODY && tok != TOK_NEWLINE;
    if (begins && !inline_block(p, at))
        return false;
    switch (tok) {
    case TOK_NEWLINE: return take_newline(p, at);
    case TOK_NAME: return take_name(p, at, w);
    case TOK_INT:
    case TOK_FLOAT:
    case TOK_STRING: return literal(at, tok);
    case TOK_LPAREN: return open_paren(p, at);
    case TOK_RPAREN: return close_paren(p, at);
    case TOK_LBRACKET: return open_bracket(p, at);
    case TOK_RBRACKET: return close_bracket(p, at);
    case TOK_COMMA: return take_comma(at);
    case TOK_COLON: return take_colon(p, at);
    case TOK_DOT: return take_dot(at);
    case TOK_AT: return take_at(at);
    case TOK_ASSIGN: return take_assign(at);
    case TOK_SEMI: return take_semicolon(p, at);
    case TOK_PLUS:
    case TOK_MINUS: return sign(at);
    case TOK_TILDE: return !at->have && sign(at);
    case TOK_STAR:
    case TOK_SLASH:
    case TOK_SLASHSLASH:
    case TOK_PERCENT:
    case TOK_STARSTAR:
    case TOK_AMP:
    case TOK_PIPE:
    case TOK_CARET:
    case TOK_SHL:
    case TOK_SHR: return operator_here(at) && next_operand(at, false);
    case TOK_LT:
    case TOK_GT:
    case TOK_LE:
    case TOK_GE:
    case TOK_EQ:
    case TOK_NE: return comparison(at);
    case TOK_PLUSEQ:
    case TOK_MINUSEQ:
    case TOK_STAREQ:
    case TOK_SLASHEQ:
    case TOK_SLASHSLASHEQ:
    case TOK_PERCENTEQ:
    case TOK_AMPEQ:
    case TOK_PIPEEQ:
    case TOK_CARETEQ:
    case TOK_SHLEQ:
    case TOK_SHREQ:
        return at->frame.kind == F_TARGET && at->have && at->can & CAN_CHANGE &&
               become(at, F_VALUE, 0);
    default: return w && w->tok == tok && keyword(p, at, tok, w);
    }
}
