/* Kernels as CUDA text. In: a kernel with its roles. Out: a __global__ function. */
#include "gen/cuda/write_int.h"

#include <stdlib.h>

/* ---- parameters ---- */

static void put_parameters(const Nest *nest, const CudaKernel *k, bool types, Buf *out)
{
    bool *read = arena_array(nest->arena, bool, nest->tensors.len);
    bool *written = arena_array(nest->arena, bool, nest->tensors.len), any = false;
    kernel_tensors(nest, &k->loops, read, written);
    for (uint32_t i = 0; i < nest->tensors.len; i++) {
        if (!read[i] && !written[i])
            continue;
        buf_puts(out, any ? ", " : "");
        if (types)
            buf_printf(out, "%s%s *__restrict__ ", written[i] ? "" : "const ",
                       cuda_type(nest->tensors.at[i].dtype));
        buf_printf(out, "t%u", i);
        any = true;
    }
}

static Writer start(const Nest *nest, const CudaKernel *k)
{
    Writer w = {.text = {.arena = nest->arena, .nest = nest, .language = &cuda_language}, .k = k};
    kernel_open(&w.text, 0, "%s", "");
    return w;
}

static void put_signature(const Nest *nest, const CudaKernel *k, const char *name, Buf *out)
{
    if (k->cluster > 1)
        buf_printf(out, "__global__ void __cluster_dims__(%u, 1, 1) __launch_bounds__(%u)\n%s(",
                   k->cluster, k->threads, name);
    else
        buf_printf(out, "__global__ void __launch_bounds__(%u)\n%s(", k->threads, name);
    put_parameters(nest, k, true, out);
    buf_puts(out, ")\n{\n");
}

static const char *dtype_of(const Nest *nest, const NestStore *s)
{
    return cuda_type(nest->tensors.at[s->tensor].dtype);
}

/* ---- stores ---- */

static bool store_packs(const Writer *w, const NestStore *s)
{
    NestValue like = {.op = NEST_LOAD, .index = s->index};
    return cuda_packs(w, &like);
}

static void declare_results(Writer *w)
{
    for (uint32_t i = 0; i < w->k->loops.n_stores; i++)
        if (store_packs(w, &w->text.nest->stores.at[w->k->loops.store[i]]))
            kernel_line(&w->text, "float y%u[%u];", i, w->k->vector);
}

/* In the scope of one element. */
void cuda_write_results(Writer *w)
{
    for (uint32_t i = 0; i < w->k->loops.n_stores; i++) {
        const NestStore *s = &w->text.nest->stores.at[w->k->loops.store[i]];
        const char *x = cuda_value(w, s->value);
        if (w->lane && store_packs(w, s))
            kernel_line(&w->text, "y%u[v] = %s;", i, x);
        else
            kernel_line(&w->text, "t%u[%s] = from_float<%s>(%s);", s->tensor,
                        cuda_index(w, s->tensor, &s->index, AT_ELEMENT), dtype_of(w->text.nest, s),
                        x);
    }
}

static void store_results(Writer *w)
{
    for (uint32_t i = 0; i < w->k->loops.n_stores; i++) {
        const NestStore *s = &w->text.nest->stores.at[w->k->loops.store[i]];
        if (store_packs(w, s))
            kernel_line(&w->text, "store_pack(t%u + (%s), y%u);", s->tensor,
                        cuda_index(w, s->tensor, &s->index, AT_PACK), i);
    }
}

/* ---- one element after the other ---- */

void cuda_open_lanes(Writer *w)
{
    if (w->k->vector == 1)
        return;
    kernel_open(&w->text, UINT64_C(1) << w->vector_axis,
                "#pragma unroll\nfor (int v = 0; v < %u; v++) {", w->k->vector);
    w->lane = w->text.depth - 1;
    kernel_line(&w->text, "const int a%u = b%u + v;", w->vector_axis, w->vector_axis);
}

void cuda_close_lanes(Writer *w)
{
    if (w->k->vector == 1)
        return;
    kernel_close(&w->text);
    w->lane = 0;
}

