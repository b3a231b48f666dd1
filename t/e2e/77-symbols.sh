#!/bin/bash
# Addresses as names: of values, of keys, in printf's conversions, in stacks;
# shellcheck disable=SC2016
# with the options that say how; and the few built-ins that need a frame.
. "${0%/*}/lib.sh"

# negative() is called first from main(), later from branches().
cat >"$tmp/first.d" <<'EOD'
pid$target:a.out:negative:entry
/!seen++/
{
	@names[usym(uregs[R_PC] + 1), uaddr(uregs[R_PC] + 1)] = count();
	printf("caller %A\n", ucaller);
	printf("usym %A ufunc %A umod %A uaddr %A\n", usym(uregs[R_PC] + 1),
	    ufunc(uregs[R_PC] + 1), umod(uregs[R_PC]), uaddr(uregs[R_PC] + 1));
	printf("sym %a func %a mod %a\n", sym(uregs[R_PC] + 1),
	    func(uregs[R_PC] + 1), mod(uregs[R_PC]));
	printf("number %A %a\n", uregs[R_PC] + 1, arg0 ? uregs[R_PC] : 0);
	printf("regs %d %d\n", regs[R_RDI] == arg0, uregs[R_RDI] == arg0);
	printf("progeny %d %d %d\n", progenyof($target), progenyof($pid),
	    progenyof(0x7fffffff));
	this->depth = ustackdepth;
	printf("depth %d\n", this->depth);
}
EOD
dt -q -o "$tmp/trace" -s "$tmp/first.d" -c "$bin/args"
is "status" "$status" 0
has "$tmp/trace" '^caller args`main\+0x[0-9a-f]+$'
has "$tmp/trace" '^usym args`negative ufunc args`negative umod args uaddr args`negative\+0x1$'
has "$tmp/trace" '^sym args`negative func args`negative mod args$'
has "$tmp/trace" '^number args`negative\+0x1 args`negative$'
has "$tmp/trace" '^regs 1 1$'
has "$tmp/trace" '^progeny 1 1 0$'
# All of one function is one key of usym().
has "$tmp/trace" '^  args`negative  +args`negative\+0x1  +1$'

# A variable has a name, too, be it one that the file has no bytes of.
cat >"$tmp/vars.d" <<'EOD'
pid$target:a.out:put:return
/!done++/
{
	this->at = (uintptr_t)&a.out`queue_lock;
	printf("%A %A %A\n", this->at, this->at + 8, umod(this->at));
	@names[usym(this->at)] = count();
	@names[usym(this->at + 8)] = count();
}
EOD
dt -q -o "$tmp/vars" -s "$tmp/vars.d" -c "$bin/work-handoff 2 1"
has "$tmp/vars" '^work-handoff`queue_lock work-handoff`queue_lock\+0x8 work-handoff$'
has "$tmp/vars" '^  work-handoff`queue_lock  +2$'

# stack WHAT OPTIONS ACTIONS: the stack where branches() calls negative(), one
# frame a word.
stack() {
	local actions=${*: -1}
	set -- "${@:1:$#-1}"
	dt -q -o "$tmp/stack" "$@" -n '
	    pid$target:a.out:branches:entry { inside = 1; }
	    pid$target:a.out:branches:return { inside = 0; }
	    pid$target:a.out:negative:entry /inside/ {'" $actions }" \
	    -c "$bin/args"
	is "$* $actions: status" "$status" 0
	sed 's/+0x.*//; s/`0x.*/`unnamed/' "$tmp/stack" | tr -s ' \n' ' '
	rm -f "$tmp/stack"
}

all=$(stack 'ustack();')
[[ $all == ' args`negative args`branches args`main '*' args`_start ' ]] ||
    wrong "the stack is '$all'"
frames=$(wc -w <<<"$all")
is "ustackdepth" "$(stack 'printf("%d ", ustackdepth);')" "$frames "
is "jstack()" "$(stack 'jstack();')" "$all"
two=' args`negative args`branches '
is "ustack(2)" "$(stack 'ustack(2);')" "$two"
is "jstack(2)" "$(stack 'jstack(2);')" "$two"
is "ustackframes" "$(stack -x ustackframes=2 'ustack();')" "$two"
is "ustackframes and a number" "$(stack -x ustackframes=2 'ustack(3);')" \
    "$two"'args`main '
is "ustackframes is not jstack's" "$(stack -x ustackframes=2 'jstack();')" "$all"
is "jstackframes" "$(stack -x jstackframes=2 'jstack();')" "$two"
is "jstackframes is not ustack's" "$(stack -x jstackframes=2 'ustack();')" "$all"
is "maxframes" "$(stack -x maxframes=2 'ustack(); jstack(9);')" "$two${two# }"
is "as a key" "$(stack -x ustackframes=2 '@[ustack()] = count();')" "${two}1 "

# Blanks before each frame: the option's, which changes while tracing.
# shellcheck disable=SC2016
dt -q -o "$tmp/indent" -x stackindent=3 -n 'pid$target:a.out:negative:entry
	{ ustack(1); setopt("stackindent", "5"); }' -c "$bin/args"
is "stackindent" "$(grep -o '^ *args`negative' "$tmp/indent" | head -n 2 |
    tr '\n' ,)" '   args`negative,     args`negative,'

# noresolve: an address in the object, the same that the name is of.
is "noresolve" "$(stack -x noresolve 'ustack(1);')" " args:0x$(
    nm "$bin/args" | awk '$3 == "negative" { sub(/^0*/, "", $1); print $1 }') "
finish
