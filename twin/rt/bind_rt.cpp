/* The runtime of a binding program: main, and the functions of acraft/bind/runtime.h. In: one call
 * (twin/rt/bind_share.h). Out: the events of that call. */
#include "acraft/bind/python.h"
#include "acraft/host/platform.h"
#include "twin/rt/bind_fixed.h"
#include "twin/rt/watch_host.h"
#include "twin/rt/environment.h"

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string_view>
#include <unistd.h>

int acraft_user_main() __attribute__((weak));
int acraft_user_main(int, char **) __attribute__((weak));
int acraft_user_main(int, const char **) __attribute__((weak));

namespace {

/* Before main only functions are added, by constructors in any order. */
std::vector<acraft::bind::Function> &functions()
{
    static std::vector<acraft::bind::Function> list;
    return list;
}

std::string events, request;
size_t at = 0;
uint64_t next_address = 0;
std::vector<std::string_view> answers; /* parts of the request */
size_t next_answer = 0;
bool unheard = false; /* events of a first call are not kept */

void flush()
{
    const char *from = events.data();
    size_t left = events.size();
    while (left > 0) {
        ssize_t wrote = write(BIND_FD_EVENTS, from, left);
        if (wrote <= 0) _exit(3);
        from += wrote;
        left -= static_cast<size_t>(wrote);
    }
    events.clear();
}

[[noreturn]] void finish(int status)
{
    std::cout.flush();
    fflush(nullptr);
    flush();
    _exit(status);
}

void read_request()
{
    uint64_t bytes = 0;
    if (read(BIND_FD_REQUEST, &bytes, sizeof bytes) != sizeof bytes) _exit(3);
    request.resize(bytes);
    size_t done = 0;
    for (ssize_t got; done < request.size(); done += static_cast<size_t>(got))
        if ((got = read(BIND_FD_REQUEST, &request[done], request.size() - done)) <= 0) _exit(3);
}

template <class T> T take()
{
    T v;
    if (request.size() - at < sizeof v) _exit(3);
    memcpy(&v, request.data() + at, sizeof v);
    at += sizeof v;
    return v;
}

std::string_view take_view()
{
    uint32_t n = take<uint32_t>();
    if (request.size() - at < n) _exit(3);
    at += n;
    return std::string_view(request).substr(at - n, n);
}

std::string take_text() { return std::string(take_view()); }

at::Tensor take_tensor()
{
    at::Tensor t;
    t.there = true;
    t.room.address = take<uint64_t>();
    t.offset = take<int64_t>();
    t.type = static_cast<c10::ScalarType>(take<uint32_t>());
    uint32_t rank = take<uint32_t>();
    for (uint32_t d = 0; d < rank; d++) t.size_.push_back(take<int64_t>());
    for (uint32_t d = 0; d < rank; d++) t.stride_.push_back(take<int64_t>());
    t.room.bytes = t.nbytes();
    return t;
}

acraft::bind::Value take_value()
{
    acraft::bind::Value v;
    v.kind = take<uint8_t>();
    switch (v.kind) {
    case BIND_INT: v.i = take<int64_t>(); break;
    case BIND_FLOAT: v.f = take<double>(); break;
    case BIND_BOOL: v.i = take<uint8_t>(); break;
    case BIND_TEXT: v.text = take_text(); break;
    case BIND_TENSOR: v.tensor = take_tensor(); break;
    case BIND_LIST:
        for (uint32_t n = take<uint32_t>(); n > 0; n--) v.list.push_back(take_value());
        break;
    default: break;
    }
    return v;
}

void take_chip()
{
    static std::string soc = take_text();
    static AcraftHostChip chip = {};
    chip.soc = soc.c_str();
    chip.aic = take<uint32_t>();
    chip.aiv = take<uint32_t>();
    uint64_t sizes[7];
    for (uint64_t &size : sizes) size = take<uint64_t>();
    chip.ub = sizes[0];
    chip.l1 = sizes[1];
    chip.l0a = sizes[2];
    chip.l0b = sizes[3];
    chip.l0c = sizes[4];
    chip.l2 = sizes[5];
    chip.system_workspace = sizes[6];
    platform_ascendc::current_chip() = &chip;
}

void describe()
{
    for (const acraft::bind::Function &f : functions()) {
        acraft::bind::put_u8(BIND_FUNCTION);
        acraft::bind::put_text(f.name.c_str());
        acraft::bind::put_u32(static_cast<uint32_t>(f.arity));
        acraft::bind::put_u32(static_cast<uint32_t>(f.parameters.size()));
        for (const acraft::bind::Parameter &parameter : f.parameters) acraft::bind::put_value(parameter.name);
    }
    if (&static_cast<int (&)()>(acraft_user_main) || &static_cast<int (&)(int, char **)>(acraft_user_main) ||
        &static_cast<int (&)(int, const char **)>(acraft_user_main)) {
        acraft::bind::put_u8(BIND_FUNCTION);
        acraft::bind::put_text("main");
        acraft::bind::put_u32(0);
        acraft::bind::put_u32(0);
    }
}

void run_main(const std::vector<acraft::bind::Argument> &given)
{
    std::vector<std::string> words = {"program"};
    for (const acraft::bind::Argument &a : given) words.push_back(a.value.text);
    std::vector<char *> argv;
    for (std::string &word : words) argv.push_back(&word[0]);
    argv.push_back(nullptr);
    int argc = static_cast<int>(words.size());
    int (*plain)() = acraft_user_main;
    int (*with_args)(int, char **) = acraft_user_main;
    int (*with_const)(int, const char **) = acraft_user_main;
    int status = plain       ? plain()
                 : with_args ? with_args(argc, argv.data())
                             : with_const(argc, const_cast<const char **>(argv.data()));
    acraft::bind::put_u8(BIND_DONE);
    acraft::bind::put_u8(BIND_INT);
    acraft::bind::put_i64(status);
}

/* Positional arguments, then keywords by name, then defaults. */
std::vector<acraft::bind::Value> arrange(const acraft::bind::Function &f,
                                         const std::vector<acraft::bind::Argument> &given)
{
    using acraft::bind::fail;
    std::vector<acraft::bind::Value> args(f.arity);
    std::vector<bool> set(f.arity, false);
    size_t place = 0;
    for (const acraft::bind::Argument &a : given) {
        size_t to = place;
        if (a.name.empty()) {
            place++;
        } else {
            for (to = 0; to < f.parameters.size() && f.parameters[to].name != a.name;) to++;
            if (to == f.parameters.size()) fail((f.name + "() has no argument '" + a.name + "'").c_str());
        }
        if (to >= f.arity)
            fail(c10::str(f.name, "() takes ", f.arity, " arguments, got ", given.size()).c_str());
        args[to] = a.value;
        set[to] = true;
    }
    for (size_t i = 0; i < f.arity; i++) {
        if (set[i]) continue;
        if (i >= f.parameters.size() || !f.parameters[i].has_default)
            fail(c10::str(f.name, "() takes ", f.arity, " arguments, got ", given.size()).c_str());
        args[i] = f.parameters[i].value;
    }
    return args;
}

void call(const std::string &name)
{
    std::vector<acraft::bind::Argument> given;
    for (uint32_t n = take<uint32_t>(); n > 0; n--) {
        std::string key = take_text();
        given.push_back({key, take_value()});
    }
    for (uint32_t n = take<uint32_t>(); n > 0; n--) answers.push_back(take_view());
    bool twice = take<uint8_t>();
    if (name == "main") return run_main(given);
    for (const acraft::bind::Function &f : functions()) {
        if (f.name != name) continue;
        if (twice) {
            unheard = true;
            uint64_t course = 0;
            bool same = true;
            for (int n = 0; n < BIND_UNHEARD_CALLS; n++) {
                watch_course = 0;
                f.call(arrange(f, given));
                course = n == 1 ? watch_course : course;
                same = same && (n < 2 || watch_course == course);
                next_answer = 0;
            }
            unheard = false;
            if (!same) acraft::bind::put_u8(BIND_COUNTS);
        }
        return f.call(arrange(f, given));
    }
    acraft::bind::fail(("the binding has no function '" + name + "'").c_str());
}

}  // namespace