static void map_element(Writer *w)
{
    if (w->tall_axis) {
        kernel_open(&w->text, UINT64_C(1) << w->tall_axis,
                    "#pragma unroll\nfor (int u = 0; u < %u; u++) {", w->k->tall);
        kernel_line(&w->text, "const int a%u = c%u + u;", w->tall_axis, w->tall_axis);
        if (w->k->ragged)
            kernel_line(&w->text, "if (EDGE && a%u >= %lld)\n            continue;", w->tall_axis,
                        (long long)w->text.nest->axes.at[w->tall_axis].size);
    }
    declare_results(w);
    cuda_open_lanes(w);
    cuda_write_results(w);
    cuda_close_lanes(w);
    store_results(w);
    if (w->tall_axis)
        kernel_close(&w->text);
}

/* Whether some access of the thread can lie outside: its bounds at the ends of what the thread walks. */
static void write_edge(Writer *w)
{
    const Nest *nest = w->text.nest;
    bool *reached = arena_array(w->text.arena, bool, nest->values.len);
    Buf out = {0};
    kernel_reach(nest, &w->k->loops, reached);
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (!reached[i] || v->op != NEST_INSIDE)
            continue;
        Affine fixed = v->index;
        int64_t low = 0, high = 0;
        for (uint32_t t = 0; t < v->index.n; t++) {
            AffineTerm term = v->index.term[t];
            bool own = w->k->loops.kept >> term.axis & 1;
            int64_t steps = !own                          ? nest->axes.at[term.axis].size - 1
                            : term.axis == w->vector_axis ? (int64_t)w->k->vector - 1
                            : term.axis == w->tall_axis   ? (int64_t)w->k->tall - 1
                                                          : 0;
            *(term.by < 0 ? &low : &high) += term.by * steps;
            Affine gone = affine_axis(term.axis, own ? 0 : -term.by);
            affine_add(&fixed, &gone, 1);
        }
        const char *at = cuda_index(w, 0, &fixed, AT_THREAD);
        buf_printf(&out, "%s(%s) + %lld < 0 || (%s) + %lld >= %lld", out.len ? " || " : "", at,
                   (long long)low, at, (long long)high, (long long)v->bound);
    }
    if (w->k->ragged)
        buf_printf(&out, "%sc%u > %lld", out.len ? " || " : "", w->tall_axis,
                   (long long)w->text.nest->axes.at[w->tall_axis].size - w->k->tall);
    kernel_line(&w->text, "const bool edge = %s;", out.len ? out.at : "false");
    buf_free(&out);
}

static void name_axes(Writer *w)
{
    const CudaKernel *k = w->k;
    w->vector_axis = k->vector > 1 ? k->loops.point[k->loops.n_point - 1] : 0;
    w->tall_axis = k->tall > 1 ? k->loops.point[k->loops.n_point - 2] : 0;
}

static void start_map(Writer *w)
{
    const CudaKernel *k = w->k;
    bool wide = k->units > INT32_MAX / 2;
    name_axes(w);
    if (wide)
        kernel_line(&w->text, "const int64_t p = (int64_t)blockIdx.x * %u + threadIdx.x;",
                    k->threads);
    else
        kernel_line(&w->text, "const int p = (int)(blockIdx.x * %u + threadIdx.x);", k->threads);
    if (k->units % k->threads)
        kernel_line(&w->text, "if (p >= %lld)\n        return;", (long long)k->units);
    cuda_axes(w, "p", wide, k->loops.point, k->loops.n_point, k->vector, k->tall);
}

static void put_body(Writer *w, Buf *out)
{
    buf_str(out, buf_view(&w->text.scope[0].text));
    buf_puts(out, "}\n");
    buf_free(&w->text.scope[0].text);
}

static void put_axis_parameters(const Writer *w, bool types, Buf *out)
{
    for (uint32_t i = 0; i < w->k->loops.n_point; i++) {
        uint32_t axis = w->k->loops.point[i];
        buf_printf(out, ", %s%c%u", types ? "const int " : "",
                   axis == w->vector_axis ? 'b'
                   : axis == w->tall_axis ? 'c'
                                          : 'a',
                   axis);
    }
}

