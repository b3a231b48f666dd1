#!/bin/bash
# timeout: 200
# The static probes of Ruby as Debian builds it, against a program that is known
# to the last call.
. "${0%/*}/lib.sh"
need_attach
need ruby ldd readelf perl
rb=$(readlink -f "$(command -v ruby)")
lib=$(ldd "$rb" 2>/dev/null | awk '/libruby/ { print $3 }')
lib=${lib:-$rb}
carries "$lib" cmethod__entry || skip "ruby has no static probes here"
run=("$rb" --disable=gems)

# Ruby tells of its own methods only while somebody traces it from inside; of
# methods in C, always.
cat >"$tmp/known.rb" <<'RUBY'
TracePoint.new(:call, :return) { }.enable
class Known
  def leaf(n)
    n + 1
  end
  def rec(n)
    n == 0 ? leaf(n) : rec(n - 1) + 1
  end
  def self.make
    new
  end
end
def all
  k = Known.make
  10.times { k.rec(3) }
  begin
    raise ArgumentError, "x"
  rescue ArgumentError
  end
  GC.start
  [k.leaf(1), "done"].join("-")
end
if ARGV.empty?
  all
else
  $stdout.sync = true
  puts "ready"
  while line = $stdin.gets
    all
    puts "done #{line}"
  end
end
RUBY

# shellcheck disable=SC2016
calls='
ruby$target:::method-entry,ruby$target:::method-return
/basename(copyinstr(arg2)) == "known.rb"/ {
	@[probename, copyinstr(arg0), copyinstr(arg1), args[3]] = count();
}
ruby$target:::cmethod-entry
/basename(copyinstr(arg2)) == "known.rb" && copyinstr(arg1) != "method_added" &&
    args[3] >= 10 && args[3] <= 22/ {
	@[probename, copyinstr(arg0), copyinstr(arg1), args[3]] = count();
}
ruby$target:::raise {
	@[probename, copyinstr(arg0), basename(copyinstr(arg1)), args[2]] = count();
}
ruby$target:::object-create /copyinstr(arg0) == "Known"/ {
	@[probename, copyinstr(arg0), basename(copyinstr(arg1)), args[2]] = count();
}
ruby$target:::gc-mark-begin { marked++; }
ruby$target:::gc-mark-end { marked--; gcs++; }
END { printa("* %s %s %s %d %@d\n", @);
    printf("* gc %d %d\n", gcs > 0, marked); }'
want_calls() {
	cat <<'WANT'
* cmethod-entry Array join 21 1
* cmethod-entry BasicObject initialize 10 1
* cmethod-entry Class new 10 1
* cmethod-entry Exception exception 17 1
* cmethod-entry Exception initialize 17 1
* cmethod-entry Integer times 15 1
* cmethod-entry Integer to_s 21 1
* cmethod-entry Kernel raise 17 1
* cmethod-entry Module === 18 1
* gc 1 0
* method-entry Known leaf 4 11
* method-entry Known make 10 1
* method-entry Known rec 7 40
* method-entry Object all 14 1
* method-return Known leaf 5 11
* method-return Known make 11 1
* method-return Known rec 8 40
* method-return Object all 22 1
* object-create Known known.rb 10 1
* raise ArgumentError known.rb 17 1
WANT
}

# shellcheck disable=SC2016
dt -q -Z -n "$calls" -c "$(quote "${run[@]}" "$tmp/known.rb")" -n '
ruby$target:::parse-begin /basename(copyinstr(arg0)) == "known.rb"/ {
	printf("+ %s %d\n", probename, args[1]);
}
ruby$target:::load-entry,ruby$target:::require-entry { printf("+ %s\n", probename); }'
is "status" "$status" 0
hasnt "$tmp/err" 'error|drop'
want_calls | sort >"$tmp/want"
grep '^\*' "$tmp/out" | sort >"$tmp/seen"
same "launched" "$tmp/want" "$tmp/seen"
has "$tmp/out" '^\+ parse-begin 1$'

# Scripts for Ruby 1.8 name probes that Ruby has no more: of these, only raise is
# there, and counts under -Z.
# shellcheck disable=SC2016 # $target is dtrap's
"$DTRAP" -ln 'ruby$target:::' -c "$(quote "${run[@]}" -e 1)" 2>"$tmp/err" |
	awk 'NR > 1 { print $NF }' | sort -u >"$tmp/names"
for p in method-entry cmethod-entry object-create gc-mark-begin raise; do
	has "$tmp/names" "^$p\$"
done
hasnt "$tmp/names" \
    '^(function-|line|object-create-start|object-free|gc-begin|rescue)'
# shellcheck disable=SC2016
dt -q -Z -c "$(quote "${run[@]}" "$tmp/known.rb")" -n '
ruby*:::function-entry { @[basename(copyinstr(arg2)), "method"] = count(); }
ruby*:::object-free { @["-", "obj-free"] = count(); }
ruby*:::raise { @[basename(copyinstr(arg1)), copyinstr(arg0)] = count(); }
END { printa("* %s %s %@d\n", @); }'
grep known.rb "$tmp/out" >"$tmp/seen"
echo '* known.rb ArgumentError 1' >"$tmp/want"
same "what is left of a script for Ruby 1.8" "$tmp/want" "$tmp/seen"

# Attached to: it waits for a line.
for p in one two; do
	start $p "${run[@]}" "$tmp/known.rb" serve
	line $p ready
	is "$p: raised before" "$(raised "${pid[$p]}" "$lib" ruby)" 0
done
start_dt dt -q -n "$calls" -p "${pid[one]}"
is "raised while traced" "$(raised "${pid[one]}" "$lib" ruby)" 7
is "raised in the other" "$(raised "${pid[two]}" "$lib" ruby)" 0
tell one all
line one 'done all'
kill -INT "${pid[dt]}"
end dt
is "status" "$status" 0
hasnt "$tmp/dt.err" .
is "raised afterwards" "$(raised "${pid[one]}" "$lib" ruby)" 0
want_calls | sort >"$tmp/want"
grep '^\*' "$tmp/dt.out" | sort >"$tmp/seen"
same "attached" "$tmp/want" "$tmp/seen"

in_two ruby "$lib" raise 'copyinstr(arg0)' \
    ArgumentError
end_two
finish
