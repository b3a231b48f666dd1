#!/bin/bash
# Completion of command lines in bash and in zsh, on a terminal: options, values
# of -x, processes, and probes of a process field by field.
. "${0%/*}/lib.sh"
need python3 zsh
need_attach
CC=${CC:-cc}

# Both say what a line has become after a key that inserts all there is.
cat >"$tmp/keys.py" <<'END'
import os, pty, re, select, sys, tty

LIMIT = 110

class Shell:
    def __init__(self, argv, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], argv, dict(os.environ, **env))
        self.text = ""
        self.until("READY>")

    def until(self, regex):
        while True:
            m = re.search(regex, self.text, re.S)
            if m:
                self.text = self.text[m.end():]
                return m
            if not select.select([self.fd], [], [], LIMIT)[0]:
                sys.exit("no %r in %r" % (regex, self.text))
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                sys.exit("ended before %r: %r" % (regex, self.text))

    def line(self, text, key):
        os.write(self.fd, text.encode() + key + b"\x14")
        m = self.until("LINE<<(.*?)>>LINE")
        # A terminal has its own ends of lines; a long one is not wrapped here.
        return re.sub(r"\s+", " ", m.group(1)).strip()

which, dtrap = sys.argv[1:3]
home = os.environ["tmp"]
if which == "bash":
    sh = Shell(["bash", "--noprofile", "--rcfile", home + "/bashrc", "-i"], {})
else:
    sh = Shell(["zsh", "-i"], {"ZDOTDIR": home})
for row in sys.stdin:
    if not row.strip() or row.startswith("#"):
        continue
    how, text = row.rstrip("\n").split(" ", 1)
    key = b"\x07" if how == "all" else b"\t"
    got = sh.line(text, key)
    print("%s => %s" % (text, got))
    sys.stdout.flush()
END

