# dtrap: build, test and install.  `make' builds ./dtrap; `make deps' brings
# what is missing; the rest of the targets are listed by `make help'.
#
# MACHINE is the machine that is built for and traced on.  B is the build directory, SAN extra flags for compiling and linking, WERROR
# empty or -Werror (the developer's build), PREFIX and DESTDIR as usual.  V=1
# shows commands; otherwise each file that is made is a line.

# The one place that says which version this is: NEWS, the tag of a release
# and what Debian's package is called are held against it (`make dist').  C has
# it as DTRAP_VERSION from "tracer/build.h".
VERSION := 0.1

# no: without libctf, whose licence is the GPL (doc/licences.md); types then come
# from DWARF alone.
CTF ?= yes

CC ?= gcc
CFLAGS ?= -O2 -g

# What a room does for one machine is in a folder of the machine's name there;
# disasm/ has one for each (doc/porting.md).  none is a machine on which no
# program can be traced: the least that compiles.
MACHINE ?= $(shell uname -m)
MACHINES := $(patsubst disasm/%/,%,$(wildcard disasm/*/))
ifeq ($(filter $(MACHINE),$(MACHINES)),)
$(error there is no port to $(MACHINE), see doc/porting.md; MACHINE=none builds \
	what compiles D programs and traces nothing)
endif
B ?= $(if $(filter none,$(MACHINE)),build/none,build)
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

# $(call q,WHAT,FILE) stands before a command that makes FILE, $(Q) before others
# that are shown with V=1 only.
Q := $(if $(filter 1,$(V)),,@)
SILENT := $(findstring s,$(firstword -$(filter-out --%,$(MAKEFLAGS))))
q = $(Q)$(if $(Q),$(if $(SILENT),,printf '  %-7s %s\n' $(1) $(or $(2),$@);))

# ./dtrap is the ordinary build; any other stays in its own directory.
PROG := $(if $(filter build,$(B)),dtrap,$(B)/dtrap)
PLOCKSTAT := $(if $(filter build,$(B)),plockstat,$(B)/plockstat)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wpointer-arith -Wwrite-strings -Wvla -Wundef \
	-Wformat=2 -Wimplicit-fallthrough -Wconversion -Wno-sign-conversion \
	-Wno-unused-parameter $(WERROR)
GCCWARN := $(if $(findstring clang,$(CC)),,-Wlogical-op -Wduplicated-cond)
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(CPPFLAGS) -I. -I$(B)/gen $(WARN) \
	$(GCCWARN) $(CFLAGS) $(SAN)
GEN_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(CPPFLAGS) -I. -I$(B)/gen \
	-Wall -Wno-unused-function $(CFLAGS) $(SAN)
LIBS := -ldl -lunwind-generic -ldw -lelf $(if $(filter no,$(CTF)),,-lctf-nobfd) -lz -llzma -lyajl -lncursesw -ltinfo -liberty -lm

define newline


endef
comma := ,

# A room is a folder below these.  Those that are no part of the two programs are
# built for another place (inject/agent, inject/trap, sdt) or another time
# (dlang/man).
below = $(foreach d,$(patsubst %/,%,$(wildcard $(1)/*/)),$(d) $(call below,$(d)))
FOLDERS := $(filter-out $(addprefix %/,$(filter-out $(MACHINE),$(MACHINES))),\
	$(foreach d,dlang disasm symbols inject sdt tracer,$(d) $(call below,$(d))))
ROOMS := $(filter-out dlang/man inject/trap% inject/agent% sdt%,$(FOLDERS))
NOTSRC := tracer/dtrap.c tracer/plockstat.c $(if $(filter no,$(CTF)),\
	symbols/dwarf/ctf.c symbols/dwarf/ctf_check.c,symbols/dwarf/ctf_none.c)
