#!/bin/bash
# timeout: 200
# jstack() in Ruby: at a point that the program knows, label, path and line of
# every frame are what caller_locations says.
# shellcheck disable=SC2016 # D and Ruby, not shell
. "${0%/*}/lib.sh"
need ruby
rb=$(readlink -f "$(command -v ruby)")
case $("$rb" -e 'print RUBY_VERSION') in
3.[0-3].*) ;;
*) skip "jstack() knows Ruby 3.0 to 3.3, and this is another" ;;
esac
run=("$rb" --disable=gems)

{
cat <<'RUBY'
# encoding: utf-8
def say(locations)
  puts "ppid (#{locations[0].path}:#{locations[0].lineno})"
  locations.each do |l|
    # A fiber can begin in C: nobody called it.
    puts l.lineno == 0 ? l.label : "#{l.label} (#{l.path}:#{l.lineno})"
  end
  puts
  $stdout.flush
end

def here(*)
  say(caller_locations(0)); Process.ppid
end

def recursion(n)
  n == 0 ? here : recursion(n - 1)
end

class Outer
  include Enumerable
  include Comparable
  define_method(:defined) { here }
  def initialize
    here
  end
  def method_missing(name, *args)
    here
  end
  def respond_to_missing?(*)
    true
  end
  def each
    yield 1
    yield 2
  end
  def <=>(other)
    here
    0
  end
  def to_s
    here
    "text"
  end
  def self.single
    here
  end
  class << self
    def single_too
      here
    end
  end
  def rescued
    begin
      raise ArgumentError,
        "x"
    rescue => e
      here
    ensure
      here
    end
  end
  def optional(a = here, b: here)
  end
end

class Child < Outer
  def initialize
    super
  end
  here
end

module Größe
  def self.größe
    here
  end
  def self.名前
    here
  end
end

module Refined
  refine Integer do
    def refined
      here
    end
  end
end
using Refined

def blocks
  [1].each { |x| here }
  [1, 2].each_with_index.map { |x, i|
    here
  }
  { a: 1 }.each { |k, v| here }
  [3, 1].sort_by { |x| here; x }
  [3, 1].sort { |a, b| here; 0 }
  (1..1).inject(0) { |a, b| here }
  1.times { here }
  loop { here; break }
  [1].map(&:itself).each(&method(:here))
  proc { here }.call
  lambda { |x| here }.(1)
  ->(x) { here }.curry[1]
  :here.to_proc.call(self)
  send(:here)
  public_send(:recursion, 1) rescue here
  method(:recursion).unbind.bind(self).call(0)
  instance_eval { here }
  instance_exec(1) { |x| here }
  eval("here", binding, "made/at/run.rb", 17)
  Class.new { here }
  tap { here }
  catch(:x) { here; throw :x }
  "aba".gsub("b") { here; "c" }
  "#{Outer.allocate}"
  Hash.new { |h, k| here }[1]
  [[1, [2]]].each { |a, (b, *)| [a].each { |c| 1.times { here } } }
  1.refined
  begin
    Integer("x")
  rescue ArgumentError
    here
  end
  while true
    here
    break
  end
  trace = TracePoint.new(:call) { |t| here if t.method_id == :traced }
  trace.enable { traced }
end

def traced
end

def fibers
  f = Fiber.new { here; Fiber.yield 1; recursion(2) }
  f.resume
  f.resume
  e = Enumerator.new { |y| here; y << 1 }
  e.next
end

def several_threads
  # All but one wait while that one says its stack.
  turn = Array.new(4) { Queue.new }
  ts = (0..3).map { |i|
    Thread.new { turn[i].pop; recursion(i); turn[i - 1] << 1 if i > 0 }
  }
  turn[3] << 1
  ts.each(&:join)
end

def forked
  pid = fork { here }
  Process.wait(pid)
end

RUBY
echo 'def long'
echo '  a = 1'
for i in {1..400}; do echo "  a = a + $i if a > $i"; done
echo '  here'
echo 'end'
echo 'def far'
for i in {1..70000}; do echo; done
echo '  here'
echo 'end'
cat <<'RUBY'

here
recursion(3)
recursion(60)
o = Outer.new
o.defined
o.missing(1)
o.map { |x| here }
o == Outer.allocate
Outer.single
Outer.single_too
o.rescued
o.optional
Child.new
Größe.größe
Größe.名前
blocks
long
far
fibers
Thread.new { here }.join
several_threads
forked
at_exit { here }
RUBY
} >"$tmp/known.rb"

