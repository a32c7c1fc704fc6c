/* Sampling images on a grid. In: grid_sample, its grid an input or affine_grid of an input, its
 * image an input or the interpolation of one. Out: a program that makes places and weights of a
 * tile of outputs once and uses them for all channels. */
#include "gen/plan/resize.h"

enum { PIXELS = 1024, CHUNK = 8192 };

typedef struct Sample {
    Script s;
    const Node *sample, *affine, *resize; /* affine, resize: NULL where the input is given */
    bool align, border;
    int64_t batch, channels, h, w, oh, ow;
} Sample;

static const char *read_sample(const Graph *g, Sample *p)
{
    const Node *last = graph_maker(g, g->outputs.at[0]);
    const Value *x = graph_value(g, last->in[0]), *y = graph_value(g, last->out);
    Str pad = node_text(last, AT_PAD_MODE), mode = node_text(last, AT_MODE);
    p->sample = last;
    p->resize = graph_maker(g, last->in[0]);
    p->affine = graph_maker(g, last->in[1]);
    if ((p->resize && p->resize->op != OP_INTERPOLATE) ||
        (p->affine && p->affine->op != OP_AFFINE_GRID))
        return "its image or grid comes from another operator";
    if (x->shape.rank != 4 || x->dtype != DT_F32 || graph_value(g, last->in[1])->dtype != DT_F32)
        return "only images of f32 in two dimensions";
    if ((mode.len && !str_is(mode, "bilinear")) || str_is(pad, "reflection"))
        return "only bilinear, with zeros or the border outside";
    p->align = node_bool(last, AT_ALIGN);
    p->border = str_is(pad, "border");
    p->batch = x->shape.dim[0];
    p->channels = x->shape.dim[1];
    p->h = x->shape.dim[2];
    p->w = x->shape.dim[3];
    p->oh = y->shape.dim[2];
    p->ow = y->shape.dim[3];
    if (p->h * p->w >= 1 << 24 || p->oh * p->ow >= 1 << 24)
        return "places beyond the whole numbers of f32";
    return NULL;
}

static const char buffers[] =
    "    gx = ub(f32, 1024)\n    gy = ub(f32, 1024)\n    px = ub(f32, 1024)\n"
    "    py = ub(f32, 1024)\n    fx = ub(f32, 1024)\n    fy = ub(f32, 1024)\n"
    "    side = ub(f32, 1024)\n    work = ub(f32, 1024)\n    more = ub(f32, 1024)\n"
    "    at0 = ub(i32, 1024)\n    at1 = ub(i32, 1024)\n    at2 = ub(i32, 1024)\n"
    "    at3 = ub(i32, 1024)\n"
    "    in0 = ub(f32, 1024)\n    in1 = ub(f32, 1024)\n    in2 = ub(f32, 1024)\n"
    "    in3 = ub(f32, 1024)\n"
    "    v0 = ub(f32, 1024)\n    v1 = ub(f32, 1024)\n    v2 = ub(f32, 1024)\n"
    "    v3 = ub(f32, 1024)\n"
    "    near = ub(i32, 1024)\n    plane = ub(f32, 8192, depth=2)\n"
    "    o = ub(f32, 1024, depth=2)\n";

/* Tiles that hold nothing while places are made. */
#define LENT "in0[:t.size], in1[:t.size], in2[:t.size], in3[:t.size]"

/* The grid as it lies in memory: pairs, x first. */
static const char from_grid[] =
    "        with copyin():\n"
    "            load(pairs[:2 * t.size], grid[n, 2 * t.start:2 * t.stop])\n"
    "        with compute():\n"
    "            near[:t.size] = iota(0, 2)\n"
    "            gx[:t.size] = gather(pairs[:2 * t.size], near[:t.size])\n"
    "            near[:t.size] = iota(1, 2)\n"
    "            gy[:t.size] = gather(pairs[:2 * t.size], near[:t.size])\n";