/* Accesses that can lie outside are tested only by threads at an edge. */
static void write_map_edges(const Nest *nest, const CudaKernel *k, const char *name, Buf *out)
{
    Writer body = start(nest, k), w = start(nest, k);
    body.edge_template = true;
    name_axes(&body);
    map_element(&body);
    buf_printf(out, "template <bool EDGE> __device__ __forceinline__ void\n%s_element(", name);
    put_parameters(nest, k, true, out);
    put_axis_parameters(&body, true, out);
    buf_puts(out, ")\n{\n");
    put_body(&body, out);
    buf_char(out, '\n');
    put_signature(nest, k, name, out);
    start_map(&w);
    write_edge(&w);
    Buf args = {0};
    put_parameters(nest, k, false, &args);
    put_axis_parameters(&w, false, &args);
    kernel_line(&w.text, "if (edge)\n        %s_element<true>(%s);", name, args.at);
    kernel_line(&w.text, "else\n        %s_element<false>(%s);", name, args.at);
    buf_free(&args);
    put_body(&w, out);
}

static void write_map(const Nest *nest, const CudaKernel *k, const char *name, Buf *out)
{
    if (k->loops.edges && k->loops.n_point) {
        write_map_edges(nest, k, name, out);
        return;
    }
    Writer w = start(nest, k);
    put_signature(nest, k, name, out);
    start_map(&w);
    map_element(&w);
    put_body(&w, out);
}

/* ---- rows ---- */

static bool is_row_load(const CudaKernel *k, const NestValue *v)
{
    return v->op == NEST_LOAD && !v->n_arg && v->axes & k->loops.row &&
           !(v->axes & ~(k->loops.kept | k->loops.row));
}

/* Which row, whose part of it. */
static void start_rows(Writer *w)
{
    const CudaKernel *k = w->k;
    uint32_t each = k->threads / k->team;
    bool tail = k->loops.points % each;
    w->vector_axis = k->vector > 1 ? k->loops.along[k->loops.n_row - 1] : 0;
    if (k->team > 1)
        kernel_line(&w->text, "const int lane = threadIdx.x %% %u;", k->team);
    if (k->cluster > 1)
        kernel_line(&w->text, "const int rank = blockIdx.x %% %u;", k->cluster);
    const char *divide = k->cluster > 1 ? str_format(w->text.arena, " / %u", k->cluster) : "";
    const char *team = k->team > 1 ? str_format(w->text.arena, " / %u", k->team) : "";
    if (each == 1)
        kernel_line(&w->text, "const int p = blockIdx.x%s;", divide);
    else
        kernel_line(&w->text, "%sint p = blockIdx.x * %u + threadIdx.x%s;", tail ? "" : "const ",
                    each, team);
    if (tail) {
        kernel_line(&w->text, "const bool live = p < %lld;", (long long)k->loops.points);
        kernel_line(&w->text, "p = live ? p : %lld;", (long long)k->loops.points - 1);
    }
    cuda_axes(w, "p", false, k->loops.point, k->loops.n_point, 1, 1);
}

/* Opens the loop over a thread's part of the row. */
static void open_row(Writer *w)
{
    const CudaKernel *k = w->k;
    uint64_t again = k->again ? UINT64_C(1) << k->again : 0;
    int64_t packs = k->loops.length / k->vector, all = (int64_t)k->team * k->cluster;
    packs /= again ? w->text.nest->axes.at[k->again].size : 1;
    bool exact = k->items ? packs == all * k->items : packs % all == 0;
    const char *lane = k->team == 1 ? ""
                       : k->cluster == 1
                           ? " + lane"
                           : str_format(w->text.arena, " + rank * %u + lane", k->team);
    if (k->items) {
        kernel_open(&w->text, k->loops.row, "#pragma unroll%s\nfor (int i = 0; i < %u; i++) {",
                    k->shared ? " 4" : "", k->items);
        kernel_line(&w->text, "const int r = i * %lld%s;", (long long)all, lane);
        if (!exact)
            kernel_line(&w->text, "if (r >= %lld)\n%*scontinue;", (long long)packs,
                        (int)w->text.scope[w->text.depth - 1].indent * 4 + 4, "");
    } else {
        kernel_open(&w->text, k->loops.row & ~again,
                    "#pragma unroll %d\nfor (int r = %s; r < %lld; r += %lld) {", again ? 1 : 4,
                    *lane ? lane + 3 : "0", (long long)packs, (long long)all);
    }
    cuda_axes(w, "r", false, k->loops.along + (again != 0), k->loops.n_row - (again != 0),
              k->vector, 1);
    if (again)
        kernel_open(&w->text, again, "#pragma unroll 8\nfor (int a%u = 0; a%u < %lld; a%u++) {",
                    k->again, k->again, (long long)w->text.nest->axes.at[k->again].size, k->again);
}

static void close_row(Writer *w)
{
    if (w->k->again)
        kernel_close(&w->text);
    kernel_close(&w->text);
}

/* A pack of the row, from shared memory. */
static void name_shared(Writer *w, NestId id)
{
    uint32_t n = w->k->vector, around = n > 1 ? w->lane - 1 : w->text.depth - 1;
    if (n > 1) {
        kernel_line_in(&w->text, around, str_format(w->text.arena, "float x%u[%u];", id, n));
        kernel_line_in(&w->text, around,
                       str_format(w->text.arena, "load_pack(x%u, s%u + (i * %u + lane) * %u);", id,
                                  id, w->k->team, n));
        kernel_name(&w->text, w->lane, id, str_format(w->text.arena, "x%u[v]", id));
    } else {
        kernel_line_in(&w->text, around,
                       str_format(w->text.arena, "const float x%u = to_float(s%u[i * %u + lane]);",
                                  id, id, w->k->team));
        kernel_name(&w->text, w->text.depth - 1, id, str_format(w->text.arena, "x%u", id));
    }
}

/* Names of what the registers hold, in the scope of an element. */
static void name_kept(Writer *w)
{
    for (uint32_t i = 1; i < w->text.nest->values.len && w->k->items; i++)
        if (w->kept && w->kept[i] && w->k->shared)
            name_shared(w, i);
        else if (w->kept && w->kept[i])
            kernel_name(&w->text, w->text.depth - 1, i,
                        str_format(w->text.arena, w->k->vector > 1 ? "x%u[i][v]" : "x%u[i]", i));
}

/* Reads the row once, where it fits into registers. */
static void read_row(Writer *w, const bool *reached)
{
    const CudaKernel *k = w->k;
    bool *kept = arena_array(w->text.arena, bool, w->text.nest->values.len), any = false;
    for (uint32_t i = 1; i < w->text.nest->values.len; i++) {
        const NestValue *v = &w->text.nest->values.at[i];
        if (!reached[i] || !is_row_load(k, v) ||
            (k->vector > 1 && !(v->axes >> w->vector_axis & 1)))
            continue;
        kept[i] = any = true;
        if (k->vector > 1)
            kernel_line(&w->text, "float x%u[%u][%u];", i, k->items, k->vector);
        else
            kernel_line(&w->text, "float x%u[%u];", i, k->items);
    }
    if (!any)
        return;
    open_row(w);
    for (uint32_t i = 1; i < w->text.nest->values.len; i++) {
        const NestValue *v = &w->text.nest->values.at[i];
        if (!kept[i])
            continue;
        if (k->vector == 1)
            kernel_line(&w->text, "x%u[i] = to_float(t%u[%s]);", i, v->tensor,
                        cuda_index(w, v->tensor, &v->index, AT_ELEMENT));
        else if (cuda_packs(w, v))
            kernel_line(&w->text, "load_pack(x%u[i], t%u + (%s));", i, v->tensor,
                        cuda_index(w, v->tensor, &v->index, AT_PACK));
        else {
            cuda_open_lanes(w);
            kernel_line(&w->text, "x%u[i][v] = to_float(t%u[%s]);", i, v->tensor,
                        cuda_index(w, v->tensor, &v->index, AT_ELEMENT));
            cuda_close_lanes(w);
        }
    }
    close_row(w);
    w->kept = kept;
}

/* Keeps the row in shared memory where it fits there. */
static void share_row(Writer *w, const bool *reached)
{
    const CudaKernel *k = w->k;
    bool *kept = arena_array(w->text.arena, bool, w->text.nest->values.len);
    int64_t offset = 0;
    kernel_line(&w->text, "extern __shared__ __align__(16) unsigned char held[];");
    for (uint32_t i = 1; i < w->text.nest->values.len; i++) {
        const NestValue *v = &w->text.nest->values.at[i];
        if (!reached[i] || !is_row_load(k, v) || !(k->vector == 1 || cuda_packs(w, v)))
            continue;
        const char *type = cuda_type(w->text.nest->tensors.at[v->tensor].dtype);
        kept[i] = true;
        kernel_line(&w->text, "%s *s%u = (%s *)(held + %lld);", type, i, type, (long long)offset);
        offset += (int64_t)k->items * k->team * k->vector *
                  (int64_t)dtype_bytes(w->text.nest->tensors.at[v->tensor].dtype);
    }
    open_row(w);
    for (uint32_t i = 1; i < w->text.nest->values.len; i++)
        if (kept[i]) {
            const NestValue *v = &w->text.nest->values.at[i];
            kernel_line(&w->text, "copy_pack<%u>(s%u + (i * %u + lane) * %u, t%u + (%s));",
                        k->vector, i, k->team, k->vector, v->tensor,
                        cuda_index(w, v->tensor, &v->index, AT_PACK));
        }
    close_row(w);
    kernel_line(&w->text, "wait_copies();");
    w->kept = kept;
}

