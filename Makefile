# One Makefile, not recursive over folders. Each folder of src/ becomes one static archive; what
# a folder may use stands in tools/layers.txt and nowhere else.
#
#   make                    the program: $(OUT)/acraft
#   make lib-F  test-F      one folder; only the archives it needs are built
#   make check              every test, the golden files, the include rule
#   make fuzz-NAME          fuzz with tests/fuzz/NAME_fuzz.c for FUZZ_SECONDS
#   make mutation           slips put into kernels: how many the twin notices
#   make bench  soak        benchmarks; all fuzzers and the hostile build, for long
#   make install  uninstall PREFIX=/usr/local, DESTDIR; also: deb, dist, wheel
#   make fmt  fmt-check     clang-format
#   make tidy               clang-tidy over src/, or TIDY="src/cmd/say.c ..."
#   make links  docs-check  no dead link in a document; the commands of the documents are run
#   make coverage           line coverage of src/ by the tests, folder by folder
#   make aarch64            cross-compiles everything and runs the tests that start no process under qemu-user
#   make html               the documents as web pages, for reading offline (needs pandoc)
#
#   B=debug|release|asan|hostile|cov   CC=gcc|clang   BUILD=build   V=1 shows the commands

B     ?= debug
BUILD ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
OUT := $(BUILD)/$(B)-$(notdir $(firstword $(CC)))
Q   := $(if $(V),,@)

# --- flags ---------------------------------------------------------------------------------

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

FLAGS_debug   := -O0 -g
FLAGS_release := -O2 -g
FLAGS_asan    := -O1 -g $(SANITIZE)
FLAGS_hostile := -O1 -g $(SANITIZE) -DACRAFT_HOSTILE
FLAGS_cov     := -O0 -g --coverage
# Counters alone guide the fuzzers: tracing comparisons too made them ten times slower.
FLAGS_fuzz    := -O2 -g $(SANITIZE) -fsanitize-coverage=inline-8bit-counters,pc-table

ifeq ($(FLAGS_$(B)),)
$(error B=$(B) is none of debug release asan hostile cov)
endif

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
CFLAGS_ALL := -std=c17 -D_GNU_SOURCE -ffp-contract=off $(WARN) $(FLAGS_$(B)) -pthread -I src -I . -MMD -MP
LDFLAGS_ALL := $(FLAGS_$(B)) -pthread

# What single folders need beyond that: CFLAGS_F to compile, LDLIBS_F to link.
IS_GCC := $(findstring gcc,$(CC))
# Nothing in graph reads errno or floating-point traps; without them its loops vectorise.
CFLAGS_graph := -fno-math-errno -fno-trapping-math $(if $(IS_GCC),-fopenmp) \
                $(if $(filter release,$(B)),-O3)
# What every draw, comparison and record goes through: the tests under sanitizers wait for it.
CFLAGS_base := $(if $(filter asan,$(B)),-O2)
CFLAGS_graph += $(if $(filter asan,$(B)),-O2)
CFLAGS_nn := -fno-math-errno -fno-trapping-math $(if $(filter release,$(B)),-O3)
CFLAGS_sim := -fno-math-errno $(if $(filter release,$(B)),-O3) $(if $(filter asan,$(B)),-O2)

LDLIBS_base    := -lm
LDLIBS_verdict := -ljansson
LDLIBS_graph   := -lgomp
LDLIBS_box     := -lseccomp
LDLIBS_nn      := -ljansson -ldl
LDLIBS_gen     := -lcurl -ljansson
LDLIBS_store   := -lsqlite3 -lzstd
LDLIBS_report  := -lz -ljansson
LDLIBS_loop    := -lz
LDLIBS_cmd     := -lmicrohttpd

# --- folders, archives, objects ------------------------------------------------------------

LAYERS  := tools/layers.txt
FOLDERS := $(shell awk -F: '/^[a-z]+:/ {print $$1}' $(LAYERS))
row      = $(shell awk -F: '$$1 == "$1" {print $$2}' $(LAYERS))
$(foreach f,$(FOLDERS),$(eval USES_$f := base $(call row,$f)))
USES_base :=

reverse  = $(if $1,$(call reverse,$(wordlist 2,$(words $1),$1)) $(firstword $1))
# A folder and all it rests on, users before used, as the linker wants them.
reach    = $(sort $1 $(foreach f,$1,$(if $(USES_$f),$(call reach,$(USES_$f)))))
ordered  = $(call reverse,$(filter $1,$(FOLDERS)))
closure  = $(call ordered,$(call reach,$1))
archives = $(patsubst %,$(OUT)/lib%.a,$(call closure,$1))
libs     = $(foreach f,$(call closure,$1),$(LDLIBS_$f))

objects    = $(patsubst %.c,$(OUT)/%.o,$(wildcard $1))
# What each archive is made of; cmd's main stays out so that its tests can have their own.
MAIN      := $(OUT)/src/cmd/main.o
lib_objs   = $(filter-out $(MAIN),$(call objects,src/$1/*.c src/$1/*/*.c src/$1/*/*/*.c))
test_objs  = $(call objects,tests/$1/*_test.c)
TESTED    := $(foreach f,$(FOLDERS),$(if $(wildcard tests/$f/*_test.c),$f))
FUZZERS   := $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))
BENCHES   := $(patsubst bench/%.c,%,$(wildcard bench/*.c))
# A fuzzer belongs to the folder its name starts with: sim_record_fuzz.c links sim's archives.
fuzz_home  = $(firstword $(subst _, ,$1))

.PHONY: all everything check golden layers apis mutation fmt fmt-check bench soak clean coverage
.PHONY: links docs-check trainers tidy html aarch64
.DELETE_ON_ERROR:
# Objects stay; one that is missing is made, whatever the age of its archive.
.PRECIOUS: $(OUT)/src/%.o $(OUT)/tests/%.o $(OUT)/bench/%.o
all: $(OUT)/acraft

# $1 folder of the source; $2 source; $3 object
define compile
@mkdir -p $(dir $3)
$(if $(V),,@echo "  CC  $2")
$(Q)$(CC) $(CFLAGS_ALL) $(CFLAGS_$1) $(CFLAGS) -c -o $3 $2
endef

$(OUT)/src/%.o: src/%.c
	$(call compile,$(firstword $(subst /, ,$*)),$<,$@)
$(OUT)/tests/%.o: tests/%.c
	$(call compile,$(firstword $(subst /, ,$*)),$<,$@)
$(OUT)/bench/%.o: bench/%.c
	$(call compile,bench,$<,$@)

# The assembler takes these in (asset.c), where no compiler sees the dependence.
$(OUT)/src/report/asset.o: $(wildcard src/report/*.css src/report/*.js)
$(OUT)/src/gen/cuda/prelude.o: src/gen/cuda/prelude.cuh
$(OUT)/src/gen/cpu/prelude.o: src/gen/cpu/prelude.h

define link
@mkdir -p $(dir $@)
$(if $(V),,@echo "  LD  $@")
$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $1 $(LDFLAGS) $2
endef

define folder_rules
.PHONY: lib-$1 test-$1
lib-$1: $(OUT)/lib$1.a
$(OUT)/lib$1.a: $(call lib_objs,$1)
	@mkdir -p $$(@D)
	$(Q)rm -f $$@ && ar rcs $$@ $$^
TEST_ARCHIVES_$1 := $(call archives,$1 $(call row,tests/$1))
$(OUT)/test-$1: $(call test_objs,$1) $(OUT)/tests/t.o $$(TEST_ARCHIVES_$1)
	$$(call link,$$^,$$(call libs,$1 $(call row,tests/$1)))
test-$1: $(OUT)/test-$1
	@echo "  TEST $1"
	@ACRAFT=$(OUT)/acraft $(RUN) $$(abspath $$<)
endef
$(foreach f,$(FOLDERS),$(eval $(call folder_rules,$f)))

# Every archive, test and program, without running any.
everything: $(OUT)/acraft $(patsubst %,$(OUT)/test-%,$(TESTED)) \
            $(patsubst %,$(OUT)/replay-%,$(FUZZERS)) $(patsubst %,$(OUT)/bench-%,$(BENCHES))

$(OUT)/acraft: $(MAIN) $(call archives,cmd)
	$(call link,$^,$(call libs,cmd))

# --- tests ---------------------------------------------------------------------------------

# The longest first, so that the others run beside it.
check: test-loop $(addprefix test-,$(TESTED)) $(addprefix replay-,$(FUZZERS)) golden layers apis links

golden: $(OUT)/acraft
	@echo "  TEST golden"
	@ACRAFT=$(abspath $(OUT)/acraft) tests/run
layers:
	@echo "  TEST layers"
	@tools/layers
links:
	@echo "  TEST links"
	@tools/links
# DOCS=--all runs what takes long, too.
docs-check: $(OUT)/acraft
	@echo "  TEST documents"
	@tests/docs $(abspath $(OUT)/acraft) $(DOCS)
# The types of the Python package; the rewards inside TRL's own trainer, and a thousand in verl's signature; a thousand rows through what TRL's
# trainers do with a data set; packages from PyPI, below BUILD.
trainers: $(OUT)/acraft
	python3 -m venv $(BUILD)/venv
	$(BUILD)/venv/bin/pip install -q pytest numpy torch transformers trl datasets mypy
	PYTHONPATH=python $(BUILD)/venv/bin/mypy --strict --cache-dir=$(BUILD)/mypy python/acraft
	ACRAFT_ALL=1 PYTHON=$(BUILD)/venv/bin/python tests/python_client $(OUT)/acraft
	$(OUT)/acraft data make --rows 2200 --brief --mix write=50,repair=50 --text 0 -o $(BUILD)/trl-rows
	$(BUILD)/venv/bin/python tools/export_trl.py $(BUILD)/trl-rows 1000
	tools/llamafactory.py $(BUILD)/trl-rows
# Every call of the twin's headers has a test kernel.
apis:
	@echo "  TEST apis"
	@tools/api_cover

FUZZ_SECONDS ?= 60
# Short inputs are tried far more often, and say as much.
FUZZ_FLAGS_craft := -max_len=512
FUZZ_FLAGS_craft_tokens := -max_len=48
FUZZ_FLAGS_ir := -max_len=3000
FUZZ_FLAGS_emit_ir := -max_len=3000
define fuzz_rules
.PHONY: fuzz-$1 replay-$1
$(OUT)/fuzz-$1: $(OUT)/tests/fuzz/$1_fuzz.o $(call archives,$(call fuzz_home,$1))
	$$(call link,$$^,-fsanitize=fuzzer $$(call libs,$(call fuzz_home,$1)))
$(OUT)/replay-$1: $(OUT)/tests/fuzz/$1_fuzz.o $(OUT)/tests/fuzz/replay.o \
                  $(call archives,$(call fuzz_home,$1))
	$$(call link,$$^,$$(call libs,$(call fuzz_home,$1)))
replay-$1: $(OUT)/replay-$1
	@echo "  TEST replay $1"
	@$$< tests/fuzz/corpus/$1
ifeq ($(B),fuzz)
fuzz-$1: $(OUT)/fuzz-$1
	@mkdir -p $(BUILD)/corpus/$1 tests/fuzz/corpus/$1
	$$< -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -artifact_prefix=$(BUILD)/ \
	    -entropic=0 -print_final_stats=1 $(FUZZ_FLAGS_$1) $(BUILD)/corpus/$1 tests/fuzz/corpus/$1
else
fuzz-$1:
	$$(MAKE) B=fuzz CC=clang fuzz-$1
endif
endef
$(foreach f,$(FUZZERS),$(eval $(call fuzz_rules,$f)))

soak:
	$(MAKE) B=hostile check
	$(MAKE) B=release SOAK_KILLS=50 T_FILTER=bench_survives T_SECONDS=3000 test-loop
	$(MAKE) B=release ACRAFT_ALL=1 T_FILTER=bound_is_never T_SECONDS=3000 test-loop
	$(MAKE) B=release ACRAFT_ALL=1 T_FILTER=reach_more T_SECONDS=3000 test-loop
	$(MAKE) B=release ACRAFT_ALL=1 T_FILTER=tricks_ T_SECONDS=3000 test-loop
	$(MAKE) B=release SOAK_RUNS=1040 T_FILTER=hostile_kernels_leave T_SECONDS=3000 test-twin
	$(MAKE) B=release DOCS=--all docs-check
	$(MAKE) B=release trainers
	tests/install
	$(MAKE) coverage
	$(MAKE) aarch64
	$(foreach f,$(FUZZERS),$(MAKE) fuzz-$f &&) true

$(OUT)/bench-%: $(OUT)/bench/%.o $(call archives,cmd)
	$(call link,$^,$(call libs,cmd))
# How many slips in a kernel the twin notices; docs/twin.md.
$(OUT)/tools/%.o: tools/%.c
	$(call compile,tools,$<,$@)
$(OUT)/mutate: $(call objects,tools/mutate/*.c) $(call archives,twin)
	$(call link,$^,$(call libs,twin))
mutation: $(OUT)/mutate
	@echo "  TEST mutation"
	@$< --most 3 --least 99 --list tools/mutate/kernels.txt > $(OUT)/mutation.txt || \
	    { cat $(OUT)/mutation.txt; exit 1; }
bench: $(patsubst %,$(OUT)/bench-%,$(BENCHES)) $(OUT)/acraft
	@for b in $(BENCHES); do echo "== $$b"; ACRAFT=$(OUT)/acraft $(OUT)/bench-$$b || exit 1; done

# Lines covered per folder, from the counters a `make B=cov check` leaves.
coverage:
	$(MAKE) B=cov CC=gcc check
	@tools/coverage $(BUILD)/cov-gcc

# --- AArch64 -------------------------------------------------------------------------------

# Many Ascend hosts are AArch64. The tests of the folders named here start no other program, so that
# qemu's user mode runs them on any machine; docs/build.md names the packages.
AARCH64 := B=release CC=aarch64-linux-gnu-gcc
RUN     ?=
aarch64:
	$(MAKE) $(AARCH64) everything
	$(MAKE) $(AARCH64) RUN=qemu-aarch64-static T_SKIP=harness_ $(addprefix test-,base verdict npu graph torch ir craft lower sim nn)

# --- CUDA ----------------------------------------------------------------------------------

# The library that `acraft train --device cuda` loads, and what tests it on a machine with a GPU.
# Nothing else needs nvcc.
NVCC      ?= $(firstword $(wildcard $(shell command -v nvcc) /usr/local/cuda/bin/nvcc))
NVFLAGS   := -std=c++17 -O3 -gencode=arch=compute_90,code=sm_90 -I src -Xcompiler -fPIC -MMD -MP
CUDA_OBJS := $(patsubst %.cu,$(OUT)/%.cu.o,$(wildcard src/nn/cuda/*.cu))
CUDA_LIBS := -lcublasLt
CUDA_ALL  := $(addprefix $(OUT)/,libacraft_cuda.so kernels-cuda model-cuda)
.PHONY: cuda
ifneq ($(NVCC),)
cuda: $(CUDA_ALL)
$(OUT)/%.cu.o: %.cu
	@mkdir -p $(@D)
	$(if $(V),,@echo "  NVCC $<")
	$(Q)$(NVCC) $(NVFLAGS) -c -o $@ $<
$(OUT)/libacraft_cuda.so: $(CUDA_OBJS)
	$(Q)$(NVCC) -shared -o $@ $^ $(CUDA_LIBS)
$(OUT)/kernels-cuda: $(OUT)/tests/nn/cuda/kernels.cu.o $(CUDA_OBJS) $(call archives,nn)
	$(Q)$(NVCC) -o $@ $^ $(CUDA_LIBS) -lm
$(OUT)/model-cuda: $(OUT)/tests/nn/cuda/model.o $(call archives,nn)
	$(call link,$^,$(call libs,nn))
else
cuda:
	@echo "nvcc is not here: the CUDA library is not built, everything else is" >&2; exit 1
endif

# --- installing ----------------------------------------------------------------------------

# The optimised program with what it reads at run time, below share/acraft, where it looks for it from
# bin/: the tree can be moved as a whole. DESTDIR is put in front of everything, as packagers want it.
PREFIX  ?= /usr/local
VERSION := $(shell sed -n 's/.*ACRAFT_VERSION "\(.*\)".*/\1/p' src/base/version.h)
SHARE   := $(DESTDIR)$(PREFIX)/share
MAN     := $(SHARE)/man/man1
# Headers that kernels are compiled with, the texts and tables that commands read, the Python package.
SHARED   = $(shell find twin docs examples tasks weights -type f) $(shell find src -name '*.h' -o -name '*.def') \
           $(shell find python/acraft -name '*.py') python/acraft/py.typed python/pyproject.toml
COMMANDS = $(shell $(RELEASE) --help=words)
RELEASE := $(BUILD)/release-gcc/acraft
.PHONY: install uninstall deb dist wheel release
release:
	$(MAKE) B=release CC=gcc
# Directories that were not there before are noted, so that uninstall takes only those away.
INTO := bin share share/acraft share/man share/man/man1 share/bash-completion share/bash-completion/completions \
        share/zsh share/zsh/site-functions
install: release
	@missing=$$(for d in . $(INTO); do test -d "$(DESTDIR)$(PREFIX)/$$d" || echo "$$d"; done); mkdir -p $(SHARE)/acraft; \
	echo "$$missing" >> $(SHARE)/acraft/.directories
	install -D -m 755 -s $(RELEASE) $(DESTDIR)$(PREFIX)/bin/acraft
	mkdir -p $(SHARE)/acraft $(MAN)
	tar -cf - $(SHARED) LICENSE NOTICE.md | tar -xf - --no-same-owner -C $(SHARE)/acraft
	find $(SHARE)/acraft -type d -exec chmod 755 {} + -o -type f -exec chmod a+r,go-w {} +
	$(RELEASE) --help=man > $(MAN)/acraft.1
	for c in $(COMMANDS); do $(RELEASE) $$c --help=man > $(MAN)/acraft-$$c.1 || exit 1; done
	install -D -m 644 tools/completion/acraft.bash $(SHARE)/bash-completion/completions/acraft
	install -D -m 644 tools/completion/_acraft $(SHARE)/zsh/site-functions/_acraft
uninstall:
	@made=$$(LC_ALL=C sort -ru $(SHARE)/acraft/.directories 2>/dev/null); rm -rf $(SHARE)/acraft; \
	rm -f $(DESTDIR)$(PREFIX)/bin/acraft $(MAN)/acraft.1 $(MAN)/acraft-*.1; \
	rm -f $(SHARE)/bash-completion/completions/acraft $(SHARE)/zsh/site-functions/_acraft; \
	for d in $$made; do rmdir --ignore-fail-on-non-empty "$(DESTDIR)$(PREFIX)/$${d#.}" 2>/dev/null || true; done

# A Debian package that brings the compiler and the libraries it needs, and the tracked files as one
# archive with its checksum.
deb: release
	tools/deb $(VERSION) $(BUILD)
wheel: # from a copy: setuptools leaves files beside what it packs
	rm -rf $(BUILD)/python && mkdir -p $(BUILD) && cp -r python $(BUILD)/python
	python3 -m pip wheel --no-deps -w $(BUILD) $(BUILD)/python
dist:
	mkdir -p $(BUILD)
	git archive --prefix=acraft-$(VERSION)/ -o $(BUILD)/acraft-$(VERSION).tar.gz HEAD
	cd $(BUILD) && sha256sum acraft-$(VERSION).tar.gz \
	    $$(ls acraft_$(VERSION)_*.deb acraft-$(VERSION)-*.whl 2>/dev/null) > SHA256SUMS

# --- the rest ------------------------------------------------------------------------------

FORMATTED = $(wildcard src/*/*.[ch] src/*/*/*.[ch] src/*/*/*/*.[ch] tests/*.[ch] tests/*/*.[ch] bench/*.[ch] tools/*/*.[ch])
fmt:
	@clang-format -i $(FORMATTED)
fmt-check:
	@echo "  TEST format"
	@bad=$$(clang-format --dry-run -Werror $(FORMATTED) 2>&1 | sed -n "s/:.*error: .*//p" | sort -u); \
	if [ -n "$$bad" ]; then echo "make fmt would change:" $$bad; exit 1; fi

TIDY ?= $(wildcard src/*/*.c src/*/*/*.c src/*/*/*/*.c)
tidy:
	@echo "  TEST tidy"
	@printf '%s\n' $(TIDY) | xargs -P $$(nproc) -n 8 sh -c 'clang-tidy --quiet "$$@" -- \
	    -std=c17 -D_GNU_SOURCE -pthread -I src -I . 2>/dev/null' tidy

html:
	@mkdir -p $(BUILD)/html/docs
	cp -r docs/*.png docs/*.svg docs/craft.grammar docs/schema $(BUILD)/html/docs
	for f in README CONTRIBUTING SECURITY NOTICE CHANGELOG $(patsubst %.md,%,$(wildcard docs/*.md)); do \
	    sed 's/\.md)/.html)/g; s/\.md#/.html#/g' $$f.md | pandoc -f gfm -t html -s --metadata title="acraft: $$f" \
	        -o $(BUILD)/html/$$f.html || exit 1; done

clean:
	rm -rf $(BUILD)

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
