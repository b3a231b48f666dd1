# Programs that the end-to-end tests trace: built plain, whatever the build of
# dtrap is (see the note on LeakSanitizer in doc/testing.md).

E2E_CC = $(call q,CC)$(CC) $(E2E_CFLAGS)
E2E_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra \
	-Wno-unused-parameter
E2E_SRC := $(filter-out t/e2e/src/ctorlib.c t/e2e/src/shape.c \
	t/e2e/src/external.c t/e2e/src/external_lib.c t/e2e/src/lines.c \
	t/e2e/src/swaplib.c t/e2e/src/typed.c t/e2e/src/usdtlib.c,$(wildcard t/e2e/src/*.c))
D := $(B)/e2e

E2E := $(E2E_SRC:t/e2e/src/%.c=$(D)/%) $(D)/libctor.so $(D)/libdlo.so \
	$(addprefix $(D)/shape-,pie nopie static static-pie stripped \
	debugdata debuglink cet frame o0) $(D)/m32 \
	$(addprefix $(D)/external-,pie nopie static dwarf4 stripped debuglink) \
	$(addprefix $(D)/lines-,o0 o2 o3 nopie dwarf4 split debuglink) \
	$(addprefix $(D)/linescc-,o0 o2) $(D)/liblines.so \
	$(if $(shell command -v clang),$(addprefix $(D)/lines-clang-,o0 o2)) \
	$(addprefix $(D)/typed-,o0 o2 static dwarf4 split plain debuglink ctf) \
	$(addprefix $(D)/switches-,o0 frame) $(D)/typedcc $(D)/shop \
	$(addprefix $(D)/libswap-,first second third) $(D)/frames \
	$(D)/split-stripped $(D)/split-static \
	$(D)/unwinds $(D)/unwinds-stripped \
	$(D)/libusdt.so $(D)/usdtcc $(D)/usdtforms $(D)/throws $(D)/cancels \
	$(D)/tree-static $(D)/trapmask-static \
	$(D)/contend-static $(D)/locks-static \
	$(if $(shell command -v musl-gcc),$(D)/trapmask-musl \
	$(addprefix $(D)/,contend-musl contend-musl-static locks-musl \
	locks-musl-static deadlock-musl))

# Who returns, told without dtrap's exits: t/oracle/compare.
ORACLE := $(B)/oracle/returns
E2E += $(ORACLE)

$(ORACLE): t/oracle/returns.c $(LIB)
	@mkdir -p $(@D)
	$(call q,CC)$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(LIB) $(LIBS)

# Targets of t/torture.
TORTURED := $(patsubst t/torture/%.c,$(D)/%,$(wildcard t/torture/*.c))
E2E += $(TORTURED)

$(D)/%: t/torture/%.c $(wildcard t/torture/*.h t/e2e/src/*.h) include/dtrap-sdt.h
	@mkdir -p $(@D)
	$(E2E_CC) -I. -Iinclude -o $@ $< -pthread -ldl

# Programs that do a known amount of a known thing.
WORK := $(patsubst t/workload/%.c,$(D)/work-%,$(wildcard t/workload/*.c))
E2E += $(WORK)

$(D)/work-%: t/workload/%.c t/workload/workload.h
	@mkdir -p $(@D)
	$(E2E_CC) -I. -o $@ $< -pthread

$(D)/%: t/e2e/src/%.c $(wildcard t/e2e/src/*.h)
	@mkdir -p $(@D)
	$(E2E_CC) -o $@ $< -pthread -ldl

# What an area looks like is told by the machine's header.
$(D)/fakearea: t/e2e/src/fakearea.c inject/trap/area.h $(MACHINE_OK)
	@mkdir -p $(@D)
	$(E2E_CC) -I. -I$(B)/gen -o $@ $<

# With a static probe, by the header that programs use.
$(D)/hot: t/e2e/src/hot.c t/e2e/src/trigger.h $(wildcard include/*.h include/*/*.h)
	@mkdir -p $(@D)
	$(E2E_CC) -Iinclude -o $@ $<

$(D)/libctor.so: t/e2e/src/ctorlib.c
	@mkdir -p $(@D)
	$(E2E_CC) -fPIC -shared -Wl,-soname,libctor.so -o $@ $<

# The same under another name, not linked by anyone: for dlopen().
$(D)/libdlo.so: t/e2e/src/ctorlib.c
	@mkdir -p $(@D)
	$(E2E_CC) -fPIC -shared -Wl,-soname,libdlo.so -o $@ $<

# The same but for a name, to be loaded one after the other.
$(D)/libswap-%: t/e2e/src/swaplib.c
	@mkdir -p $(@D)
	$(E2E_CC) -DSWAP=$* -fno-optimize-sibling-calls -fPIC -shared \
		-fvisibility=default -Wl,-Bsymbolic -o $@ $<

# Every frame is to be seen.
$(D)/frames: t/e2e/src/frames.cc
	@mkdir -p $(@D)
	$(call q,CC)$(CXX) -O1 -g -Wall -Wextra -fno-optimize-sibling-calls -o $@ $<

$(D)/ctor: t/e2e/src/ctor.c t/e2e/src/trigger.h $(D)/libctor.so
	$(E2E_CC) -o $@ $< -L$(D) -lctor -Wl,-rpath,'$$ORIGIN'

$(D)/tree $(D)/tree-static: include/dtrap-sdt.h
$(D)/tree-static: t/e2e/src/tree.c t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(E2E_CC) -static -o $@ $< -pthread

$(D)/trapmask-static: t/e2e/src/trapmask.c t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(E2E_CC) -static -o $@ $< -pthread

# Another library, which has no unwind tables; where it is installed.
$(D)/trapmask-musl: t/e2e/src/trapmask.c t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(call q,CC)musl-gcc -std=gnu11 -D_GNU_SOURCE -O2 -static -o $@ $< -pthread

# Locks, with each C library, by itself and in the program.
LOCKS := contend locks deadlock
$(LOCKS:%=$(D)/%-static): $(D)/%-static: t/e2e/src/%.c t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(E2E_CC) -static -o $@ $< -pthread
$(LOCKS:%=$(D)/%-musl): $(D)/%-musl: t/e2e/src/%.c t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(call q,CC)musl-gcc -std=gnu11 -D_GNU_SOURCE -O2 -g -o $@ $<
$(LOCKS:%=$(D)/%-musl-static): $(D)/%-musl-static: t/e2e/src/%.c t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(call q,CC)musl-gcc -std=gnu11 -D_GNU_SOURCE -O2 -g -static -o $@ $<

# Variables of a program and its library, in every way to lay them out.
EXTERNAL := t/e2e/src/external.c t/e2e/src/trigger.h $(D)/libexternal.so
EXTERNAL_LINK = t/e2e/src/external.c -L$(D) -lexternal -Wl,-rpath,'$$ORIGIN'
$(D)/libexternal.so: t/e2e/src/external_lib.c
	@mkdir -p $(@D)
	$(E2E_CC) -fPIC -shared -Wl,-soname,libexternal.so -o $@ $<
$(D)/external-pie: $(EXTERNAL)
	$(E2E_CC) -fPIE -pie -o $@ $(EXTERNAL_LINK)
$(D)/external-nopie: $(EXTERNAL)
	$(E2E_CC) -fno-pie -no-pie -o $@ $(EXTERNAL_LINK)
$(D)/external-static: $(EXTERNAL) t/e2e/src/external_lib.c
	$(E2E_CC) -fno-pie -static -Dboth=other -c -o $@.o \
		t/e2e/src/external_lib.c
	$(E2E_CC) -fno-pie -static -o $@ t/e2e/src/external.c $@.o
	@rm -f $@.o
$(D)/external-dwarf4: $(EXTERNAL)
	$(E2E_CC) -gdwarf-4 -gz -fdebug-types-section -o $@ $(EXTERNAL_LINK)
$(D)/external-stripped: $(EXTERNAL)
	$(E2E_CC) -rdynamic -s -o $@ $(EXTERNAL_LINK)
$(D)/external-debuglink: $(EXTERNAL)
	@mkdir -p $(@D)/.debug
	$(E2E_CC) -o $@.full $(EXTERNAL_LINK)
	$(Q)objcopy --only-keep-debug $@.full $(@D)/.debug/external-debuglink.debug
	$(Q)objcopy --strip-all --add-gnu-debuglink=$(@D)/.debug/external-debuglink.debug \
		$@.full $@
	@rm -f $@.full

# Lines, inlined functions and variables, as compilers describe them.
LINES := t/e2e/src/lines.c t/e2e/src/trigger.h
$(D)/lines-o%: $(LINES)
	@mkdir -p $(@D)
	$(E2E_CC) -I. -O$* -o $@ $< -ldl
$(D)/lines-nopie: $(LINES)
	@mkdir -p $(@D)
	$(E2E_CC) -I. -fno-pie -no-pie -o $@ $< -ldl
$(D)/lines-dwarf4: $(LINES)
	@mkdir -p $(@D)
	$(E2E_CC) -I. -gdwarf-4 -gz -o $@ $< -ldl
$(D)/lines-split: $(LINES)
	@mkdir -p $(@D)
	$(E2E_CC) -I. -O0 -gsplit-dwarf -o $@ $< -ldl
$(D)/lines-debuglink: $(LINES)
	@mkdir -p $(@D)/.debug
	$(E2E_CC) -I. -o $@.full $< -ldl
	$(Q)objcopy --only-keep-debug $@.full $(@D)/.debug/lines-debuglink.debug
	$(Q)objcopy --strip-debug \
		--add-gnu-debuglink=$(@D)/.debug/lines-debuglink.debug $@.full $@
	@rm -f $@.full
$(D)/lines-clang-o%: $(LINES)
	@mkdir -p $(@D)
	$(call q,CC)clang -std=gnu11 -D_GNU_SOURCE -g -I. -O$* -Wno-unknown-attributes \
		-o $@ $< -ldl
$(D)/liblines.so: $(LINES)
	@mkdir -p $(@D)
	$(E2E_CC) -I. -DLIBRARY -fPIC -shared -o $@ $<
$(D)/linescc-o%: t/e2e/src/linescc.cc t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(call q,CC)$(CXX) -I. -g -O$* -Wall -Wextra -o $@ $<

# Functions' arguments, in every way to say their types.
TYPED := t/e2e/src/typed.c t/e2e/src/trigger.h
$(D)/typed-o0: $(TYPED)
	@mkdir -p $(@D)
	$(E2E_CC) -O0 -fPIE -pie -o $@ $<
$(D)/typed-o2: $(TYPED)
	@mkdir -p $(@D)
	$(E2E_CC) -fno-pie -no-pie -o $@ $<
$(D)/typed-static: $(TYPED)
	@mkdir -p $(@D)
	$(E2E_CC) -static -o $@ $<
$(D)/typed-dwarf4: $(TYPED)
	@mkdir -p $(@D)
	$(E2E_CC) -gdwarf-4 -gz -fdebug-types-section -o $@ $<
$(D)/typed-split: $(TYPED)
	@mkdir -p $(@D)
	$(E2E_CC) -gsplit-dwarf -o $@ $<
$(D)/typed-plain: $(TYPED)
	@mkdir -p $(@D)
	$(E2E_CC) -g0 -o $@ $<
$(D)/typed-ctf: $(TYPED)
	@mkdir -p $(@D)
	$(call q,CC)$(CC) $(filter-out -g,$(E2E_CFLAGS)) -gctf -rdynamic -o $@ $<
$(D)/typed-debuglink: $(TYPED)
	@mkdir -p $(@D)/.debug
	$(E2E_CC) -o $@.full $<
	$(Q)objcopy --only-keep-debug $@.full $(@D)/.debug/typed-debuglink.debug
	$(Q)objcopy --strip-debug \
		--add-gnu-debuglink=$(@D)/.debug/typed-debuglink.debug $@.full $@
	@rm -f $@.full
$(D)/typedcc: t/e2e/src/typedcc.cc t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(call q,CC)$(CXX) -O2 -g -Wall -Wextra -o $@ $<

$(D)/shop: t/e2e/src/shop.cc t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(call q,CC)$(CXX) -I. -O1 -g -Wall -Wextra -o $@ $<

# Static probes: the header and the types are dtrap's own work.
$(D)/usdt-d.h: t/e2e/src/usdt.d $(PROG)
	@mkdir -p $(@D)
	$(call q,DTRAP)./$(PROG) -h -s $< -o $@
$(D)/usdt-d.o: t/e2e/src/usdt.d $(PROG)
	@mkdir -p $(@D)
	$(call q,DTRAP)./$(PROG) -G -s $< -o $@
$(D)/usdt: t/e2e/src/usdt.c t/e2e/src/trigger.h $(D)/usdt-d.h $(D)/usdt-d.o
	$(E2E_CC) -I$(D) -o $@ $< $(D)/usdt-d.o -ldl
$(D)/libusdt.so: t/e2e/src/usdtlib.c $(D)/usdt-d.h
	$(E2E_CC) -I$(D) -fPIC -shared -o $@ $<
$(D)/usdtcc: t/e2e/src/usdtcc.cc $(D)/usdt-d.h $(D)/usdt-d.o
	$(call q,CC)$(CXX) -O2 -Wall -Wextra -I$(D) -o $@ $< $(D)/usdt-d.o
# With probes that they make themselves.
$(D)/provider $(D)/logs: $(D)/%: t/e2e/src/%.c t/e2e/src/trigger.h \
		$(wildcard include/*.h include/*/*.h) $(B)/libdtrap-sdt.a
	@mkdir -p $(@D)
	$(E2E_CC) -Iinclude -o $@ $< $(B)/libdtrap-sdt.a -pthread -ldl
$(D)/throws: t/e2e/src/throws.cc t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(call q,CC)$(CXX) -O2 -Wall -Wextra -o $@ $<
$(D)/cancels: t/e2e/src/cancels.cc t/workload/workload.h
	@mkdir -p $(@D)
	$(call q,CC)$(CXX) -O2 -Wall -Wextra -I. -o $@ $< -pthread
$(D)/usdtforms: t/e2e/src/usdtforms.S
	@mkdir -p $(@D)
	$(call q,CC)$(CC) -o $@ $<

# rets needs its tail calls, and no inlining of recursion.
$(D)/rets: t/e2e/src/rets.c t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(E2E_CC) -foptimize-sibling-calls -fno-inline -o $@ $<

$(D)/unwinds: t/e2e/src/unwinds.cc
	@mkdir -p $(@D)
	$(call q,CC)$(CXX) -O2 -Wall -Wextra -o $@ $<
$(D)/unwinds-stripped: t/e2e/src/unwinds.cc
	@mkdir -p $(@D)
	$(call q,CC)$(CXX) -O2 -Wall -Wextra -rdynamic -s -o $@ $<

# Only exported functions have names.
$(D)/split-stripped: t/e2e/src/split.c
	@mkdir -p $(@D)
	$(E2E_CC) -rdynamic -s -o $@ $<
$(D)/split-static: t/e2e/src/split.c
	@mkdir -p $(@D)
	$(E2E_CC) -static -o $@ $<

SHAPE := t/e2e/src/shape.c t/e2e/src/trigger.h
$(D)/shape-pie: $(SHAPE)
	@mkdir -p $(@D)
	$(E2E_CC) -fPIE -pie -o $@ $<
$(D)/shape-nopie: $(SHAPE)
	@mkdir -p $(@D)
	$(E2E_CC) -fno-pie -no-pie -o $@ $<
$(D)/shape-static: $(SHAPE)
	@mkdir -p $(@D)
	$(E2E_CC) -fno-pie -static -o $@ $<
$(D)/shape-static-pie: $(SHAPE)
	@mkdir -p $(@D)
	$(E2E_CC) -fPIE -static-pie -o $@ $<
$(D)/shape-cet: $(SHAPE)
	@mkdir -p $(@D)
	$(E2E_CC) -fcf-protection=full -o $@ $<
$(D)/shape-frame: $(SHAPE)
	@mkdir -p $(@D)
	$(E2E_CC) -fno-omit-frame-pointer -o $@ $<
$(D)/shape-o0: $(SHAPE)
	@mkdir -p $(@D)
	$(E2E_CC) -O0 -o $@ $<

# Functions with frame pointers.
$(D)/switches-o0: t/e2e/src/switches.c t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(E2E_CC) -O0 -o $@ $< -pthread
$(D)/switches-frame: t/e2e/src/switches.c t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(E2E_CC) -fno-omit-frame-pointer -o $@ $< -pthread

# Dynamic symbols only.
$(D)/shape-stripped: $(SHAPE)
	@mkdir -p $(@D)
	$(E2E_CC) -rdynamic -s -o $@ $<

# Symbols in a file of their own, in .debug beside the program.
$(D)/shape-debuglink: $(SHAPE)
	@mkdir -p $(@D)/.debug
	$(E2E_CC) -o $@.full $<
	$(Q)objcopy --only-keep-debug $@.full $(@D)/.debug/shape-debuglink.debug
	$(Q)objcopy --strip-all \
		--add-gnu-debuglink=$(@D)/.debug/shape-debuglink.debug $@.full $@
	@rm -f $@.full
# All symbols packed into the program, as distributions do.
$(D)/shape-debugdata: $(SHAPE)
	@mkdir -p $(@D)
	$(E2E_CC) -o $@.full $<
	$(Q)objcopy -S --keep-symbol=work --keep-symbol=main $@.full $@.mini
	$(Q)xz -f $@.mini
	$(Q)strip -o $@ $@.full
	$(Q)objcopy --add-section .gnu_debugdata=$@.mini.xz $@
	@rm -f $@.full $@.mini.xz
# By the assembler and the linker alone: no 32-bit compiler is needed.
$(D)/m32: t/e2e/src/m32.S
	@mkdir -p $(@D)
	$(call q,CC)$(CC) -E -P $< | as --32 -o $@.o - && ld -m elf_i386 -o $@ $@.o
	@rm -f $@.o

# With the other C library, where its compiler is there.
ifneq ($(shell command -v musl-gcc),)
E2E += $(D)/shape-musl
endif
$(D)/shape-musl: $(SHAPE)
	@mkdir -p $(@D)
	$(call q,CC)musl-gcc -std=gnu11 -D_GNU_SOURCE -O2 -g -o $@ $<

# The compiler is not to know what these functions do.
$(D)/libcfns: t/e2e/src/libcfns.c t/e2e/src/trigger.h
	@mkdir -p $(@D)
	$(E2E_CC) -fno-builtin -Wno-stringop-truncation -o $@ $<

# What programs do that a tracer may disturb.
BEHAVE := $(wildcard t/e2e/src/behave/*.c)
E2E += $(D)/behave
$(D)/behave: $(BEHAVE) t/e2e/src/behave/behave.h t/e2e/src/trigger.h $(D)/libdlo.so
	@mkdir -p $(@D)
	$(E2E_CC) -o $@ $(BEHAVE) -pthread -ldl

# Each signal in each state.
SIGTABLE := $(wildcard t/e2e/src/sigtable/*.c)
E2E += $(D)/sigtable
$(D)/sigtable: $(SIGTABLE) t/e2e/src/sigtable/sigtable.h t/e2e/src/trigger.h $(D)/libdlo.so
	@mkdir -p $(@D)
	$(E2E_CC) -Iinclude -o $@ $(SIGTABLE) -pthread -ldl