static void open_element(Writer *w)
{
    open_row(w);
    if (w->k->vector > 1)
        cuda_open_lanes(w);
    name_kept(w);
}

static void close_element(Writer *w)
{
    if (w->k->vector > 1)
        cuda_close_lanes(w);
    close_row(w);
}

/* What a thread adds of one element to a reduction. An extreme and its place are joined at once. */
static void join_element(Writer *w, NestId id, const bool *now)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *join = cuda_join(v->reduce);
    if (cuda_extreme_of(w->text.nest, id) && now[cuda_extreme_of(w->text.nest, id)])
        return; /* joined with the extreme */
    const char *x = cuda_value(w, v->arg[0]);
    NestId place = cuda_place_beside(w, id, now);
    if (place) {
        const char *at = cuda_value(w, cuda_place_arg(w->text.nest, place));
        kernel_line(&w->text, "join_place<%s>(v%u, v%u, %s, %s);", join, id, place, x, at);
    } else {
        kernel_line(&w->text, "v%u = %s::join(v%u, %s);", id, join, id, x);
    }
}

/* The reduction of the whole team. Of places, only those of threads that hold the extreme count. */
static void join_threads(Writer *w, NestId id, const bool *now)
{
    const NestValue *v = &w->text.nest->values.at[id];
    NestId most = cuda_extreme_of(w->text.nest, id);
    if (w->k->team > 1) {
        if (most && now[most])
            kernel_line(&w->text, "v%u = own%u == v%u || own%u != own%u ? v%u : %s::none;", id,
                        most, most, most, most, id, cuda_join(v->reduce));
        else if (cuda_place_beside(w, id, now))
            kernel_line(&w->text, "const float own%u = v%u;", id, id);
        kernel_line(&w->text, "v%u = join_team<%s, %u, %u>(v%u);", id, cuda_join(v->reduce),
                    w->k->team, w->k->cluster, id);
    }
    kernel_name(&w->text, 0, id, str_format(w->text.arena, "v%u", id));
}

/* All reductions of a level in one pass. */
static void write_pass(Writer *w, const bool *now)
{
    const Nest *nest = w->text.nest;
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (now[i])
            kernel_line(&w->text, "float v%u = %s::none;", i, cuda_join(nest->values.at[i].reduce));
    open_element(w);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (now[i])
            join_element(w, i, now);
    close_element(w);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (now[i])
            join_threads(w, i, now);
}

static void store_row(Writer *w)
{
    const CudaKernel *k = w->k;
    if (k->loops.points % (k->threads / k->team))
        kernel_line(&w->text, "if (!live)\n        return;");
    if (!(k->loops.kept & k->loops.row)) {
        if (k->team > 1)
            kernel_line(&w->text, "if (lane)\n        return;");
        if (k->cluster > 1)
            kernel_line(&w->text, "if (rank)\n        return;");
        uint32_t axis = w->vector_axis;
        w->vector_axis = 0;
        cuda_write_results(w);
        w->vector_axis = axis;
        return;
    }
    open_row(w);
    declare_results(w);
    cuda_open_lanes(w);
    name_kept(w);
    cuda_write_results(w);
    cuda_close_lanes(w);
    store_results(w);
    close_row(w);
}

