#!/bin/bash
# Libraries in D: -L, what they depend on, and what is wrong with one.
. "${0%/*}/lib.sh"

lib=$tmp/lib
mkdir "$lib" "$tmp/more"

# In the order of the need, which is not that of the names.
cat >"$lib/a.d" <<'E1'
#pragma D depends_on library z.d
inline int answer = half * 2;
E1
cat >"$lib/z.d" <<'E1'
inline int half = 21;
E1
echo 'this is no D' >"$lib/README"
dt -q -L "$lib" -n 'BEGIN { printf("%d\n", answer); exit(0); }'
is "libraries: status" "$status" 0
has "$tmp/out" '^42$'

# Several directories, also by the option; a missing one has none.
cat >"$tmp/more/b.d" <<'E1'
inline string name = "more";
E1
dt -q -L "$lib" -x libdir="$tmp/more" -L "$tmp/nowhere" \
    -n 'BEGIN { printf("%d %s\n", answer, name); exit(0); }'
is "two directories: status" "$status" 0
has "$tmp/out" '^42 more$'
dt -q -x syslibdir="$tmp/more" -n 'BEGIN { printf("%s\n", name); exit(0); }'
has "$tmp/out" '^more$'
dt -q -L "$lib" -x nolibs -n 'BEGIN { printf("%d\n", answer); exit(0); }'
is "nolibs: status" "$status" 1
has "$tmp/err" 'failed to resolve answer: Unknown variable name'

# Loaded once for several programs; empty ones do no harm.
: >"$lib/empty.d"
dt -q -L "$lib" -n 'BEGIN { printf("%d\n", answer); }' \
    -n 'BEGIN { printf("%d\n", half); exit(0); }'
is "two programs: status" "$status" 0
has "$tmp/out" '^42$'
has "$tmp/out" '^21$'

# A clause in a library is checked and does not run.
printf '%s\n' 'BEGIN { printf("from the library\n"); }' >"$lib/clause.d"
dt -q -L "$lib" -n 'BEGIN { exit(0); }'
is "clause: status" "$status" 0
hasnt "$tmp/out" library

# What needs something that is not there is left out, with all that needs it.
cat >"$lib/y.d" <<'E1'
#pragma D depends_on provider there_is_no_such_provider
inline int absent = nonsense;
E1
cat >"$lib/x.d" <<'E1'
#pragma D depends_on library y.d
inline int absent2 = absent;
E1
cat >"$lib/w.d" <<'E1'
#pragma D depends_on provider profile
#pragma D depends_on module there_is_no_such_module
inline int absent3 = nonsense;
E1
dt -q -L "$lib" -n 'BEGIN { printf("%d\n", answer); exit(0); }'
is "left out: status" "$status" 0
dt -q -L "$lib" -n 'BEGIN { printf("%d\n", absent2); exit(0); }'
is "left out and used: status" "$status" 1
has "$tmp/err" 'failed to resolve absent2: Unknown variable name'
dt -q -L "$lib" -c true -n 'BEGIN { exit(0); }'
is "with a target: status" "$status" 0
cat >"$lib/w.d" <<'E1'
#pragma D depends_on module libc
inline int present = 3;
E1
dt -q -L "$lib" -c true -n 'BEGIN { printf("%d\n", present); exit(0); }'
is "module of the target: status" "$status" 0
has "$tmp/out" '^3$'

# An error names the file and the line in it.
printf '\ninline int bad = nonsense;\n' >"$lib/bad.d"
dt -x errtags -L "$lib" -n 'BEGIN { exit(0); }'
is "bad: status" "$status" 1
has "$tmp/err" "^dtrap: invalid probe specifier BEGIN .*: \[D_IDENT_UNDEF\] \"$lib/bad.d\", line 2: failed to resolve nonsense"
rm "$lib/bad.d"
echo '#pragma D depends_on library a.d' >>"$lib/z.d"
dt -x errtags -L "$lib" -n 'BEGIN { exit(0); }'
is "circle: status" "$status" 1
has "$tmp/err" "\[D_PRAGMA_DEPEND\] \"$lib/z.d\", line 2: library z.d and a.d depend on each other"
sed -i 2d "$lib/z.d"
echo '#pragma D depends_on library gone.d' >>"$lib/z.d"
dt -x errtags -L "$lib" -n 'BEGIN { exit(0); }'
is "missing: status" "$status" 1
has "$tmp/err" "\[D_PRAGMA_DEPEND\] \"$lib/z.d\", line 2: library z.d depends on gone.d"
echo '#pragma D depends_on weather fine' >"$lib/z.d"
dt -x errtags -L "$lib" -n 'BEGIN { exit(0); }'
is "class: status" "$status" 1
has "$tmp/err" '\[D_PRAGMA_INVAL\] .*invalid class weather'

# A program is no library.
dt -x errtags -n '
#pragma D depends_on library a.d
BEGIN { exit(0); }'
is "main program: status" "$status" 1
has "$tmp/err" '\[D_PRAGMA_DEPEND\] main program may not explicitly depend on a library'

# Debug messages: on standard error, with their time.
dt -x debug -q -n 'BEGIN { exit(0); }'
is "debug: status" "$status" 0
has "$tmp/err" '^cc DEBUG [0-9]*: BEGIN .*: compiled, 1 clauses$'
hasnt "$tmp/out" DEBUG
finish