/* A coordinate of the output is fx + px, beyond the precision of f32, and so is its image on the
 * grid, gx + v0: the grid is never stored, so it is not rounded. */
static const char from_theta[] =
    "        a = theta[n, 0, 0]\n        b = theta[n, 0, 1]\n        c = theta[n, 0, 2]\n"
    "        d = theta[n, 1, 0]\n        e = theta[n, 1, 1]\n        f = theta[n, 1, 2]\n"
    "        with compute():\n"
    "            work[:t.size] = cast(iota(t.start, 1), f32)\n"
    "            py[:t.size] = floor((work[:t.size] + 0.5) / $C)\n"
    "            px[:t.size] = work[:t.size] - py[:t.size] * $C\n"
    "            px[:t.size] = px[:t.size] * 2.0 - $G\n"
    "            py[:t.size] = py[:t.size] * 2.0 - $H\n"
    "            parted(fx[:t.size], px[:t.size], side[:t.size], work[:t.size], " LENT ", $I)\n"
    "            parted(fy[:t.size], py[:t.size], side[:t.size], work[:t.size], " LENT ", $J)\n"
    "            turn(gx[:t.size], fx[:t.size], fy[:t.size], px[:t.size], py[:t.size], "
    "side[:t.size], work[:t.size], more[:t.size], v0[:t.size], " LENT ", a, b, c)\n"
    "            turn(gy[:t.size], fx[:t.size], fy[:t.size], px[:t.size], py[:t.size], "
    "side[:t.size], work[:t.size], more[:t.size], v1[:t.size], " LENT ", d, e, f)\n";

/* What a rounded product lost: x y - product, exactly. Both are split in halves of 12 bits (Dekker 1971),
 * as it is not documented whether MulAddDst rounds once. */
static const char slip[] = "\ndef slip(lost, x, y, product, high, low, other):\n"
                           "    high = x * 4097.0\n"
                           "    high = high - (high - x)\n"
                           "    low = x - high\n"
                           "    other = y * 4097.0\n"
                           "    other = other - (other - y)\n"
                           "    lost = (high * other - product) + low * other\n"
                           "    other = y - other\n"
                           "    lost = (lost + high * other) + low * other\n";

/* x / n as whole + rest. */
static const char parted[] = "\ndef parted(whole, rest, side, work, lost, high, low, other, n):\n"
                             "    side = n\n"
                             "    whole = rest / n\n"
                             "    work = whole * side\n"
                             "    slip(lost, whole, side, work, high, low, other)\n"
                             "    rest = ((rest - work) - lost) / n\n";

/* g = x a + y b + c with the errors of products and sums carried along. */
static const char turn[] = "\ndef turn(g, x, y, low_x, low_y, side, work, more, error, lost, high, "
                           "low, other, a, b, c):\n"
                           "    side = a\n"
                           "    work = x * side\n"
                           "    slip(error, x, side, work, high, low, other)\n"
                           "    error = error + low_x * side\n"
                           "    side = b\n"
                           "    more = y * side\n"
                           "    slip(lost, y, side, more, high, low, other)\n"
                           "    error = error + lost + low_y * side\n"
                           "    g = work + more\n"
                           "    side = g - work\n"
                           "    error = error + ((work - (g - side)) + (more - side))\n"
                           "    work = g + c\n"
                           "    side = work - g\n"
                           "    more = c - side\n"
                           "    error = error + ((g - (work - side)) + more)\n"
                           "    g = work + error\n"
                           "    side = g - work\n"
                           "    error = error - side\n";

/* Pixels: the whole part from the rounded place, the part behind the point without cancellation. */
static const char places[] =
    "        with compute():\n"
    "            axis(gx[:t.size], px[:t.size], fx[:t.size], side[:t.size], work[:t.size], " LENT
    ", $Q$W, $X)\n"
    "            axis(gy[:t.size], py[:t.size], fy[:t.size], side[:t.size], work[:t.size], " LENT
    ", $R$Y, $Z)\n"
    "            corner(at0[:t.size], in0[:t.size], px[:t.size], py[:t.size], work[:t.size], "
    "more[:t.size], 0.0, 0.0)\n"
    "            corner(at1[:t.size], in1[:t.size], px[:t.size], py[:t.size], work[:t.size], "
    "more[:t.size], 1.0, 0.0)\n"
    "            corner(at2[:t.size], in2[:t.size], px[:t.size], py[:t.size], work[:t.size], "
    "more[:t.size], 0.0, 1.0)\n"
    "            corner(at3[:t.size], in3[:t.size], px[:t.size], py[:t.size], work[:t.size], "
    "more[:t.size], 1.0, 1.0)\n"
    "            low = reduce_min(at0[:t.size])\n"
    "            high = reduce_max(at3[:t.size])\n";

static const char helpers[] =
    "\ndef axis(g, whole, part, side, work, lost, high, low, other, $Ssize, most):\n"
    "    whole = (g * size + most) * 0.5\n"
    "$B"
    "    whole = min(max(floor(whole), -2.0), most + 2.0)\n"
    "    side = size\n"
    "    work = g * side\n"
    "    slip(lost, g, side, work, high, low, other)\n"
    "    part = (work + (most - whole * 2.0)) + lost\n"
    "$T"
    "    part = part * 0.5\n"
    "$D"
    "\ndef corner(at, inside, x, y, work, more, step_x, step_y):\n"
    "    inside = 1.0\n"
    "    work = x + step_x\n"
    "    more = y + step_y\n"
    "    at = cast(min(max(more, 0.0), $M) * $N + min(max(work, 0.0), $O), i32)\n"
    "$E";

/* Outside the image counts nothing. */
static const char zeros[] = "    inside = where(work >= 0.0, inside, 0.0)\n"
                            "    inside = where(work <= $O, inside, 0.0)\n"
                            "    inside = where(more >= 0.0, inside, 0.0)\n"
                            "    inside = where(more <= $M, inside, 0.0)\n";

static void put_corner(int k, bool whole, Buf *out)
{
    static const char indent[] = "                    ";
    if (whole) {
        buf_printf(out, "%sv%d[:t.size] = gather(plane[:k.size], at%d[:t.size])\n", indent, k, k);
    } else {
        buf_printf(out, "%snear[:t.size] = min(max(at%d[:t.size] - k.start, 0), k.size - 1)\n",
                   indent, k);
        buf_printf(out, "%swork[:t.size] = gather(plane[:k.size], near[:t.size])\n", indent);
        buf_printf(
            out, "%sv%d[:t.size] = where(at%d[:t.size] >= k.start, work[:t.size], v%d[:t.size])\n",
            indent, k, k, k);
    }
}

/* Between the columns, then between the rows. */
static const char blend[] =
    "            with compute():\n"
    "                v0[:t.size] = v0[:t.size] * in0[:t.size]\n"
    "                v1[:t.size] = v1[:t.size] * in1[:t.size]\n"
    "                v2[:t.size] = v2[:t.size] * in2[:t.size]\n"
    "                v3[:t.size] = v3[:t.size] * in3[:t.size]\n"
    "                v1[:t.size] = v1[:t.size] - v0[:t.size]\n"
    "                v0[:t.size] = fma(v1[:t.size], fx[:t.size], v0[:t.size])\n"
    "                v3[:t.size] = v3[:t.size] - v2[:t.size]\n"
    "                v2[:t.size] = fma(v3[:t.size], fx[:t.size], v2[:t.size])\n"
    "                v2[:t.size] = v2[:t.size] - v0[:t.size]\n"
    "                o[:t.size] = fma(v2[:t.size], fy[:t.size], v0[:t.size])\n";

static void put_channels(const Sample *p, Buf *out)
{
    bool whole = p->h * p->w <= CHUNK;
    script_put(&p->s,
               "        for ch in range(channels):\n"
               "            with compute():\n"
               "                v0[:t.size] = 0.0\n"
               "                v1[:t.size] = 0.0\n"
               "                v2[:t.size] = 0.0\n"
               "                v3[:t.size] = 0.0\n"
               "            for k in tiles($K, 8192):\n"
               "                if k.stop > low and k.start <= high:\n"
               "                    with copyin():\n"
               "                        load(plane[:k.size], $L)\n"
               "                    with compute():\n",
               out);
    Buf corners = {0};
    for (int k = 0; k < 4; k++)
        put_corner(k, whole, &corners);
    for (size_t i = 0; i < corners.len; i++) {
        if (i == 0 || corners.at[i - 1] == '\n')
            buf_puts(out, "    ");
        buf_char(out, corners.at[i]);
    }
    buf_free(&corners);
    buf_puts(out, blend);
    buf_puts(out, "            with copyout():\n                store(y[n, ch, t], o[:t.size])\n");
}

static void set_float(Script *s, char hole, int64_t value)
{
    script_set(s, hole, str_format(s->arena, "%lld.0", (long long)value));
}

static void set_holes(Sample *p)
{
    Script *s = &p->s;
    int64_t one = p->align;
    set_float(s, 'W', p->w - one);
    set_float(s, 'X', p->w - 1);
    set_float(s, 'Y', p->h - one);
    set_float(s, 'Z', p->h - 1);
    set_float(s, 'M', p->h - 1);
    set_float(s, 'N', p->w);
    set_float(s, 'O', p->w - 1);
    script_number(s, 'K', p->h * p->w);
    script_set(s, 'L', "x[n, ch, k]");
    if (p->resize)
        script_set(s, 'L',
                   str_format(s->arena,
                              "flat(x)[(n * channels + ch) * %lld + k.start:(n * channels + ch) * "
                              "%lld + k.stop]",
                              (long long)(p->h * p->w), (long long)(p->h * p->w)));
    script_set(s, 'B', p->border ? "    whole = min(max(whole, 0.0), most)\n" : "");
    script_set(s, 'D', p->border ? "    part = min(max(part, 0.0), 1.0)\n" : "");
    if (!p->affine)
        return;
    script_set(s, 'Q', "v0[:t.size], ");
    script_set(s, 'R', "v1[:t.size], ");
    script_set(s, 'S', "rest, ");
    script_set(s, 'T', "    part = part + rest * size\n");
    bool edge = node_bool(p->affine, AT_ALIGN);
    set_float(s, 'C', p->ow);
    set_float(s, 'G', p->ow - 1);
    set_float(s, 'H', p->oh - 1);
    set_float(s, 'I', edge && p->ow > 1 ? p->ow - 1 : p->ow);
    set_float(s, 'J', edge && p->oh > 1 ? p->oh - 1 : p->oh);
}

static void add_operands(Sample *p)
{
    Script *s = &p->s;
    const Graph *g = s->g;
    int64_t to = p->oh * p->ow;
    if (p->resize) {
        Shape in = graph_value(g, p->resize->in[0])->shape;
        script_add(s, p->resize->in[0], false, "x",
                   str_format(s->arena, "planes, 1, %lld, %lld", (long long)in.dim[2],
                              (long long)in.dim[3]),
                   (Shape){4, {in.dim[0] * in.dim[1], 1, in.dim[2], in.dim[3]}});
    } else {
        script_add(s, p->sample->in[0], false, "x",
                   str_format(s->arena, "batch, channels, %lld", (long long)(p->h * p->w)),
                   script_shape3(p->batch, p->channels, p->h * p->w));
    }
    if (p->affine)
        script_add(s, p->affine->in[0], false, "theta", "batch, 2, 3",
                   script_shape3(p->batch, 2, 3));
    else
        script_add(s, p->sample->in[1], false, "grid",
                   str_format(s->arena, "batch, %lld", (long long)(2 * to)),
                   script_shape2(p->batch, 2 * to));
    script_add(s, p->sample->out, true, "y",
               str_format(s->arena, "batch, channels, %lld", (long long)to),
               script_shape3(p->batch, p->channels, to));
}

static void put_sampler(Sample *p, Buf *out)
{
    const char *grid = p->affine ? "theta: gm[f32, batch, 2, 3]"
                                 : str_format(p->s.arena, "grid: gm[f32, batch, %lld]",
                                              (long long)(2 * p->oh * p->ow));
    buf_printf(out,
               "\n@kernel\ndef %s_sample(x: gm[f32, %s, %lld], %s, "
               "y: out[f32, batch, channels, %lld]):\n",
               p->s.name,
               p->resize ? str_format(p->s.arena, "planes, 1, %lld", (long long)p->h)
                         : "batch, channels",
               (long long)(p->resize ? p->w : p->h * p->w), grid, (long long)(p->oh * p->ow));
    buf_puts(out, buffers);
    if (!p->affine)
        buf_puts(out, "    pairs = ub(f32, 2048, depth=2)\n");
    buf_printf(out, "    for n, t in mine(batch, tiles(%lld, 1024)):\n",
               (long long)(p->oh * p->ow));
    script_put(&p->s, p->affine ? from_theta : from_grid, out);
    script_put(&p->s, places, out);
    put_channels(p, out);
    buf_puts(out, slip);
    if (p->affine)
        buf_printf(out, "%s%s", parted, turn);
    script_put(&p->s, helpers, out);
    if (!p->border)
        script_put(&p->s, zeros, out);
}

static const char *put_program(Sample *p, const NpuChip *chip, Buf *out)
{
    Script *s = &p->s;
    buf_printf(out, "# Planned by acraft for %s, strategy sample.\n", chip->name);
    buf_printf(out,
               "# Places and weights of %d outputs are made once and used for all channels; of a "
               "plane only the\n# pieces of %d elements that hold such places are read. Sizes are "
               "those of this task.\n",
               PIXELS, CHUNK);
    if (p->resize)
        buf_puts(out, "# The image is interpolated into a workspace first: places anywhere in it "
                      "may be wanted.\n");
    buf_puts(out, "craft = 1\n\n");
    if (p->resize)
        buf_puts(out, "planes = dim(1, 16777216)\n");
    buf_printf(out, "batch = dim(1, 1048576)\n");
    buf_printf(out, p->resize ? "channels = dim(%lld)\n" : "channels = dim(1, 1048576)\n",
               (long long)p->channels);
    script_put(s, "\n@host\ndef $F($P):\n", out);
    const char *grid = p->affine ? "theta" : "grid";
    if (p->resize) {
        buf_printf(out, "    image = workspace(f32, planes, 1, %lld, %lld)\n", (long long)p->h,
                   (long long)p->w);
        buf_printf(out, "    %s_resize[chip.cores](x, image)\n", s->name);
        buf_printf(out, "    %s_sample[chip.cores](image, %s, y)\n", s->name, grid);
        const char *why = resize_kernel(s->arena, s->g, p->resize, s->name, "ws", out);
        if (why)
            return why;
    } else {
        buf_printf(out, "    %s_sample[chip.cores](x, %s, y)\n", s->name, grid);
    }
    put_sampler(p, out);
    return NULL;
}

bool plan_sample(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                 const char *name, Plan *plan, Diag *diag)
{
    Sample p = {.s = {.arena = arena, .g = graph, .name = name}};
    const Node *last = &graph->nodes.at[graph->nodes.len - 1];
    (void)tile_limit;
    if (last->op != OP_GRID_SAMPLE || graph->outputs.len != 1 || graph->outputs.at[0] != last->out)
        return false;
    const char *why = read_sample(graph, &p);
    Buf out = {0};
    if (!why) {
        add_operands(&p);
        set_holes(&p);
        why = put_program(&p, chip, &out);
    }
    if (why) {
        buf_free(&out);
        diag_error(diag, "G001", last->at, "the planner cannot plan grid_sample yet: %s", why);
        return false;
    }
    script_finish(&p.s, "sample", PIXELS, &out, plan);
    return true;
}