static void write_rows(const Nest *nest, const CudaKernel *k, const char *name, Buf *out)
{
    Writer w = start(nest, k);
    bool *reached = arena_array(w.text.arena, bool, nest->values.len);
    uint32_t *memo = arena_array(w.text.arena, uint32_t, nest->values.len), most = 0;
    kernel_reach(nest, &k->loops, reached);
    put_signature(nest, k, name, out);
    start_rows(&w);
    if (k->shared)
        share_row(&w, reached);
    else if (k->items)
        read_row(&w, reached);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && kernel_is_team(&k->loops, &nest->values.at[i])) {
            uint32_t l = kernel_level(nest, &k->loops, i, memo);
            most = l > most ? l : most;
        }
    for (uint32_t l = 1; l <= most; l++) {
        bool *now = arena_array(w.text.arena, bool, nest->values.len), any = false;
        for (uint32_t i = 1; i < nest->values.len; i++) {
            now[i] = reached[i] && kernel_is_team(&k->loops, &nest->values.at[i]) &&
                     kernel_level(nest, &k->loops, cuda_pass_of(nest, i), memo) == l;
            any = any || now[i];
        }
        if (any)
            write_pass(&w, now);
    }
    store_row(&w);
    put_body(&w, out);
}

/* ---- scans ---- */

static bool is_scan(const NestValue *v) { return v->op == NEST_SCAN; }

/* A thread takes a column, one element after the other. */
static void scan_columns(Writer *w, const bool *reached, bool reverse)
{
    const CudaKernel *k = w->k;
    uint32_t axis = k->loops.along[0];
    long long last = (long long)k->loops.length - 1;
    if (k->loops.points % k->threads)
        kernel_line(&w->text, "if (p >= %lld)\n        return;", (long long)k->loops.points);
    cuda_axes(w, "p", false, k->loops.point, k->loops.n_point, 1, 1);
    for (uint32_t i = 1; i < w->text.nest->values.len; i++)
        if (reached[i] && is_scan(&w->text.nest->values.at[i]))
            kernel_line(&w->text, "float c%u = %s::none;", i,
                        cuda_join(w->text.nest->values.at[i].reduce));
    kernel_open(&w->text, k->loops.row, "#pragma unroll 8\nfor (int i = 0; i <= %lld; i++) {",
                last);
    if (reverse)
        kernel_line(&w->text, "const int a%u = %lld - i;", axis, last);
    else
        kernel_line(&w->text, "const int a%u = i;", axis);
    for (uint32_t i = 1; i < w->text.nest->values.len; i++)
        if (reached[i] && is_scan(&w->text.nest->values.at[i])) {
            const NestValue *v = &w->text.nest->values.at[i];
            const char *x = cuda_value(w, v->arg[0]);
            kernel_line(&w->text, "c%u = %s::join(c%u, %s);", i, cuda_join(v->reduce), i, x);
            kernel_name(&w->text, w->text.depth - 1, i, str_format(w->text.arena, "c%u", i));
        }
    cuda_write_results(w);
    kernel_close(&w->text);
}

/* The running results of a pack, then those of the packs before it. */
static void scan_pack(Writer *w, NestId id, bool reverse)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const CudaKernel *k = w->k;
    const char *join = cuda_join(v->reduce);
    uint32_t n = k->vector;
    kernel_line(&w->text, "float s%u[%u];", id, n);
    kernel_line(&w->text, "#pragma unroll");
    kernel_line(&w->text, "for (int v = 0; v < %u; v++)", n);
    kernel_line(&w->text, "    s%u[v] = %s::none;", id, join);
    kernel_open(&w->text, n > 1 ? 0 : k->loops.row, "if (in) {");
    if (n > 1)
        cuda_open_lanes(w);
    else
        kernel_line(&w->text, "constexpr int v = 0;");
    const char *x = cuda_value(w, v->arg[0]);
    kernel_line(&w->text, "s%u[v] = %s;", id, x);
    if (n > 1)
        cuda_close_lanes(w);
    kernel_close(&w->text);
    kernel_line(&w->text, "#pragma unroll");
    kernel_line(&w->text, "for (int v = 1; v < %u; v++)", n);
    if (reverse)
        kernel_line(&w->text, "    s%u[%u - v] = %s::join(s%u[%u - v], s%u[%u - v]);", id, n - 1,
                    join, id, n, id, n - 1);
    else
        kernel_line(&w->text, "    s%u[v] = %s::join(s%u[v - 1], s%u[v]);", id, join, id, id);
    kernel_line(&w->text, "float all%u;", id);
    kernel_line(&w->text,
                "const float before%u = %s::join(c%u, scan_team<%s, %u>(s%u[%u], all%u));", id,
                join, id, join, k->team, id, reverse ? 0 : n - 1, id);
    kernel_line(&w->text, "#pragma unroll");
    kernel_line(&w->text, "for (int v = 0; v < %u; v++)", n);
    kernel_line(&w->text, "    s%u[v] = %s::join(before%u, s%u[v]);", id, join, id, id);
    kernel_line(&w->text, "c%u = %s::join(c%u, all%u);", id, join, id, id);
}