notes() {
	awk 'NF == 0 { if (n) print ""; n = 0; next }
	    /^ *\[ / { sub(/^ *\[ /, ""); sub(/ \]$/, ""); print; n++ }' "$1"
}

# Stacks whose last lines are notes on nothing: the walk ended too early.  (That
# of a fiber that began in C may have one.)
cut() {
	awk 'NF == 0 { if (s ~ /^ *\[ / && s !~ /\[ each \]$/) print s; s = ""; next } { s = $0 }' "$1"
}

# check WHAT RUBY...
check() {
	local what=$1
	shift
	rm -f "$tmp/stacks"
	dt -q -x jstackframes=512 -o "$tmp/stacks" \
	    -n 'syscall::getppid:entry { jstack(512); }' \
	    -c "$(quote "$@" "$tmp/known.rb")"
	is "$what: status" "$status" 0
	hasnt "$tmp/err" 'error|drop'
	notes "$tmp/stacks" >"$tmp/got"
	same "$what: frames" "$tmp/out" "$tmp/got"
	[ "$(grep -c '^$' "$tmp/got")" -gt 60 ] || wrong "$what: too few stacks"
	echo "$what: $(grep -c . "$tmp/got") frames"
}

check plain "${run[@]}"
cut "$tmp/stacks" >"$tmp/cut"
same "the ends of stacks" /dev/null "$tmp/cut"
# A method in C is told where its function is.
awk '/^ *\[ each / && last !~ /rb_ary_each/ { print last } { last = $0 }' \
    "$tmp/stacks" >"$tmp/each"
is "each of arrays" "$(grep -c 'rb_ary_each' "$tmp/each")" 0
has "$tmp/stacks" '`rb_ary_each\+'

# Compiled methods have the same frames; the C frames above them are not found.
for jit in --yjit --jit --mjit; do
	if "${run[@]}" $jit -e 'exit 0' 2>/dev/null; then
		check "$jit" "${run[@]}" $jit
	fi
done

# ---- attached to; the lock is let go round the call ----

cat >"$tmp/serve.rb" <<'RUBY'
$stdout.sync = true
def wait_for_it
  $stdin.sysread(100)
end
def serve
  2.times do |i|
    puts "ready #{i}"
    wait_for_it
  end
end
Thread.new { sleep }
Thread.new { Thread.stop }
puts "begun"
serve
puts "done"
RUBY
start serve "${run[@]}" "$tmp/serve.rb"
line serve begun
line serve 'ready 0'
start_dt dt -q -p "${pid[serve]}" -n '
    syscall::read:entry /arg0 == 0/ { jstack(512); exit(0); }'
tell serve go
end dt
is "attached: status" "$status" 0
sed 1d "$tmp/dt.out" >"$tmp/stacks"
notes "$tmp/stacks" | sed 's|/.*/||; /^$/d' >"$tmp/got"
cat >"$tmp/want" <<'END'
sysread (serve.rb:3)
wait_for_it (serve.rb:3)
block in serve (serve.rb:8)
times (serve.rb:6)
serve (serve.rb:6)
<main> (serve.rb:14)
END
same "attached" "$tmp/want" "$tmp/got"
tell serve go
end serve
is "served: status" "$status" 0

# ---- samples of a busy program ----

cat >"$tmp/busy.rb" <<'RUBY'
def work(n)
  s = 0
  n.times { |i| s += i * i % 7 }
  s
end
def often
  work(800000)
end
def seldom
  work(100000)
end
def main
  12.times { often; seldom }
end
main
RUBY
dt -q -x stackformat=folded -x aggsize=16m -o "$tmp/folded" -n '
    profile-997 /pid == $target/ { @[jstack(200)] = count(); }' \
    -c "$(quote "${run[@]}" "$tmp/busy.rb")"
is "busy: status" "$status" 0
hasnt "$tmp/err" 'drop'
hasnt "$tmp/folded" ';\?;'
has "$tmp/folded" ';times;'
share() {
	awk -v f="$1" '$0 ~ f { n += $NF } END { print n + 0 }' "$tmp/folded"
}
all=$(share ';main;') often=$(share ';main;.*;often;.*;block_in_work') \
    seldom=$(share ';main;.*;seldom;.*;block_in_work')
echo "busy: $all samples in main, $often often, $seldom seldom"
[ "$all" -gt 50 ] || wrong "too few samples"
[ "$often" -gt $((seldom * 3)) ] || wrong "often is not the hot one"
finish