cat >"$tmp/bashrc" <<END
PATH=${DTRAP%/*}:\$PATH
HISTFILE='' TERM=dumb PS1='READY>'
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
bind 'set horizontal-scroll-mode on'
. '$PWD/$B/completion/dtrap'
show() { printf '\nLINE<<%s>>LINE\n' "\$READLINE_LINE"; READLINE_LINE= READLINE_POINT=0; }
bind -x '"\C-t": show'
bind '"\C-g": insert-completions'
END

cat >"$tmp/.zshrc" <<END
PATH=${DTRAP%/*}:\$PATH
PS1='READY>' TERM=dumb
fpath=('$PWD/$B/completion' \$fpath)
autoload -Uz compinit
compinit -u -d '$tmp/zdump'
unsetopt beep
all() { _main_complete; compstate[insert]=all; compstate[list]=''; }
zle -C all complete-word all
bindkey '^G' all
show() { zle -I; print -r -- "LINE<<\$BUFFER>>LINE"; BUFFER=; }
zle -N show
bindkey '^T' show
END

export tmp DTRAP_COMPLETE_SECONDS=60
start usdt "$bin/usdt"
# A program whose symbols are those of C++, with no more of it.
cat >"$tmp/cart.c" <<'END'
#include <stdio.h>
#include <sys/prctl.h>
int put(int) __asm__("_ZN4shop5Cache3putEi");
int put(int i) { return i + getchar(); }
int main(void) { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	puts("ready"); fflush(stdout); return put(0); }
END
$CC -O0 -o "$tmp/cart" "$tmp/cart.c" || fail "cart.c does not compile"
start cart "$tmp/cart"
line cart ready
tell usdt sem
line usdt
P=${pid[usdt]} C=${pid[cart]}
mkdir "$tmp/scripts"
: >"$tmp/scripts/one.d"
: >"$tmp/scripts/two.txt"

# What is written, after the key; what it becomes, in bash and, where that is
# not the same, in zsh.  `all' inserts all that may follow (bash drops the quote
# then), `tab' what is common to that.
cat >"$tmp/rows" <<END
tab dtrap --vers
dtrap --version

tab dtrap -n 'sysc
dtrap -n 'syscall:

tab dtrap -n 'syscall::openat2
dtrap -n 'syscall::openat2:

all dtrap -n 'syscall::openat2:
dtrap -n syscall::openat2:entry syscall::openat2:return
dtrap -n 'syscall::openat2:entry' syscall::openat2:return'

tab dtrap -n 'BEGIN { trace(1); } syscall::openat2:ent
dtrap -n 'BEGIN { trace(1); } syscall::openat2:entry'

tab dtrap -n 'BEGIN { syscall::openat2
dtrap -n 'BEGIN { syscall::openat2

tab dtrap -f syscall::openat2
dtrap -f syscall::openat2

all dtrap -P proc -n proc:::lwp-
dtrap -P proc -n proc:::lwp-create lwp-exit lwp-start
dtrap -P proc -n proc:::lwp-create proc:::lwp-exit proc:::lwp-start

tab dtrap -x bufpol
dtrap -x bufpolicy=

all dtrap -x bufpolicy=
dtrap -x bufpolicy=fill ring switch
dtrap -x bufpolicy=fill bufpolicy=ring bufpolicy=switch

tab dtrap -x flowin
dtrap -x flowindent

all dtrap -qs $tmp/scripts/
dtrap -qs $tmp/scripts/one.d

tab dtrap -p $P -n 'pid\$target:a.ou
dtrap -p $P -n 'pid\$target:a.out:

tab dtrap -p $P -n 'pid\$target:libc.s
dtrap -p $P -n 'pid\$target:libc.so.6:

tab dtrap -p $P -n 'pid\$target:usdt:hi
dtrap -p $P -n 'pid\$target:usdt:hit:

all dtrap -p $P -n 'pid\$target:usdt:hit:
dtrap -p $P -n pid\$target:usdt:hit:entry pid\$target:usdt:hit:return
dtrap -p $P -n 'pid\$target:usdt:hit:entry' pid\$target:usdt:hit:return'

tab dtrap -p $P -n pid$P:usdt:hi
dtrap -p $P -n pid$P:usdt:hit:

tab dtrap -p $P -n 'my-
dtrap -p $P -n 'my-app$P:

tab dtrap -p $P -n 'my-app$P:usdt:hit:un
dtrap -p $P -n 'my-app$P:usdt:hit:un-watched'

tab dtrap -p $C -n 'pid\$target:cart:"shop
dtrap -p $C -n 'pid\$target:cart:"shop::Cache::put":

tab dtrap -p $P
dtrap -p $P

tab plockstat --js
plockstat --json

tab plockstat -x evalt
plockstat -x evaltime=
END
awk 'BEGIN { RS = "" } { split($0, l, "\n"); print l[1] }' "$tmp/rows" \
    >"$tmp/lines"

for shell in bash zsh; do
	awk -v n="$([ $shell = bash ] && echo 2 || echo 3)" 'BEGIN { RS = "" } {
	    k = split($0, l, "\n"); sub(/^[a-z]* /, "", l[1])
	    print l[1] " => " l[k < n ? k : n] }' "$tmp/rows" >"$tmp/want"
	timeout 110 python3 "$tmp/keys.py" $shell "$DTRAP" <"$tmp/lines" \
	    >"$tmp/$shell.got" 2>"$tmp/$shell.err" || fail "$shell: $?"
	same $shell "$tmp/want" "$tmp/$shell.got"
done

# A dtrap that does not end is not waited for.
mkdir "$tmp/hangs"
printf '#!/bin/sh\nexec tail -f /dev/null\n' >"$tmp/hangs/dtrap"
chmod +x "$tmp/hangs/dtrap"
for shell in bash zsh; do
	echo "tab $tmp/hangs/dtrap -p $P -n 'pid\$target:usdt:hi" |
	    DTRAP_COMPLETE_SECONDS=1 timeout 110 python3 "$tmp/keys.py" \
	    $shell "$DTRAP" >"$tmp/$shell.hung" 2>"$tmp/$shell.err" ||
	    fail "$shell: $?"
	has "$tmp/$shell.hung" '=> .*:usdt:hi$'
done

# Every option of the manual is known.
sed -n 's/^\.It Fl \([A-Za-z]\)\( .*\)*$/-\1/p' tracer/dtrap.1 |
    sort -u >"$tmp/told"
[ "$(grep -c . "$tmp/told")" -gt 20 ] || wrong "the manual has no options"
while read -r o; do
	grep -qE -- "'[*]?${o}[+]?\[" "$B/completion/_dtrap" ||
	    wrong "zsh does not know $o"
	grep -qE -- "(^|[ '])$o([ ']|\$)" "$B/completion/dtrap" ||
	    wrong "bash does not know $o"
done <"$tmp/told"
# And what -x takes is an option, that has a meaning.
sed -n "s/^\(_dtrap_options='\)\{0,1\}\([a-z]*\)=\{0,1\}:.*/\2/p" \
    "$B/completion/dtrap" | sort >"$tmp/offered"
sed -n 's/^OPTION([A-Z]*, *"\([a-z]*\)".*/\1/p' dlang/options.def |
    sort >"$tmp/options"
is "no options" "$(comm -23 "$tmp/offered" "$tmp/options")" ''
grep -qx evaltime "$tmp/offered" || wrong "evaltime is not offered"
grep -qx lockmem "$tmp/offered" && wrong "lockmem is, which does nothing"
for p in usdt cart; do
	is "$p: tracer" "$(tracer "${pid[$p]}")" 0
	alive $p
done
finish