static void scan_blocks(Writer *w, const bool *reached, bool reverse)
{
    const CudaKernel *k = w->k;
    uint32_t axis = k->loops.along[0], n = k->vector, many = k->team * n;
    w->vector_axis = n > 1 ? axis : 0;
    cuda_axes(w, "p", false, k->loops.point, k->loops.n_point, 1, 1);
    for (uint32_t i = 1; i < w->text.nest->values.len; i++)
        if (reached[i] && is_scan(&w->text.nest->values.at[i]))
            kernel_line(&w->text, "float c%u = %s::none;", i,
                        cuda_join(w->text.nest->values.at[i].reduce));
    kernel_open(&w->text, k->loops.row, "for (int base = 0; base < %lld; base += %u) {",
                (long long)k->loops.length, many);
    kernel_line(&w->text, "const int r = base + threadIdx.x * %u;", n);
    kernel_line(&w->text, "const bool in = r < %lld;", (long long)k->loops.length);
    if (reverse)
        kernel_line(&w->text, "const int %c%u = %lld - r;", n > 1 ? 'b' : 'a', axis,
                    (long long)(k->loops.length - n));
    else
        kernel_line(&w->text, "const int %c%u = r;", n > 1 ? 'b' : 'a', axis);
    for (uint32_t i = 1; i < w->text.nest->values.len; i++)
        if (reached[i] && is_scan(&w->text.nest->values.at[i]))
            scan_pack(w, i, reverse);
    kernel_open(&w->text, n > 1 ? 0 : k->loops.row, "if (in) {");
    declare_results(w);
    if (n > 1)
        cuda_open_lanes(w);
    else
        kernel_line(&w->text, "constexpr int v = 0;");
    for (uint32_t i = 1; i < w->text.nest->values.len; i++)
        if (reached[i] && is_scan(&w->text.nest->values.at[i]))
            kernel_name(&w->text, w->text.depth - 1, i, str_format(w->text.arena, "s%u[v]", i));
    cuda_write_results(w);
    if (n > 1)
        cuda_close_lanes(w);
    store_results(w);
    kernel_close(&w->text);
    kernel_close(&w->text);
}

/* Opens a loop over the elements of a piece that neighbouring threads read and write side by side; "r" counts along
 * the row, "e" in the piece. */
static void open_striped(Writer *w)
{
    kernel_open(&w->text, 0, "#pragma unroll\nfor (int i = 0; i < %u; i++) {", w->k->items);
    kernel_line(&w->text, "const int e = i * %u + threadIdx.x, r = base + e;", w->k->team);
}

static void open_inside(Writer *w, bool reverse)
{
    const CudaKernel *k = w->k;
    uint32_t axis = k->loops.along[0];
    kernel_open(&w->text, k->loops.row, "if (r < %lld) {", (long long)k->loops.length);
    if (reverse)
        kernel_line(&w->text, "const int a%u = %lld - r;", axis, (long long)k->loops.length - 1);
    else
        kernel_line(&w->text, "const int a%u = r;", axis);
}

/* Joins what a thread takes of a piece: neighbouring elements. */
static void scan_piece(Writer *w, NestId id)
{
    const CudaKernel *k = w->k;
    const char *join = cuda_join(w->text.nest->values.at[id].reduce);
    kernel_line(&w->text, "float s%u[%u];", id, k->items);
    kernel_line(&w->text, "#pragma unroll");
    kernel_line(&w->text, "for (int v = 0; v < %u; v++) {", k->items);
    kernel_line(&w->text, "    const float x = turn%u[spread(threadIdx.x * %u + v)];", id,
                k->items);
    kernel_line(&w->text, "    s%u[v] = v ? %s::join(s%u[v ? v - 1 : 0], x) : x;", id, join, id);
    kernel_line(&w->text, "}");
    kernel_line(&w->text, "float all%u;", id);
    kernel_line(&w->text,
                "const float before%u = %s::join(c%u, scan_team<%s, %u>(s%u[%u], all%u));", id,
                join, id, join, k->team, id, k->items - 1, id);
    kernel_line(&w->text, "c%u = %s::join(c%u, all%u);", id, join, id, id);
    kernel_line(&w->text, "#pragma unroll");
    kernel_line(&w->text, "for (int v = 0; v < %u; v++)", k->items);
    kernel_line(&w->text, "    turn%u[spread(threadIdx.x * %u + v)] = %s::join(before%u, s%u[v]);",
                id, k->items, join, id, id);
}

