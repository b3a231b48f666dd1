#!/bin/bash
# timeout: 900
# Programs in other languages end their children by each signal that ends a
# process, as soon as they have them and when they run, while samples are taken:
# each child ends by that signal, as untraced.
. "${0%/*}/lib.sh"
LIMIT=250
ulimit -c 0
rounds=3

# A child is a cat.  One that has been sent a signal is asked for a line: no
# code of its own runs any more, so an answer says that it lives.
#
# Signals are those without a handler that end a process, with 34 for those that
# have no name.
signals="HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM
    STKFLT XCPU XFSZ VTALRM PROF IO PWR SYS"

cat >"$tmp/perl.pl" <<'PERL'
use strict;
use IPC::Open2;
use POSIX;
$| = 1;
my ($rounds, @signals) = @ARGV;
# Not SIG_IGN, which children would have as well.
$SIG{PIPE} = sub { };
# A shell without job control has them ignored in what it runs beside it.
$SIG{INT} = $SIG{QUIT} = "DEFAULT";

sub end_one {
	my ($when, $sig) = @_;
	my $pid = open2(my $from, my $to, "cat");
	if ($when eq "running") {
		syswrite($to, "ready\n");
		sysread($from, my $line, 100);
	}
	kill($sig, $pid) == 1 or die "kill: $!";
	syswrite($to, "there?\n");
	if (sysread($from, my $line, 100)) {
		print "$when $sig: it lives\n";
		kill("KILL", $pid);
	}
	waitpid($pid, 0);
	printf("%s %s: status %#x\n", $when, $sig, $?);
}

for my $n (1 .. $rounds) {
	for my $sig (@signals, 34, 64) {
		end_one("new", $sig);
		end_one("running", $sig);
	}
}
PERL

# Its pipes do not block, and a sysread() that any signal's handler interrupts
# ends with EAGAIN there (untraced as well): readpartial() waits again.
cat >"$tmp/ruby.rb" <<'RUBY'
$stdout.sync = true
rounds, *signals = ARGV
trap("PIPE") { }
trap("INT", "SIG_DFL")
trap("QUIT", "SIG_DFL")

def end_one(state, sig)
  input, to = IO.pipe
  from, output = IO.pipe
  pid = Process.spawn("cat", in: input, out: output)
  input.close
  output.close
  if state == "running"
    to.syswrite("ready\n")
    from.readpartial(100)
  end
  Process.kill(sig == "STKFLT" ? 16 : sig, pid) # of a name it does not know
  begin
    to.syswrite("there?\n")
    from.readpartial(100)
    puts "#{state} #{sig}: it lives"
    Process.kill("KILL", pid)
  rescue Errno::EPIPE, EOFError
  end
  _, status = Process.wait2(pid)
  puts "#{state} #{sig}: signal #{status.termsig} exit #{status.exitstatus}"
  to.close
  from.close
end

rounds.to_i.times do
  (signals + [34, 64]).each do |sig|
    end_one("new", sig)
    end_one("running", sig)
  end
end
RUBY

cat >"$tmp/node.js" <<'NODE'
const { spawn } = require("child_process");
const [rounds, ...signals] = process.argv.slice(2);

function endOne(when, sig) {
	return new Promise((done) => {
		const child = spawn("cat", { stdio: ["pipe", "pipe", "inherit"] });
		let sent = false;
		const end = () => {
			sent = true;
			child.kill("SIG" + sig);
			child.stdin.write("there?\n");
		};
		child.stdin.on("error", () => {});
		child.stdout.on("data", () => {
			if (!sent)
				return end();
			console.log(when, sig, "it lives");
			child.kill("SIGKILL");
		});
		child.on("close", (code, by) => {
			console.log(when, sig, "code", code, "signal", by);
			done();
		});
		if (when === "new")
			end();
		else
			child.stdin.write("ready\n");
	});
}

(async () => {
	for (let n = 0; n < Number(rounds); n++)
		for (const sig of signals) {
			await endOne("new", sig);
			await endOne("running", sig);
		}
})();
NODE

# ends NAME COMMAND...: the same untraced and traced.
ends() {
	local name=$1 count
	shift
	command -v "$1" >/dev/null || { echo "$1 is not installed"; return; }
	seen=$((seen + 1))
	# shellcheck disable=SC2086 # words
	set -- "$@" "$rounds" $signals
	timeout -k 5 "$LIMIT" "$@" >"$tmp/$name.plain" 2>"$tmp/$name.err" ||
	    fail "$name, untraced: status $?"
	hasnt "$tmp/$name.plain" 'lives'
	count=$(grep -c . "$tmp/$name.plain")
	[ "$count" -ge $((rounds * 40)) ] || wrong "$name: $count ends"
	timeout -k 5 "$LIMIT" "$DTRAP" -q -o "$tmp/$name.trace" \
	    -n 'profile-997 { @ = count(); }' -c "$(quote "$@")" \
	    >"$tmp/$name.traced" 2>"$tmp/$name.err"
	is "$name: status" "$?" 0
	same "$name: ends" "$tmp/$name.plain" "$tmp/$name.traced"
	hasnt "$tmp/$name.err" 'drop|error|internal|exited with|terminated'
	has "$tmp/$name.trace" '^ +[1-9]'
	echo "$name: $count ends"
}

seen=0
ends perl perl "$tmp/perl.pl"
ends ruby ruby "$tmp/ruby.rb"
ends node node "$tmp/node.js"
[ $seen -gt 0 ] || skip "neither perl nor ruby nor node is installed"
finish
