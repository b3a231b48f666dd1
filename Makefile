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

# The in-process agent: dlang/vm/ a second time, freestanding, in a blob that
# is checked after linking; `make vm' runs one corpus through both builds.
AGENT_CFLAGS = -std=gnu11 -I. $(WARN) $(GCCWARN) -O2 -g0 -ffreestanding -fPIE \
	-mgeneral-regs-only -fno-stack-protector -fcf-protection=none \
	-fvisibility=hidden -fno-asynchronous-unwind-tables
AGENT_SRC := $(wildcard dlang/vm/*.c inject/agent/*.c inject/agent/x86_64/*.S)
AGENT_OBJ := $(addprefix $(B)/agent/,$(addsuffix .o,$(AGENT_SRC)))

$(B)/agent/%.c.o: %.c
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/agent/%.S.o: %.S
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -c -o $@ $<

$(B)/agent/blob: $(AGENT_OBJ) inject/agent/agent.ld t/lint/blob.sh
	$(CC) -nostdlib -pie -Wl,--no-dynamic-linker -Wl,--no-undefined \
		-Wl,-z,separate-code -Wl,-z,norelro -Wl,--build-id=none \
		-Wl,-T,inject/agent/agent.ld -o $@ $(AGENT_OBJ)
	t/lint/blob.sh $@

agent: $(B)/agent/blob

$(B)/vm/corpus: t/vm/corpus.c $(FAKE) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(FAKE) $(LIB) $(LIBS)

vm: $(B)/vm/corpus $(B)/agent/blob
	$(B)/vm/corpus $(B)/agent/blob

$(B)/bench/bench_vm: t/bench/bench_vm.c $(FAKE) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $< $(FAKE) $(LIB) $(LIBS)

bench-vm: $(B)/bench/bench_vm
	$(B)/bench/bench_vm

# Random DIFOs, verifier, machine: `make fuzz-vm FUZZ="-max_total_time=60"'.
FUZZ ?= -max_total_time=60
$(B)/fuzz/fuzz_vm: t/fuzz/fuzz_vm.c $(wildcard dlang/vm/*.c dlang/base/*.c) \
		dlang/verify.c dlang/image.c dlang/dis.c t/fake/env.c t/fake/gen.c
	@mkdir -p $(@D)
	clang -std=gnu11 -D_GNU_SOURCE -I. -O1 -g \
		-fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -o $@ $^

fuzz-vm: $(B)/fuzz/fuzz_vm
	@mkdir -p $(B)/fuzz/corpus-vm
	$(B)/fuzz/fuzz_vm $(FUZZ) -max_len=1500 -len_control=0 \
		-artifact_prefix=$(B)/fuzz/ $(B)/fuzz/corpus-vm

-include $(AGENT_OBJ:.o=.d) $(B)/vm/corpus.d

.PHONY: agent vm bench-vm fuzz-vm

clean:
	rm -rf $(B) dtrap

.PHONY: all unit clean
.DELETE_ON_ERROR:
.SECONDARY:
