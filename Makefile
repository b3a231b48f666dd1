# dtrap: build, test and install.  `make' builds ./dtrap; `make deps' brings
# what is missing; the rest of the targets are listed by `make help'.

CC ?= gcc
CFLAGS ?= -O2 -g
B ?= build

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wpointer-arith -Wwrite-strings -Wvla -Wundef \
	-Wformat=2 -Wimplicit-fallthrough -Wconversion -Wno-sign-conversion \
	-Wno-unused-parameter $(WERROR)
GCCWARN := $(if $(findstring clang,$(CC)),,-Wlogical-op -Wduplicated-cond)
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -I. -I$(B)/gen $(WARN) $(GCCWARN) \
	$(CFLAGS) $(SAN)
GEN_CFLAGS = -std=gnu11 -D_GNU_SOURCE -I. -I$(B)/gen -Wall \
	-Wno-unused-function $(CFLAGS) $(SAN)
LIBS := -lunwind-ptrace -lunwind-x86_64 -lunwind -lcapstone -ldw -lelf -liberty -lm

ROOMS := dlang dlang/base dlang/cc dlang/vm disasm disasm/x86_64 symbols \
	symbols/lang inject inject/x86_64 tracer tracer/consume tracer/prov \
	tracer/x86_64
SRC := $(filter-out tracer/dtrap.c,$(foreach d,$(ROOMS),$(wildcard $(d)/*.c)))
GENSRC := $(if $(wildcard dlang/cc/parse.y),$(B)/gen/dlang/cc/parse.c \
	$(B)/gen/dlang/cc/lex.c)
OBJ := $(SRC:%.c=$(B)/host/%.o) $(GENSRC:$(B)/gen/%.c=$(B)/host/gen/%.o)
LIB := $(B)/libdtrap.a

all: dtrap

dtrap: $(B)/host/tracer/dtrap.o $(LIB)
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS)

$(LIB): $(OBJ)
	@rm -f $@
	ar rcs $@ $^

$(B)/host/%.o: %.c $(if $(GENSRC),| $(GENSRC))
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/host/gen/%.o: $(B)/gen/%.c
	@mkdir -p $(@D)
	$(CC) $(GEN_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/gen/dlang/cc/parse.c: dlang/cc/parse.y
	@mkdir -p $(@D)
	bison -Wall -Werror -d -o $@ $<

$(B)/gen/dlang/cc/lex.c: dlang/cc/lex.l $(B)/gen/dlang/cc/parse.c
	@mkdir -p $(@D)
	flex -o $@ $<

-include $(OBJ:.o=.d) $(B)/host/tracer/dtrap.d

# Unit tests: one Check program per t/unit/test_*.c, linked with everything
# but main() and with the doubles of t/fake/.
UNIT := $(patsubst t/unit/%.c,$(B)/unit/%,$(wildcard t/unit/test_*.c))
FAKE := $(wildcard t/fake/*.c)

unit: $(UNIT)
	@for t in $(UNIT); do echo "# $$t"; $$t || exit 1; done

$(B)/unit/%: t/unit/%.c $(FAKE) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(FAKE) $(LIB) -lcheck -lsubunit \
		-lpthread -lrt $(LIBS)

-include $(UNIT:=.d)

# Displaced instructions against the same at home, and the decoder against
# objdump: t/reloc/test_*.c, linked like unit tests.  DTRAP_LONG=1 does all of
# the big libraries.
RELOC := $(patsubst t/reloc/%.c,$(B)/reloc/%,$(wildcard t/reloc/test_*.c))

reloc: $(RELOC)
	@for t in $(RELOC); do echo "# $$t"; $$t || exit 1; done

RELOCLIB := t/reloc/rig.c t/reloc/insns.S

$(B)/reloc/%: t/reloc/%.c $(RELOCLIB) $(wildcard t/reloc/*.h) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(RELOCLIB) $(LIB) -lcheck \
		-lsubunit -lpthread -lrt $(LIBS)

-include $(RELOC:=.d)

# libFuzzer programs, with clang only: $(B)/fuzz/fuzz_*, to be run by hand.
FUZZ := $(patsubst t/fuzz/%.c,$(B)/fuzz/%,$(wildcard t/fuzz/fuzz_*.c))
FUZZSAN := address,undefined -fno-sanitize-recover=all

fuzz:
	@if ! clang --version >/dev/null 2>&1; then echo "no clang: no fuzz"; \
	else $(MAKE) CC=clang B=$(B)/fuzz-lib \
		SAN="-fsanitize=fuzzer-no-link,$(FUZZSAN)" \
		$(FUZZ:$(B)/%=$(B)/fuzz-lib/%); fi

$(B)/fuzz/%: t/fuzz/%.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $< $(LIB) $(LIBS)

clean:
	rm -rf $(B) dtrap

.PHONY: all unit reloc fuzz clean
.DELETE_ON_ERROR:
.SECONDARY:
