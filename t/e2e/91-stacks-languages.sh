#!/bin/bash
# timeout: 180
# Stacks of C++, Rust and Go programs, where the language runs code on its own:
# at every instruction of one function, all frames are gdb's.  Of Rust and Go
# those parts are tested whose compilers are here; they are large, and `make
# deps' does not bring them.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"
# shellcheck source=t/e2e/stacks.sh
. t/e2e/stacks.sh
need gdb g++
need_gdb_python
src=$PWD/t/e2e/src/stacks
export FUNCTIONS=here

# Exceptions: in destructors while the stack is unwound, in catch.  Where two
# names are one address gdb and dtrap choose differently.
for how in -O0 -O2 '-O2 -static'; do
	# shellcheck disable=SC2086 # options are words
	g++ $how -o "$tmp/cc" "$src/stacks.cc" -pthread ||
	    fail "cannot compile C++"
	NOT='guardD[12]|exit|NSt|St[0-9]|_ZN9__|__cxa|_Unwind|uw_|msort|__libc| \?$' \
	    LEAST=400 WHAT="C++ $how" same_stacks "$tmp/cc"
done
dt -q -x stackformat=folded -o "$tmp/folded" -n '
	pid$target:a.out:here:entry { @[ustack()] = count(); }' -c "$tmp/cc"
# throws(3) to throws(0) let one guard each go, in main() and in a thread, when
# the exception comes by; the last one goes when the program ends.
is "destructors" "$(awk '/;cc`guard::~guard\(\);cc`here / { n += $NF }
    END { print n }' "$tmp/folded")" 9
has "$tmp/folded" ';cc.throws.*;cc._Unwind_R[a-z_A-Z]*;|;cc.throws.*;cc.guard::'
has "$tmp/folded" '(clone|thread).*;cc.catches\(\)[^;]*;cc.here '

if command -v rustc >/dev/null; then
	rustc -O -o "$tmp/rs" "$src/stacks.rs" || fail "cannot compile Rust"
	# Of the library gdb has other names: its calls that do not return are
	# the last instructions of their functions.
	NOT='3std|4core|gimli| \?$' LEAST=400 WHAT=Rust same_stacks "$tmp/rs"
	dt -q -x stackformat=folded -o "$tmp/drops" \
	    -n 'pid$target:a.out:here:entry { @[ustack()] = count(); }' \
	    -c "$tmp/rs"
	has "$tmp/drops" ';rs.stacks::panics;.*Guard_as_.*Drop>::drop;rs.here '
else
	echo "rustc is not installed: its programs are left out"
fi

if ! command -v go >/dev/null; then
	echo "go is not installed: its programs are left out"
	finish
fi
go_module stacks
export GOMAXPROCS=1 GODEBUG=asyncpreemptoff=1
cp "$src"/go/* "$tmp/go"

# go_build NAME OPTIONS...
go_build() {
	local name=$1
	shift
	(cd "$tmp/go" && go build "$@" -o "$tmp/$name" .) || fail "cannot compile Go"
}

go_build gs
go_build bare -ldflags='-s -w'
export FUNCTIONS=main.here
LEAST=200 WHAT=Go same_stacks "$tmp/gs" \
    plain deep shape deferred sorted routine text
cp "$tmp/dt.raw" "$tmp/full"
# Without rules, by the table of its run time.
dt_stacks "$tmp/bare" plain deep shape deferred sorted routine text
sed -i 's/^bare:/gs:/' "$tmp/dt"
same "stacks of the stripped program" "$tmp/full" "$tmp/dt"

# On the stack of the system the goroutine's goes on.  (For gdb it ends there,
# or in what happens to lie there.)
for p in gs bare; do
	dt -q -x stackformat=folded -o "$tmp/$p.folded" -n '
	    pid$target:a.out:main.here:entry { @[ustack()] = count(); }' \
	    -c "$tmp/$p system"
	sed -E "s/$p.//g; s/.abi0//g" "$tmp/$p.folded" |
	    sed 's/runtime.systemstack;runtime.systemstack;/runtime.systemstack;/' |
	    grep . >"$tmp/system"
	is "$p: system" "$(cat "$tmp/system")" 'runtime.goexit;runtime.main;main.main;main.onSystem;runtime.systemstack;main.onSystem.func1;main.here 1'
	dt -q -x stackformat=folded -o "$tmp/$p.grows" -n '
	    pid$target:a.out:runtime.newstack:entry { @[ustack()] = count(); }
	    pid$target:a.out:runtime.park_m:entry { @[ustack()] = count(); }' \
	    -c "$tmp/$p routine"
	has "$tmp/$p.grows" ".runtime.main;$p.main.main;($p.main.warm;)+$p.runtime.morestack(.abi0)?;$p.runtime.newstack "
	has "$tmp/$p.grows" ".runtime.main;$p.main.main;.*;$p.runtime.gopark;$p.runtime.mcall(.abi0)?;$p.runtime.park_m "
done
# C runs on the stack of the system, too.
mkdir "$tmp/cgo"
cp "$src/cgo/main.go" "$tmp/cgo"
echo 'module stacks' >"$tmp/cgo/go.mod"
for p in cgo-whole cgo-bare; do
	if ! (cd "$tmp/cgo" && CGO_ENABLED=1 go build \
	    -ldflags="$([ $p = cgo-bare ] && echo '-s -w')" -o "$tmp/$p" .) \
	    2>"$tmp/cgo.err"; then
		echo "C cannot be called from Go here: $(tail -n 1 "$tmp/cgo.err")"
		break
	fi
	dt -q -x stackformat=folded -o "$tmp/$p.folded" -n '
	    pid$target:libc.so.6:getppid:entry { @[ustack()] = count(); }' \
	    -c "$tmp/$p"
	sed -E "s/$p.//g; s/.abi0//g" "$tmp/$p.folded" >"$tmp/c"
	below='main.calls;main._Cfunc_outer;runtime.cgocall;runtime.asmcgocall;_cgo_[^;]*;outer;libc.so.6.getppid 1$'
	has "$tmp/c" "^runtime.goexit;runtime.main;main.main;$below"
	has "$tmp/c" "^runtime.goexit;main.main.func1;$below"
done

go_build gs -buildmode=pie
LEAST=200 WHAT='Go, position-independent' same_stacks "$tmp/gs" \
    plain deep shape deferred sorted routine text
finish