SRC := $(filter-out $(NOTSRC),$(foreach d,$(ROOMS),$(wildcard $(d)/*.c)))
GENSRC := $(if $(wildcard dlang/cc/parse.y),$(B)/gen/dlang/cc/parse.c \
	$(B)/gen/dlang/cc/lex.c) $(B)/gen/tracer/build/sdt_text.c \
	$(B)/gen/tracer/consume/picture_js.c \
	$(B)/gen/tracer/consume/report_parts.c $(B)/gen/inject/trap_code.c \
	$(B)/gen/tracer/fast/agent_blob.c
# Included, not compiled: names of numbers from the system's headers.
GENDEF := $(B)/gen/tracer/fire/names.def
OBJ := $(SRC:%.c=$(B)/host/%.o) $(GENSRC:$(B)/gen/%.c=$(B)/host/gen/%.o)
LIB := $(B)/libdtrap.a

# The library of programs that make probes while they run.  It may be changed without
# a new link of the programs as long as the number is the same.
SDT_SONAME := libdtrap-sdt.so.1
SDT_LIBS := $(addprefix $(B)/,$(SDT_SONAME) libdtrap-sdt.so libdtrap-sdt.a)

# What completes command lines.
COMPLETION := $(B)/completion/dtrap $(B)/completion/_dtrap

all: $(PROG) $(PLOCKSTAT) $(SDT_LIBS) $(COMPLETION)

$(B)/completion/dtrap: completion/dtrap.bash.in
$(B)/completion/_dtrap: completion/dtrap.zsh.in
$(COMPLETION): completion/options.awk dlang/options.def
	@mkdir -p $(@D)
	$(call q,GEN)awk -f completion/options.awk dlang/options.def \
		$(filter %.in,$^) >$@.new
	@mv $@.new $@

$(PROG): $(B)/host/tracer/dtrap.o $(LIB)
	$(call q,LINK)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS)

$(PLOCKSTAT): $(B)/host/tracer/plockstat.o $(LIB)
	$(call q,LINK)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS)

# With the header, for the sake of CTF=no: other objects, and none of them new.
$(LIB): $(OBJ) $(B)/gen/tracer/build.h
	@rm -f $@
	$(call q,AR)ar rcs $@ $(OBJ)

# What the source asks about this build.  It is written again only when it says
# something else, so that nothing is compiled for its date.
define BUILD_H
/*
 * Made by the Makefile.  What this build is:
 *
 *	DTRAP_VERSION   the version, a string: "0.1"
 *	DTRAP_WITHOUT   what was left out, a string for those who ask for the
 *			version: "" or " without CTF"
 */
#ifndef TRACER_BUILD_H
#define TRACER_BUILD_H

#define DTRAP_VERSION "$(VERSION)"
#define DTRAP_WITHOUT "$(if $(filter no,$(CTF)), without CTF)"

#endif
endef
export BUILD_H

BUILDH := $(B)/gen/tracer/build.h
ifneq ($(file <$(BUILDH)),$(BUILD_H))
$(BUILDH): FORCE
endif
$(BUILDH):
	@mkdir -p $(@D)
	@echo "$$BUILD_H" >$@

.PHONY: FORCE

# "dlang/machine/uregs.h" and its like are the files of this machine.
MACHINE_OK := $(B)/$(MACHINE).ok
$(MACHINE_OK): $(filter %/$(MACHINE),$(FOLDERS))
	@mkdir -p $(B)/gen
	$(Q)for d in $(filter %/$(MACHINE),$(FOLDERS)); do \
		mkdir -p $(B)/gen/$${d%/*} && \
		ln -sfnr $$d $(B)/gen/$${d%/*}/machine || exit 1; done
	@touch $@

# A missing header is one clear sentence, not a page of errors.
NEEDS := capstone/capstone.h:libcapstone-dev \
	libunwind.h:libunwind-dev \
	libelf.h:libelf-dev elfutils/libdw.h:libdw-dev \
	libiberty/demangle.h:libiberty-dev zlib.h:zlib1g-dev lzma.h:liblzma-dev \
	curses.h:libncurses-dev \
	elfutils/debuginfod.h:libdebuginfod-dev yajl/yajl_parse.h:libyajl-dev \
	$(if $(filter no,$(CTF)),,ctf-api.h:binutils-dev)
$(B)/deps.ok:
	@mkdir -p $(@D)
	@for n in $(NEEDS); do \
		echo "#include <$${n%%:*}>" | $(CC) -E -x c - >/dev/null 2>&1 || { \
		echo "make: <$${n%%:*}> (Debian package $${n#*:}) is missing: run 'make deps'" >&2; \
		exit 1; }; done
	@for n in flex bison; do command -v $$n >/dev/null || { \
		echo "make: $$n is missing: run 'make deps'" >&2; exit 1; }; done
	@touch $@

# $(call cc,FILE,OBJECT): how most files are compiled.
cc = $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $(2) $(1)

$(GENDEF): tracer/fire/names.awk tracer/fire/names_headers.h
	@mkdir -p $(@D)
	$(call q,GEN)$(CC) $(ALL_CFLAGS) -E -dM tracer/fire/names_headers.h | \
		awk -f tracer/fire/names.awk | LC_ALL=C sort >$@.new
	@test -s $@.new && mv $@.new $@

$(B)/host/%.o: %.c | $(B)/deps.ok $(MACHINE_OK) $(GENSRC) $(GENDEF) $(BUILDH)
	@mkdir -p $(@D)
	$(call q,CC,$<)$(call cc,$<,$@)

$(B)/host/gen/%.o: $(B)/gen/%.c
	@mkdir -p $(@D)
	$(call q,CC,$<)$(CC) $(GEN_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/gen/dlang/cc/parse.c: dlang/cc/parse.y | $(B)/deps.ok
	@mkdir -p $(@D)
	$(call q,BISON,$<)bison -Wall -Werror -d -o $@ $<

$(B)/gen/dlang/cc/lex.c: dlang/cc/lex.l $(B)/gen/dlang/cc/parse.c
	@mkdir -p $(@D)
	$(call q,FLEX,$<)flex -o $@ $<

# SIGTRAP's handler for inside of targets, as bytes.
TRAP_CFLAGS = -std=gnu11 -D_GNU_SOURCE -I. -I$(B)/gen $(WARN) $(GCCWARN) -Os -g0 \
	-ffreestanding -fPIC -mgeneral-regs-only -fno-stack-protector \
	-fcf-protection=none -fvisibility=hidden \
	-fno-asynchronous-unwind-tables -fno-jump-tables

$(B)/trap/handler: inject/trap/handler.c inject/trap/area.h inject/trap/trap.ld \
	$(wildcard inject/trap/$(MACHINE)/*.h) | $(MACHINE_OK)
	@mkdir -p $(@D)
	$(call q,CC,$<)$(CC) $(TRAP_CFLAGS) -nostdlib -static -no-pie -Wl,--build-id=none \
		-Wl,--no-undefined -Wl,--no-warn-rwx-segments \
		-Wl,-T,inject/trap/trap.ld -o $@ $<

$(B)/gen/inject/trap_code.c: $(B)/trap/handler
	@mkdir -p $(@D)
	$(Q)objcopy -O binary $< $(B)/trap/handler.bin
	$(call q,GEN){ echo '#include "inject/trapset.h"'; \
	  echo 'const unsigned char trap_code[] = {'; \
	  od -An -v -tx1 $(B)/trap/handler.bin | sed 's/ \(..\)/ 0x\1,/g'; \
	  echo '};'; echo 'const size_t trap_code_size = sizeof(trap_code);'; \
	} >$@

# The VM for inside of targets, as bytes; where no machine can run it, nothing.
$(B)/gen/tracer/fast/agent_blob.c: $(if $(wildcard inject/agent/$(MACHINE)),$(B)/agent/blob)
	@mkdir -p $(@D)
	$(call q,GEN){ echo '#include <stddef.h>'; \
	  echo 'extern const unsigned char agent_blob[];'; \
	  echo 'extern const size_t agent_blob_size;'; \
	  echo 'const unsigned char agent_blob[] __attribute__((aligned(16))) = {'; \
	  od -An -v -tx1 $(or $<,/dev/null) | sed 's/ \(..\)/ 0x\1,/g'; \
	  echo '0 };'; echo 'const size_t agent_blob_size = sizeof(agent_blob) - 1;'; \
	} >$@

# Text as a C string: $(call text,NAME,FILES).
text = echo 'const char $(1)[] ='; \
	sed -e 's/[\\"]/\\&/g' -e 's/.*/	"&\\n"/' $(2); echo ';'

# What `-x report' writes into every picture, and into every page.
$(B)/gen/tracer/consume/picture_js.c: tracer/consume/picture.js
	@mkdir -p $(@D)
	$(call q,GEN){ echo '#include "tracer/consume/picture.h"'; \
	  $(call text,picture_js,$<); } >$@

REPORTJS := $(wildcard tracer/consume/report*.js)
$(B)/gen/tracer/consume/report_parts.c: tracer/consume/report.css $(REPORTJS)
	@mkdir -p $(@D)
	$(call q,GEN){ echo '#include "tracer/consume/report_parts.h"'; \
	  $(call text,report_css,$<); $(call text,report_js,$(REPORTJS)); } >$@

# What `dtrap -h' writes into every header.
$(B)/gen/tracer/build/sdt_text.c: include/dtrap-sdt.h
	@mkdir -p $(@D)
	$(call q,GEN){ echo '#include "tracer/build/sdt_build.h"'; \
	  $(call text,sdt_text,$<); } >$@

# libdtrap-sdt.  The archive is one object, in which only what programs call has a
# name.
SDT_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard sdt/*.c))

$(B)/sdt/%.o: sdt/%.c | $(MACHINE_OK)
	@mkdir -p $(@D)
	$(call q,CC,$<)$(CC) $(ALL_CFLAGS) -fPIC -fvisibility=hidden -MMD -MP \
		-c -o $@ $<

$(B)/$(SDT_SONAME): $(SDT_OBJ)
	$(call q,LINK)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -shared -Wl,--no-undefined \
		-Wl,-soname,$(SDT_SONAME) -o $@ $^ -ldl

$(B)/libdtrap-sdt.so: $(B)/$(SDT_SONAME)
	@ln -sf $(SDT_SONAME) $@

$(B)/libdtrap-sdt.a: $(SDT_OBJ)
	$(Q)$(LD) -r -o $(B)/sdt/all.o $^
	$(Q)objcopy --localize-hidden $(B)/sdt/all.o
	@rm -f $@
	$(call q,AR)ar rcs $@ $(B)/sdt/all.o

-include $(SDT_OBJ:.o=.d)

-include $(OBJ:.o=.d) $(B)/host/tracer/dtrap.d $(B)/host/tracer/plockstat.d

# Unit tests: one Check program per t/unit/test_*.c, linked with everything
# but main() and with the doubles of t/fake/.
NOTUNIT := $(if $(filter no,$(CTF)),t/unit/test_ctf.c)
UNIT := $(patsubst t/unit/%.c,$(B)/unit/%,\
	$(filter-out $(NOTUNIT),$(wildcard t/unit/test_*.c)))
FAKE := $(wildcard t/fake/*.c)
FAKEOBJ := $(FAKE:t/%.c=$(B)/test/%.o)

# Check's own limit of 4 seconds is less than a busy machine needs (t/run).
unit: export CK_DEFAULT_TIMEOUT ?= 60
unit: $(UNIT)
	@for t in $(UNIT); do echo "# $$t"; $$t || exit 1; done

$(B)/testdeps.ok:
	@mkdir -p $(@D)
	@echo '#include <check.h>' | $(CC) -E -x c - >/dev/null 2>&1 || { \
		echo "make: <check.h> (Debian package check) is missing: run 'make deps'" >&2; \
		exit 1; }
	@touch $@

$(B)/test/%.o: t/%.c | $(B)/testdeps.ok $(GENSRC) $(GENDEF) $(BUILDH)
	@mkdir -p $(@D)
	$(call q,CC,$<)$(call cc,$<,$@)

# $(call testlink,WHAT) stands in the rules of programs that use Check.
testlink = @mkdir -p $(@D)$(newline)$(call q,LINK)$(CC) $(CFLAGS) $(SAN) \
	$(LDFLAGS) -o $@ $(1) $(LIB) -lcheck -lsubunit -lpthread -lrt $(LIBS)

$(B)/unit/%: $(B)/test/unit/%.o $(FAKEOBJ) $(LIB)
	$(call testlink,$< $(FAKEOBJ))

# The library, with doubles for what it asks of the C library.
$(B)/unit/test_provider: $(B)/test/unit/test_provider.o $(FAKEOBJ) $(B)/libdtrap-sdt.a $(LIB)
	$(call testlink,$(filter-out $(LIB),$^) $(addprefix -Wl$(comma)--wrap=,\
		memfd_create mmap calloc realloc strdup dlopen))

-include $(wildcard $(B)/test/*/*.d)

# Test programs that `make check' builds and runs.  A block that builds others
# adds them here; each is a Check program, or says by its exit status whether
# it passed (0), failed, or could not run (77).
TESTS += $(UNIT) $(if $(filter no,$(CTF)),t/unit/no_ctf.sh)

# The VM for inside the target: dlang/vm/ a second time, freestanding, in a blob that
# is checked after linking; `make vm' runs one corpus through both builds.
AGENT_CFLAGS = -std=gnu11 -I. -I$(B)/gen $(WARN) $(GCCWARN) -O2 -g0 -ffreestanding -fPIE \
	-mgeneral-regs-only -fno-stack-protector -fcf-protection=none \
	-fvisibility=hidden -fno-asynchronous-unwind-tables \
	$(if $(findstring clang,$(CC)),,-fcallgraph-info=su)
AGENT_SRC := $(wildcard dlang/vm/*.c inject/agent/*.c inject/agent/$(MACHINE)/*.c)
AGENT_OBJ := $(addprefix $(B)/agent/,$(addsuffix .o,$(AGENT_SRC)))

cc_agent = $(CC) $(AGENT_CFLAGS) -MMD -MP -c -o $(2) $(1)

$(B)/agent/%.c.o: %.c | $(MACHINE_OK)
	@mkdir -p $(@D)
	$(call q,CC,$<)$(call cc_agent,$<,$@)

$(B)/agent/blob: $(AGENT_OBJ) inject/agent/agent.ld t/lint/blob.sh
	$(call q,LINK)$(CC) -nostdlib -pie -Wl,--no-dynamic-linker -Wl,--no-undefined \
		-Wl,-z,separate-code -Wl,-z,norelro -Wl,--build-id=none \
		-Wl,-T,inject/agent/agent.ld -o $@ $(AGENT_OBJ)
	@t/lint/blob.sh $@

agent: $(B)/agent/blob

$(B)/vm/corpus: $(B)/test/vm/corpus.o $(FAKEOBJ) $(LIB)
	$(call testlink,$< $(FAKEOBJ))

# Clauses as machine code beside the interpreter.
$(B)/vm/compiled: $(B)/test/vm/compiled.o $(FAKEOBJ) $(LIB)
	$(call testlink,$< $(FAKEOBJ))

# Bodies of clauses beside the VM.
$(B)/vm/bodies: $(B)/test/vm/bodies.o $(FAKEOBJ) $(LIB)
	$(call testlink,$< $(FAKEOBJ))

jit: $(B)/vm/compiled $(B)/vm/bodies
	@N=$(or $(N),100000) SEED=$(or $(SEED),1) B=$(B) t/vm/compiled.sh
	@N=$(or $(N),100000) SEED=$(or $(SEED),1) B=$(B) t/vm/bodies.sh

# What writers and readers of lanes share, once more: with steps that a scheduler
# puts into every order, and under ThreadSanitizer.
LANE_SRC := dlang/vm/agg.c dlang/vm/buf.c dlang/vm/lane.c tracer/consume/lanes.c \
	tracer/consume/snapshot.c

$(B)/vm/interleave: t/vm/interleave.c $(LANE_SRC) $(FAKE) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -DVM_STEP -o $@ t/vm/interleave.c $(LANE_SRC) \
		$(FAKE) $(LIB) -lcheck -lsubunit -lpthread -lrt $(LIBS)

$(B)/vm/threads: t/vm/threads.c $(LANE_SRC) $(FAKE) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fsanitize=thread -o $@ t/vm/threads.c $(LANE_SRC) \
		$(FAKE) $(LIB) -lcheck -lsubunit -lpthread -lrt $(LIBS)

vm: $(B)/vm/corpus $(B)/agent/blob
	$(B)/vm/corpus $(B)/agent/blob

$(B)/bench/bench_vm: $(B)/test/bench/bench_vm.o $(FAKEOBJ) $(LIB)
	$(call testlink,$< $(FAKEOBJ))

bench-vm: $(B)/bench/bench_vm
	$(B)/bench/bench_vm

-include $(AGENT_OBJ:.o=.d)

.PHONY: agent vm jit bench-vm house house-check

# Displaced instructions against the same at home, and the decoder against
# objdump: t/reloc/test_*.c, linked like unit tests.  DTRAP_LONG=1 does all of
# the big libraries.
RELOC := $(patsubst t/reloc/%.c,$(B)/reloc/%,$(wildcard t/reloc/test_*.c))

reloc: $(RELOC)
	@for t in $(RELOC); do echo "# $$t"; $$t || exit 1; done

RELOCLIB := $(B)/test/reloc/rig.o t/reloc/insns.S

$(B)/reloc/%: $(B)/test/reloc/%.o $(RELOCLIB) $(LIB)
	$(call testlink,$< $(RELOCLIB))

TESTS += $(RELOC)

# libFuzzer programs, with clang only.  `make fuzz' builds them all;
# `make fuzz-run FUZZ="-max_total_time=60"' runs each, beginning with its corpus
# in t/fuzz/corpus/.
FUZZERS := $(patsubst t/fuzz/%.c,$(B)/fuzz/%,$(wildcard t/fuzz/fuzz_*.c))
FUZZSAN := address,undefined -fno-sanitize-recover=all
FUZZ ?= -max_total_time=60

fuzz:
	@if ! clang --version >/dev/null 2>&1; then echo "no clang: no fuzz"; \
	else $(MAKE) CC=clang B=$(B)/fuzz-lib \
		SAN="-fsanitize=fuzzer-no-link,$(FUZZSAN)" \
		$(FUZZERS:$(B)/%=$(B)/fuzz-lib/%); fi

fuzz-run: fuzz
	@for f in $(FUZZERS:$(B)/%=$(B)/fuzz-lib/%); do \
		mkdir -p $$f.corpus && $$f $(FUZZ) -artifact_prefix=$$f. \
			$$f.corpus t/fuzz/corpus/$${f##*/} || exit 1; done

$(B)/fuzz/%: t/fuzz/%.c $(wildcard t/fuzz/*.h t/fake/*.h) $(FAKE) $(LIB)
	@mkdir -p $(@D)
	$(call q,CC,$<)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $< $(FAKE) $(LIB) \
		-lcheck -lsubunit -lpthread -lrt $(LIBS)

# The corpora once more with any compiler: tests like others.
REPLAY := $(FUZZERS:$(B)/fuzz/%=$(B)/replay/%)

$(B)/replay/%: $(B)/test/fuzz/%.o $(B)/test/fuzz/replay.o $(FAKEOBJ) $(LIB)
	$(call testlink,$< $(B)/test/fuzz/replay.o $(FAKEOBJ))

TESTS += $(REPLAY)

include t/e2e/rules.mk
include sdt/languages.mk

# Manual pages.  The tables of a .in page are the rows of the .def files.
MANIN := dlang/man/dtrap-d.7
MAN := tracer/dtrap.1 tracer/plockstat.1 sdt/dtrap-sdt.3 sdt/dtrap-sdt.3 $(MANIN:dlang/man/%=$(B)/man/%) \
	$(B)/man/dtrap-scripts.7
SCRIPTS := $(filter-out scripts/manual.awk scripts/lib,$(wildcard scripts/*))

$(B)/man/mantab: dlang/man/mantab.c dlang/man/man.def $(wildcard dlang/*.def) | $(MACHINE_OK)
	@mkdir -p $(@D)
	$(call q,CC,$<)$(CC) $(ALL_CFLAGS) -o $@ $<

$(B)/man/%: dlang/man/%.in $(B)/man/mantab
	$(call q,MAN)$(B)/man/mantab < $< > $@.new && mv $@.new $@

$(B)/man/dtrap-scripts.7: scripts/manual.awk $(SCRIPTS)
	@mkdir -p $(@D)
	$(call q,MAN)awk -f scripts/manual.awk $(sort $(SCRIPTS)) > $@.new && mv $@.new $@

man: $(MAN)

.PHONY: man

# ---- tests -----------------------------------------------------------------

# The traced programs of t/e2e are built plain, whatever this build is.
# blob.sh runs when the blob is linked.
LINTS := $(filter-out t/lint/blob.sh,$(wildcard t/lint/*.sh))
RUN = B=$(B) DTRAP=$(abspath $(PROG)) \
	PLOCKSTAT=$(abspath $(PLOCKSTAT)) CC=$(CC) t/run -j $(JOBS)
# Parallel, unless the caller has already said how.
PJ = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))

check: deps
	@$(MAKE) --no-print-directory $(PJ) WERROR=-Werror check-build
	@$(MAKE) --no-print-directory check-run

check-build: $(PROG) $(PLOCKSTAT) $(COMPLETION) $(MAN) $(TESTS) $(E2E) $(B)/vm/corpus $(B)/vm/compiled $(B)/vm/bodies \
	$(B)/vm/interleave \
	$(B)/vm/threads $(B)/agent/blob

check-run:
	@$(RUN) $(LINTS) $(TESTS) $(wildcard t/vm/*.sh) \
		$(wildcard t/expr/*.sh) $(wildcard t/d/*/*.d) $(wildcard t/e2e/[0-9]*.sh) \
		$(wildcard t/torture/*.sh)

# What `make mutate' runs of all that.
tests-list:
	@printf '%s\n' $(TESTS) $(wildcard t/vm/*.sh t/expr/*.sh) \
		$(wildcard t/d/*/tst.*.d t/d/*/err.*.d) $(wildcard t/e2e/[0-9]*.sh)

# Plant N bugs, one at a time, and count those that tests find: doc/mutation.md.
# More of the same run: t/mutate/mutate.py.
mutate: N = 200
mutate: check-build
	@t/mutate/mutate.py run $(N) -j $(JOBS) --seed $(SEED)
	@t/mutate/mutate.py map -j $(JOBS) $(wildcard t/e2e/[0-9]*.sh)
	@t/mutate/mutate.py e2e -j $(JOBS)
	@t/mutate/mutate.py report

# The same without installing anything: what a developer runs.
test:
	@$(MAKE) --no-print-directory $(PJ) check-build
	@ELSEWHERE=1 $(MAKE) --no-print-directory check-run

# Parts: make golden T='aggs/*', make e2e T='03*'.
golden: $(PROG)
	@$(RUN) $(wildcard t/d/$(or $(T),*/*)*.d)

# Random expressions beside the C compiler's: make expr N=10000 SEED=7
N ?= 500
SEED ?= 1
expr: $(PROG)
	@DTRAP=$(abspath $(PROG)) CC=$(CC) t/expr/random.sh $(N) $(SEED)

e2e: $(PROG) $(PLOCKSTAT) $(COMPLETION) $(E2E)
	@$(RUN) $(wildcard t/e2e/$(or $(T),[0-9]*)*.sh)

# The tests that have a long form, in that: hours.  T=cycles for one of
# t/torture.
torture: $(PROG) $(PLOCKSTAT) $(E2E)
	@.ci/deps $(TEST_PKGS) $(TORTURE_PKGS)
	@TORTURE=1 $(RUN) $(shell grep -l TORTURE t/e2e/[0-9]*.sh) \
		$(wildcard t/expr/$(T)*.sh t/torture/$(T)*.sh)

# Real programs with every function traced by jump, beside the same untraced: hours.
# T=redis for one of them; ACTIONS="count quantize record" for more clauses.
workloads: $(PROG) $(E2E)
	@.ci/deps $(TEST_PKGS) $(LOAD_PKGS)
	@rm -f $(B)/workloads*
	@ROWS=$(abspath $(B)/workloads) $(RUN) -j 1 $(wildcard t/loads/$(T)*.sh); \
		status=$$?; cat t/loads/head.txt $(B)/workloads; exit $$status

# The tests that ask something of a kernel, on kernels that Debian ships, in
# virtual machines: hours where there is no KVM.  T='e2e/1*' for some of them;
# t/kernel/run.sh says what else can be chosen.
KERNELS ?= bookworm bookworm-backports
check-kernel: ALL = $(UNIT) $(wildcard t/vm/*.sh) $(wildcard t/e2e/[0-9]*.sh) \
	$(wildcard t/torture/*.sh)
check-kernel:
	@.ci/deps $(BUILD_PKGS) $(TEST_PKGS) $(KERNEL_PKGS)
	@$(MAKE) --no-print-directory $(PJ) check-build
	@for t in $(ALL); do case $$t in *$(T)*) echo $$t ;; esac; done | \
		B=$(B) PROG=$(PROG) PLOCKSTAT=$(PLOCKSTAT) t/kernel/run.sh $(KERNELS)

# Kills the tracer KILLS times, at each point of fault_kill() and elsewhere.
KILLS ?= 1000
torture-kill: $(PROG) $(E2E)
	@B=$(B) DTRAP=$(abspath $(PROG)) t/torture/kill.sh $(KILLS)

# Kills the tracer of programs whose probes fire by jump, ROUNDS times.
torture-fast: $(PROG) $(E2E)
	@TORTURE=1 $(RUN) t/torture/fast.sh

# Everything that traces nobody, under AddressSanitizer and UBSan.  (A traced
# program cannot be built with them: its leak check does not work under
# ptrace.)
ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all
SANITIZED := CFLAGS="-O1 -g -fno-omit-frame-pointer" SAN="$(ASAN)"
ASAN_MAKE = $(MAKE) --no-print-directory $(PJ) B=build-asan $(SANITIZED)
asan:
	@$(ASAN_MAKE) quick

# Two-bucket hashes, memory that moves whenever it grows, caches of one: bugs
# come out sooner.
shrink:
	@$(MAKE) --no-print-directory $(PJ) B=build-shrink $(SANITIZED) \
		CPPFLAGS="$(CPPFLAGS) -DDTRAP_SHRINK" quick

# Check gives a test four seconds, too few for a sanitized one on a machine
# that has other work; t/run ends those that hang.
quick: export CK_DEFAULT_TIMEOUT ?= 120
quick: $(PROG) $(TESTS)
	@$(RUN) $(TESTS) $(wildcard t/d/*/*.d)

# The public DTrace test suite, a checkout of which is at SUITE, by the runner
# that lives beside the project: make suite SUITE=DIR T='unittest/aggs/*'.
RUNNER ?= ../shared/conformance/run
LIMIT ?= 41
suite: $(PROG)
	@[ -x $(RUNNER) ] || { \
		echo "make: no runner of the public suite at $(RUNNER): set RUNNER" >&2; \
		exit 1; }
	@[ -d "$(SUITE)" ] || { \
		echo "make: SUITE=DIR names no checkout of the public suite" >&2; \
		exit 1; }
	@$(RUNNER) --suite $(SUITE) --dtrace $(abspath $(PROG)) \
		--sdt-include $(abspath include) --jobs $(JOBS) \
		--timeout $(LIMIT) $(if $(T),--filter '$(T)')

# A test may expect a failure, and may throw away what is written: findings of
# ASan go to files, those of UBSan end with a status that no test expects.
FINDINGS := build-asan/findings
suite-asan:
	@rm -rf $(FINDINGS) && mkdir -p $(FINDINGS)
	@status=0; ASAN_OPTIONS=log_path=$(abspath $(FINDINGS))/at \
	UBSAN_OPTIONS=print_stacktrace=1:exitcode=99:log_path=$(abspath $(FINDINGS))/un \
		$(ASAN_MAKE) LIMIT=60 suite || status=1; \
	for f in $(FINDINGS)/*; do \
		[ ! -e $$f ] || { cat $$f; status=1; }; done; exit $$status

# doc/speed.md says what the tables mean.  T=hits for one of them.
bench: $(PROG) $(addprefix $(B)/e2e/,hot cold busy logs vforked restless \
	spends stalls switches) \
	$(B)/bench/bench_vm $(SDT_LANGS)
	@echo "$$(uname -sr), $$(nproc) processors," \
		"$$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
	@for t in t/bench/*$(T)*.sh; do case $$t in \
		*/lib.sh) ;; \
		*) B=$(B) DTRAP=$(abspath $(PROG)) $$t || exit 1 ;; \
	esac; done