namespace acraft {
namespace bind {

void put(const void *bytes, size_t count)
{
    if (unheard) return;
    events.append(static_cast<const char *>(bytes), count);
    if (events.size() > 1 << 20) flush();
}

uint64_t alloc(uint64_t bytes)
{
    uint64_t address = next_address;
    next_address += (bytes + 0x1fffff) / 0x200000 * 0x200000 + 0x200000;
    put_u8(BIND_ALLOC);
    put_u64(address);
    put_u64(bytes);
    return address;
}

static const std::string_view *answered() { return next_answer < answers.size() ? &answers[next_answer++] : nullptr; }

void read(uint64_t address, uint64_t bytes, void *to)
{
    const std::string_view *answer = answered();
    put_u8(BIND_READ);
    put_u64(address);
    put_u64(bytes);
    if (!answer) finish(0);
    memcpy(to, answer->data(), answer->size() < bytes ? answer->size() : bytes);
}

size_t read_file(const char *path, void *to, size_t most)
{
    const std::string_view *answer = answered();
    put_u8(BIND_FILE);
    put_text(path);
    put_u64(most);
    if (!answer) finish(0);
    size_t n = answer->size() < most ? answer->size() : most;
    memcpy(to, answer->data(), n);
    return n;
}

void fail(const char *text)
{
    put_u8(BIND_FAILED);
    put_text(text);
    finish(0);
}

void unsupported(const char *name)
{
    put_u8(BIND_UNSUPPORTED);
    put_text(name);
    finish(0);
}

void add_function(Function f)
{
    for (Function &known : functions())
        if (known.name == f.name && known.parameters.size() >= f.parameters.size()) return;
    functions().push_back(std::move(f));
}

}  // namespace bind
}  // namespace acraft

static bool is_program = false; /* it may look; there is nothing */

extern "C" char *getenv(const char *name) noexcept
{
    if (is_program || !next_address || !environment_always_has(name)) return nullptr; /* or before main */
    unheard = false;
    acraft::bind::fail((std::string("it asks for the environment variable '") + name +
                        "', which every board has set and nobody here").c_str());
    return nullptr;
}

extern "C" char *secure_getenv(const char *name) noexcept { return getenv(name); }

int main()
{
    std::set_new_handler([] { _exit(97); }); /* BOX_STATUS_MEMORY */
    watch_into(BIND_FD_SEEN);
    read_request();
    std::string name = take_text();
    is_program = name == "main";
    next_address = take<uint64_t>();
    take_chip();
    try {
        if (name.empty()) describe();
        else call(name);
    } catch (const std::exception &e) {
        acraft::bind::fail(e.what());
    }
    finish(0);
}