/* Rows that no 16 bytes can be read or written of at once: neighbouring threads read neighbouring elements, shared
 * memory gives each thread several in a row, and takes the results back. */
static void scan_turned(Writer *w, const bool *reached, bool reverse)
{
    const CudaKernel *k = w->k;
    const Nest *nest = w->text.nest;
    uint32_t many = k->team * k->items;
    cuda_axes(w, "p", false, k->loops.point, k->loops.n_point, 1, 1);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && is_scan(&nest->values.at[i])) {
            kernel_line(&w->text, "__shared__ float turn%u[%u];", i, many + many / 32);
            kernel_line(&w->text, "float c%u = %s::none;", i, cuda_join(nest->values.at[i].reduce));
        }
    kernel_open(&w->text, 0, "for (int base = 0; base < %lld; base += %u) {",
                (long long)k->loops.length, many);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && is_scan(&nest->values.at[i])) {
            open_striped(w);
            kernel_line(&w->text, "float x = %s::none;", cuda_join(nest->values.at[i].reduce));
            open_inside(w, reverse);
            const char *x = cuda_value(w, nest->values.at[i].arg[0]);
            kernel_line(&w->text, "x = %s;", x);
            kernel_close(&w->text);
            kernel_line(&w->text, "turn%u[spread(e)] = x;", i);
            kernel_close(&w->text);
        }
    kernel_line(&w->text, "__syncthreads();");
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && is_scan(&nest->values.at[i]))
            scan_piece(w, i);
    kernel_line(&w->text, "__syncthreads();");
    open_striped(w);
    open_inside(w, reverse);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && is_scan(&nest->values.at[i]))
            kernel_name(&w->text, w->text.depth - 1, i,
                        str_format(w->text.arena, "turn%u[spread(e)]", i));
    cuda_write_results(w);
    kernel_close(&w->text);
    kernel_close(&w->text);
    kernel_close(&w->text);
}

static void write_scan(const Nest *nest, const CudaKernel *k, const char *name, Buf *out)
{
    Writer w = start(nest, k);
    bool *reached = arena_array(w.text.arena, bool, nest->values.len);
    kernel_reach(nest, &k->loops, reached);
    put_signature(nest, k, name, out);
    if (k->loops.columns) {
        kernel_line(&w.text, "const int p = blockIdx.x * %u + threadIdx.x;", k->threads);
        scan_columns(&w, reached, k->loops.reverse);
    } else {
        kernel_line(&w.text, "const int p = blockIdx.x;");
        (k->items ? scan_turned : scan_blocks)(&w, reached, k->loops.reverse);
    }
    put_body(&w, out);
}

static void write_product(const Nest *nest, const CudaKernel *k, const char *name, Buf *out)
{
    Writer w = start(nest, k);
    put_signature(nest, k, name, out);
    cuda_write_product(&w);
    put_body(&w, out);
}

static void write_meet(const Nest *nest, const CudaKernel *k, const char *name, Buf *out)
{
    Writer w = start(nest, k);
    put_signature(nest, k, name, out);
    cuda_write_meet(&w);
    put_body(&w, out);
}

void cuda_write_kernel(const Nest *nest, const CudaKernel *k, const char *name, Buf *out)
{
    switch (k->loops.shape) {
    case KERNEL_MAP: write_map(nest, k, name, out); break;
    case KERNEL_ROWS: write_rows(nest, k, name, out); break;
    case KERNEL_SCAN: write_scan(nest, k, name, out); break;
    case KERNEL_MEET: write_meet(nest, k, name, out); break;
    case KERNEL_PRODUCT: write_product(nest, k, name, out); break;
    }
}