# ---- reading the source with tools -----------------------------------------

# For editors: the commands of the rules above, whatever is already made.
# $(call entry,FILE,COMMAND)
entry = {"directory":"$(CURDIR)","file":"$(1)","command":"$(subst ",\",$(subst \,\\,$(2)))"}\n
entries = $(foreach f,$(SRC) tracer/dtrap.c tracer/plockstat.c \
	$(wildcard t/unit/*.c t/reloc/*.c $(FAKE)),\
	$(call entry,$(f),$(call cc,$(f),$(f:%.c=$(B)/host/%.o)))) \
	$(foreach f,$(wildcard inject/agent/*.c),\
	$(call entry,$(f),$(call cc_agent,$(f),$(B)/agent/$(f).o)))
compile_commands.json: $(GENSRC) $(GENDEF) $(BUILDH) FORCE
	$(call q,GEN)$(file >$@,[$(subst \n,$(newline),$(subst }\n {,}$(comma)\n{,$(strip $(entries))))])

layers:
	@t/lint/layers.sh

# Who needs whom, by link symbols and includes.
house: $(PROG)
	@python3 t/lint/house.py $(B)
	@if command -v cloc >/dev/null; then \
		cloc --quiet dlang disasm symbols inject sdt tracer; fi

house-check: $(PROG)
	@python3 t/lint/house.py $(B) check

APART := $(filter inject/agent% inject/trap% sdt%,$(FOLDERS))
ALLSRC := $(foreach d,$(ROOMS) $(APART),$(wildcard $(d)/*.c))
ALLHDR := $(foreach d,$(ROOMS) $(APART),$(wildcard $(d)/*.h))
# Those of other machines are in order, too.
OTHERS := $(foreach d,$(filter %/$(MACHINE),$(FOLDERS)),\
	$(wildcard $(addsuffix /*.[ch],$(addprefix $(d:%$(MACHINE)=%),\
	$(filter-out $(MACHINE),$(MACHINES))))))
SHELLS := t/run completion/dtrap.bash.in $(wildcard .ci/*) $(wildcard t/*.sh) $(wildcard t/*/*.sh) scripts/leaks scripts/dwatch doc/examples/server

lint: layers house-check format-check
	@$(MAKE) --no-print-directory $(PJ) lint-tools
	@t/lint/headers.sh
	@t/lint/paths.sh
	@t/lint/length.sh
	@t/lint/machine.sh
	@t/lint/names.sh
	@t/lint/porting.sh
	@t/lint/tags.sh
	@t/lint/text.sh

format-check:
	@if command -v clang-format-14 >/dev/null; then \
		clang-format-14 --dry-run --Werror $(ALLSRC) $(ALLHDR) $(OTHERS) \
		$(wildcard t/*/*.[ch] t/e2e/src/*.[ch] t/e2e/src/behave/*.[ch] t/e2e/src/sigtable/*.[ch]); \
	else echo "lint: clang-format-14 is not installed: formatting not checked"; fi

format:
	clang-format-14 -i $(ALLSRC) $(ALLHDR) $(OTHERS) $(wildcard t/*/*.[ch] t/e2e/src/*.[ch] t/e2e/src/behave/*.[ch] t/e2e/src/sigtable/*.[ch])

lint-tools: lint-cppcheck \
	$(if $(shell command -v shellcheck),$(SHELLS:%=$(B)/lint/%.shellcheck),lint-no-shellcheck) \
	$(if $(shell command -v clang-tidy),$(ALLSRC:%.c=$(B)/lint/%.tidy),lint-no-tidy)

lint-no-shellcheck:
	@echo "lint: shellcheck is not installed: scripts not checked"

# One stamp a script, and all again when what they read has changed.
SHLIBS := $(filter-out $(wildcard t/e2e/[0-9]*),$(wildcard t/e2e/*.sh)) \
	$(wildcard t/workload/*.sh t/loads/lib.sh)

$(B)/lint/%.shellcheck: % $(SHLIBS)
	@mkdir -p $(@D)
	@shellcheck -x -P SCRIPTDIR $<
	@touch $@

lint-cppcheck:
	@mkdir -p $(B)/lint/cppcheck
	@if command -v cppcheck >/dev/null; then \
		cppcheck -q --std=c11 --enable=warning,portability,performance \
		--inline-suppr --error-exitcode=1 --template=gcc \
		--cppcheck-build-dir=$(B)/lint/cppcheck -D_GNU_SOURCE -I. \
		$(ALLSRC); \
	else echo "lint: cppcheck is not installed"; fi

lint-no-tidy:
	@echo "lint: clang-tidy is not installed"

# One stamp a file, so that a second run reads only what changed.
$(B)/lint/%.tidy: %.c .clang-tidy | $(GENSRC) $(GENDEF) $(BUILDH)
	@mkdir -p $(@D)
	@clang-tidy --quiet $< -- -std=gnu11 -D_GNU_SOURCE -I. -I$(B)/gen \
		$(SDT_INCLUDES) \
		2>$@.err >$@.out || { cat $@.out $@.err; exit 1; }
	@rm -f $@.err; mv $@.out $@

# ---- documents -------------------------------------------------------------

# The picture of the README.  Where the tree lies is nobody's business.
picture: $(PROG)
	rm -f doc/bytes.svg
	./$(PROG) -q -x report=doc/bytes.svg -s doc/examples/bytes.d \
		-c '/usr/bin/python3 doc/examples/orders.py 19' >/dev/null
	sed -i 's|$(CURDIR)/||g' doc/bytes.svg

# A small web site of the manual and the documents: build/doc/index.html.
DOC_PKGS := cmark-gfm mandoc
doc: man
	@.ci/deps $(DOC_PKGS)
	@t/site.py $(B)/doc $(MAN)

.PHONY: picture doc

# ---- packages, demonstration, installation ---------------------------------

BUILD_PKGS := gcc libc6-dev make libcapstone-dev libunwind-dev libelf-dev \
	libdw-dev libiberty-dev $(if $(filter no,$(CTF)),,binutils-dev) zlib1g-dev \
	liblzma-dev libncurses-dev libdebuginfod-dev libyajl-dev flex bison
TEST_PKGS := strace check binutils g++ git mandoc perl python3 \
	python3-jsonschema python3-pyte jq prometheus redis-tools \
	openssh-server openssh-client clustershell iproute2 \
	openjdk-17-jdk-headless postgresql php-cli php-fpm php-pgsql nginx \
	nodejs $(if $(NODE_H),,libnode-dev) python3-dev python3-pip python3-setuptools python3-wheel \
	ruby xz-utils debuginfod curl \
	zsh pkgconf musl-tools gdb bpftrace nasm libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0 \
	golang-go gccgo rustc clang lld bolt-16 cmark-gfm linux-perf chromium
TORTURE_PKGS := nginx
LOAD_PKGS := libpython3.11-testsuite apache2-utils \
	$(if $(shell command -v npm),,npm)
DEB_PKGS := dpkg-dev debhelper fakeroot lintian check
PACKAGE_PKGS := mmdebstrap
KERNEL_PKGS := qemu-system-x86 iproute2 xz-utils

deps:
	@.ci/deps $(BUILD_PKGS) $(TEST_PKGS)

build-deps:
	@.ci/deps $(BUILD_PKGS)

demo:
	@.ci/deps $(BUILD_PKGS) python3
	@$(MAKE) --no-print-directory $(PJ) all
	@DTRAP=$(abspath $(PROG)) t/demo.sh

DOCS := README.md NEWS LICENSE $(wildcard doc/*.md doc/*.schema.json)
SCRIPTLIB := $(wildcard scripts/lib/*.d)
BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man
DATADIR = $(DESTDIR)$(PREFIX)/share/dtrap
DOCDIR = $(DESTDIR)$(PREFIX)/share/doc/dtrap
INCDIR = $(DESTDIR)$(PREFIX)/include/dtrap
LIBDIR ?= $(PREFIX)/lib
PCDIR = $(DESTDIR)$(PREFIX)/share/pkgconfig
BASHDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR = $(DESTDIR)$(PREFIX)/share/zsh/site-functions

# A script is a command, too: opensnoop.d is dtrap-opensnoop, since others have an
# opensnoop.  The page of all scripts is the manual of each.
COMMANDS := $(patsubst scripts/%,%,$(SCRIPTS))
command = dtrap-$(basename $(1))

install: all man install-languages
	install -D -m 755 $(PROG) $(BINDIR)/dtrap
	install -D -m 755 $(PLOCKSTAT) $(BINDIR)/plockstat
	install -D -m 644 include/dtrap-sdt.h $(INCDIR)/dtrap-sdt.h
	install -D -m 644 include/dtrap-provider.h $(INCDIR)/dtrap-provider.h
	install -D -m 644 include/sys/sdt.h $(INCDIR)/sys/sdt.h
	install -D -m 644 $(B)/$(SDT_SONAME) $(DESTDIR)$(LIBDIR)/$(SDT_SONAME)
	ln -sf $(SDT_SONAME) $(DESTDIR)$(LIBDIR)/libdtrap-sdt.so
	install -D -m 644 $(B)/libdtrap-sdt.a $(DESTDIR)$(LIBDIR)/libdtrap-sdt.a
	for m in $(MAN); do \
		install -D -m 644 $$m $(MANDIR)/man$${m##*.}/$${m##*/}; done
	for d in $(DOCS); do install -D -m 644 $$d $(DOCDIR)/$${d##*/}; done
	for s in $(SCRIPTS); do install -D -m 755 $$s $(DATADIR)/$${s##*/}; done
	for s in $(SCRIPTLIB); do \
		install -D -m 644 $$s $(DATADIR)/lib/$${s##*/}; done
	install -D -m 644 $(B)/completion/dtrap $(BASHDIR)/dtrap
	ln -sf dtrap $(BASHDIR)/plockstat
	install -D -m 644 $(B)/completion/_dtrap $(ZSHDIR)/_dtrap
	$(foreach c,$(COMMANDS),\
		ln -sf ../share/dtrap/$(c) $(BINDIR)/$(call command,$(c)) && \
		ln -sf ../man7/dtrap-scripts.7 \
			$(MANDIR)/man1/$(call command,$(c)).1 && \
		ln -sf dtrap $(BASHDIR)/$(call command,$(c)) &&) :
	install -d $(PCDIR)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
		include/dtrap.pc.in >$(PCDIR)/dtrap.pc
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@VERSION@|$(VERSION)|' include/dtrap-sdt.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/dtrap-sdt.pc

uninstall:
	rm -f $(BINDIR)/dtrap $(BINDIR)/plockstat
	for m in $(MAN); do rm -f $(MANDIR)/man$${m##*.}/$${m##*/}; done
	rm -f $(BASHDIR)/dtrap $(BASHDIR)/plockstat $(ZSHDIR)/_dtrap
	rm -f $(PCDIR)/dtrap.pc
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,$(SDT_SONAME) libdtrap-sdt.so \
		libdtrap-sdt.a pkgconfig/dtrap-sdt.pc)
	$(foreach c,$(COMMANDS),rm -f $(BINDIR)/$(call command,$(c)) \
		$(MANDIR)/man1/$(call command,$(c)).1 \
		$(BASHDIR)/$(call command,$(c)) &&) :
	rm -f $(JAVADIR)/dtrap-sdt.jar
	rm -rf $(DATADIR) $(DOCDIR) $(INCDIR)

# ---- releases and packages -------------------------------------------------

# A release is a tag, v$(VERSION), and the tarball of it, the same wherever it is
# made.  REV=HEAD makes one of something else.
REV ?= v$(VERSION)
DIST := $(B)/dist/dtrap-$(VERSION).tar.gz

dist:
	@VERSION=$(VERSION) REV=$(REV) t/dist.sh $(DIST)

# Debian's package, of what is committed, by way of such a tarball; or of a
# tarball that was unpacked, by dpkg-buildpackage -b there.
deb: REV = HEAD
deb: dist
	@.ci/deps $(BUILD_PKGS) $(DEB_PKGS)
	@rm -rf $(B)/deb && mkdir -p $(B)/deb
	@tar -xf $(DIST) -C $(B)/deb
	cd $(B)/deb/dtrap-$(VERSION) && dpkg-buildpackage -us -uc
	lintian --info --display-info --fail-on error,warning \
		$(B)/deb/dtrap_$(VERSION)_*.changes

# The package in a bare Debian, and what `make deps' leaves of servers in one.
check-package: deb
	@.ci/deps $(PACKAGE_PKGS)
	@DEB="$(wildcard $(B)/deb/*.deb)" B=$(B) t/package.sh

clean:
	rm -rf compile_commands.json $(B) build build-asan build-shrink dtrap plockstat

help:
	@echo 'make             build ./dtrap'
	@echo 'make MACHINE=none   without code for a machine: traces nothing'
	@echo 'make deps        install the missing Debian packages'
	@echo 'make demo        deps, build, and trace a real program'
	@echo 'make check       deps, build, and run every test'
	@echo 'make test        the same, but install nothing'
	@echo 'make unit        unit tests only; also golden, e2e (T=pattern)'
	@echo 'make expr        random expressions beside C (N=10000 SEED=7)'
	@echo 'make jit         compiled clauses beside the interpreter (N=100000 SEED=1)'
	@echo 'make torture     tests that have a long form, in that'
	@echo 'make workloads   real programs, every function by jump; T=redis'
	@echo 'make check-kernel   tests in qemu, on kernels of Debian (KERNELS=, T=pattern)'
	@echo 'make torture-kill   of these, the death of the tracer (KILLS=1000)'
	@echo 'make torture-fast   and that with option fastpath (ROUNDS=1000)'
	@echo 'make asan        tests that trace nobody, under ASan and UBSan'
	@echo 'make shrink      the same with tiny tables and caches'
	@echo 'make suite       the public suite (SUITE=its checkout); also suite-asan'
	@echo 'make mutate      plant bugs, and count those that tests find (N=200 SEED=1)'
	@echo 'make lint        layers, format, cppcheck, clang-tidy, shellcheck'
	@echo 'make house       the rooms, and who needs whom'
	@echo 'make compile_commands.json   how each file is compiled, for editors'
	@echo 'make bench       what tracing costs, beside other tracers; T=hits'
	@echo 'make sdt-java    libdtrap-sdt for Java; also sdt-python, sdt-node'
	@echo 'make doc         manual and documents as a web site, in build/doc/'
	@echo 'make picture     the flame graph of the README'
	@echo 'make install     PREFIX=$(PREFIX) DESTDIR='
	@echo 'make uninstall   take it away again'
	@echo 'make dist        the tarball of a release; REV=HEAD of a snapshot'
	@echo 'make deb         Debian packages of what is committed'
	@echo 'make check-package   deb, and these in a bare Debian'
	@echo 'make clean       remove everything that was built'

.PHONY: all unit expr check check-build check-run check-kernel test mutate tests-list reloc fuzz \
	fuzz-run golden \
	e2e torture torture-kill torture-fast workloads asan shrink quick suite suite-asan bench layers lint format dist deb check-package \
	format-check lint-tools lint-no-shellcheck \
	lint-cppcheck lint-no-tidy deps build-deps demo install uninstall \
	clean help
.DELETE_ON_ERROR:
.SECONDARY:
