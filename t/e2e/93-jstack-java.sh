#!/bin/bash
# timeout: 400
# jstack() of Java says what the JDK's own jstack says of the same threads,
# whatever its methods run as, and leaves the machine as it was.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"
need_attach
need java javac jstack perl
LIMIT=150
jvm=$(readlink -f "$(command -v java)")
jvm=${jvm%/bin/java}
[ -f "$jvm/lib/server/libjvm.so" ] || skip "java has no libjvm.so beside it"

cat >"$tmp/Blocked.java" <<'JAVA'
import java.io.*;
import java.lang.invoke.*;
import java.net.*;
import java.util.*;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/* Threads that block, each in another way; then it says so. */
class Blocked {
	static final Object lock = new Object(), held = new Object();
	static volatile boolean over, holding;
	static volatile int sink;
	static boolean jni;

	interface Body { void run() throws Throwable; }

	static void park() { while (!over) LockSupport.park(); }
	static void waits() throws Exception {
		synchronized (lock) { while (!over) lock.wait(); }
	}
	static void holds() { synchronized (held) { holding = true; park(); } }
	static void wants() { synchronized (held) { sink++; } }
	static void deep(int n) throws Exception {
		if (n > 0) { deep(n - 1); return; }
		try { Thread.sleep(1000000); } catch (InterruptedException e) { }
	}
	/* Compiled, and inlined into one another: a way that is taken seldom. */
	static int inner(int n) {
		if ((n & 4095) == 0) LockSupport.parkNanos(n == 0 ? 1000000000000L : 1);
		return n * 7;
	}
	static int middle(int n) { return inner(n) + 1; }
	static int outer(int n) { return middle(n) ^ 3; }
	static int loop(int from, int to) {
		int s = 0;
		for (int i = from; i >= to; i--) s += outer(i);
		return s;
	}
	/* A way that was never taken before: compiled code is left. */
	static int rare(int n) { if (n < 0) park(); return n + 1; }
	static int rarely(int n) { return rare(n) * 2; }
	static int rareLoop(int n, int last) {
		int s = 0;
		for (int i = 0; i < n; i++) s += rarely(i);
		return s + rarely(last);
	}
	static void reads(int port) throws Exception {
		try (Socket s = new Socket("127.0.0.1", port)) {
			s.getInputStream().read();
		}
	}
	static native void down(int n);
	static void up(int n) { if (n > 0) down(n - 1); else park(); }

	static List<Thread> threads = new ArrayList<>();
	static void start(String name, Body b) {
		Thread t = new Thread(() -> {
			try { b.run(); } catch (Throwable e) { e.printStackTrace(); }
		}, name);
		threads.add(t);
		t.start();
	}
	static void startAll(int port) throws Throwable {
		MethodHandle h = MethodHandles.lookup().findStatic(Blocked.class,
		    "park", MethodType.methodType(void.class));
		start("waits", Blocked::waits);
		start("parks", () -> park());
		start("holds", Blocked::holds);
		while (!holding) Thread.onSpinWait();
		start("wants", Blocked::wants);
		start("deep", () -> deep(150));
		start("inlined", () -> { sink += loop(4095, 0); });
		start("rare", () -> { sink += rareLoop(10, -1); });
		start("reads", () -> reads(port));
		start("stream", () -> IntStream.range(0, 2).boxed()
		    .map(x -> x + 1).forEach(x -> park()));
		start("reflected", () -> Blocked.class.getDeclaredMethod("park").invoke(null));
		start("handle", () -> { h.invokeExact(); });
		start("comparing", () -> {
			Integer[] a = { 3, 1, 2 };
			Arrays.sort(a, (x, y) -> { park(); return x - y; });
		});
		if (jni)
			start("native", () -> down(2));
	}
	static boolean blocked(Thread t) {
		switch (t.getState()) {
		case BLOCKED: case WAITING: case TIMED_WAITING: return true;
		case TERMINATED: throw new AssertionError(t + " has ended");
		default:
			/* To Java, one that reads is one that runs. */
			StackTraceElement[] s = t.getStackTrace();
			return t.getName().equals("reads") && s.length > 0 &&
			    s[0].isNativeMethod() &&
			    s[0].getMethodName().startsWith("read");
		}
	}
	public static void main(String[] a) throws Throwable {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
		jni = a.length > 1;
		if (jni)
			System.load(a[1]);
		for (int i = 0; i < 20; i++) { sink += loop(20000, 1); sink += rareLoop(20000, 1); }
		for (int i = 0; i < Integer.parseInt(a[0]); i++) {
			Thread t = new Thread(() -> { int n = 0; while (!over) n = n * 31 + loop(20, 1); sink += n; });
			t.setDaemon(true);
			t.start();
		}
		System.out.println("ready");
		in.readLine();
		startAll(server.getLocalPort());
		for (Thread t : threads)
			while (!blocked(t)) Thread.sleep(1);
		System.out.println("blocked");
		in.readLine();
		over = true;
		synchronized (lock) { lock.notifyAll(); }
		server.accept().close();
		for (Thread t : threads) {
			if (t.getName().equals("deep")) t.interrupt();
			LockSupport.unpark(t);
		}
		for (Thread t : threads) t.join();
		System.out.println("all " + threads.size() + " ended");
	}
}
JAVA
cat >"$tmp/native.c" <<'C'
#include <jni.h>

static volatile int calls;

JNIEXPORT void JNICALL
Java_Blocked_down(JNIEnv *env, jclass class, jint n)
{
	jmethodID up = (*env)->GetStaticMethodID(env, class, "up", "(I)V");

	(*env)->CallStaticVoidMethod(env, class, up, n);
	calls++; /* or the call would be a jump */
}
C
(cd "$tmp" && javac Blocked.java) >"$tmp/javac.err" 2>&1 || fail "javac"
jni=
if gcc -shared -fPIC -O2 -I"$jvm/include" -I"$jvm/include/linux" \
    -o "$tmp/libnative.so" "$tmp/native.c" 2>"$tmp/gcc.txt"; then
	jni=$tmp/libnative.so
else
	echo "without native methods: jni.h is not installed"
fi

# THREAD frame, a line each, of what jstack says; modules left out.
of_jdk() {
	perl -ne '
		if (/^"([^"]*)".* nid=(0x[0-9a-f]+|\d+)/) {
			($name, $tid) = ($1, $2);
			$tid = hex($tid) if $tid =~ /^0x/;
			print STDERR "$tid $name\n";
		} elsif (/^\tat (.*)\((?:[^()]*@[^()\/]*\/)?(.*)\)$/) {
			print "$tid $1 ($2)\n";
		}' "$1" 2>"$tmp/names"
}

# The same of the last stack of each thread that dtrap was shown; what is
# native is left out, and written to "$tmp/native".
of_dtrap() {
	perl -ne '
		if (/^\+ (\d+) (\d+)$/) {
			($tid, $time) = ($1, $2);
			$cur = ($last{$tid}{time} // 0) <= $time ?
			    ($last{$tid} = { time => $time, all => [] }) : {};
		} elsif (/^\s+(\S.*)$/) {
			push @{$cur->{all}}, $1;
		}
		END {
			for my $t (sort { $a <=> $b } keys %last) {
				for (@{$last{$t}{all}}) {
					my $java = /^[^`]* \(.*\)$/;
					print "$t $_\n" if $java;
					print STDERR "$t $_\n";
				}
			}
		}' "$1" 2>"$tmp/native"
}

# mode NAME LOAD OPTION...: the threads of a JVM, by both.
mode() {
	local name=$1 load=$2 tid thread cat n=0
	shift 2
	start java java "$@" -cp "$tmp" Blocked "$load" ${jni:+"$jni"}
	line java ready
	start_dt dt -q -p "${pid[java]}" -x bufsize=16m -x jstackframes=400 -n '
	    syscall::futex:entry,syscall::poll:entry,syscall::ppoll:entry,
	    syscall::read:entry /pid == $target/ {
		printf("+ %d %d\n", tid, timestamp); jstack(400); }'
	# It writes more than a pipe holds.
	cat <&"${out[dt]}" >"$tmp/stacks" &
	cat=$!
	unset "out[dt]"
	tell java go
	line java blocked
	jstack "${pid[java]}" >"$tmp/jstack.txt" 2>"$tmp/jstack.err" ||
	    fail "$name: jstack"
	kill -INT "${pid[dt]}"
	end dt
	is "$name: status" "$status" 0
	wait $cat
	hasnt "$tmp/dt.err" 'drop|error'
	is "$name: tracer afterwards" "$(tracer "${pid[java]}")" 0
	of_jdk "$tmp/jstack.txt" >"$tmp/jdk"
	of_dtrap "$tmp/stacks" >"$tmp/ours"
	while read -r tid thread; do
		case $thread in
		main | waits | parks | holds | wants | deep | inlined | rare | \
		    reads | stream | reflected | handle | comparing | native) ;;
		*) continue ;;
		esac
		grep "^$tid " "$tmp/jdk" >"$tmp/want"
		grep "^$tid " "$tmp/ours" >"$tmp/seen"
		has "$tmp/want" ' Blocked\.'
		same "$name: frames of $thread" "$tmp/want" "$tmp/seen"
		# Native frames above and below stay.
		grep "^$tid " "$tmp/native" | sed -n '1p;$p' >"$tmp/ends"
		has "$tmp/ends" 'libc.so.6`'
		grep -c 'libc.so.6`' "$tmp/ends" >"$tmp/both"
		has "$tmp/both" 2
		n=$((n + 1))
	done <"$tmp/names"
	is "$name: threads compared" "$n" $((jni_threads + 13))
	if [ -n "$jni" ]; then
		tid=$(sed -n 's/ native$//p' "$tmp/names")
		is "$name: between" "$(grep "^$tid " "$tmp/native" |
		    sed -n 's/.*\(Java_Blocked_down\).*/\1/p
			s/.*\(Blocked.down (Native\).*/\1/p
			s/.*\(Blocked.up\) .*/\1/p' | xargs)" \
"Blocked.up Java_Blocked_down Blocked.down (Native Blocked.up Java_Blocked_down Blocked.down (Native Blocked.up Java_Blocked_down Blocked.down (Native"
	fi
	tell java end
	line java "all $((jni_threads + 12)) ended"
	end java
	is "$name: status of java" "$status" 0
	# Newer ones warn of native code.
	sed -i '/^WARNING: /d' "$tmp/java.err"
	hasnt "$tmp/java.err" .
}
jni_threads=${jni:+1}
jni_threads=${jni_threads:-0}
mode interpreted 0 -Xint
mode compiled 0 -Xcomp
mode default 2

# A profile of a program that knows what it does most, without and with its
# methods compiled: three methods called by one, of work in known proportion.
cat >"$tmp/Hot.java" <<'JAVA'
class Hot {
	static int[] data = new int[512];
	static int work(int n) {
		int r = n;
		for (int i = 0; i < n; i++)
			for (int j = 0; j < data.length; j++)
				r = r * 31 + (data[j] ^= r >>> 3);
		return r;
	}
	static int most() { return work(60); }
	static int some() { return work(30); }
	static int least() { return work(10); }
	static int round() { return most() + some() + least(); }
	public static void main(String[] a) {
		int r = 0, n = Integer.parseInt(a[0]);
		for (int i = 0; i < n; i++) {
			r = r * 17 + round();
			if (i == n / 100)
				System.out.println("begun");
		}
		System.out.println("result " + r);
	}
}
JAVA
(cd "$tmp" && javac Hot.java) >"$tmp/javac.err" 2>&1 || fail "javac"
profile() { # NAME ROUNDS OPTION...
	local name=$1 rounds=$2 total sum
	shift 2
	java "$@" -cp "$tmp" Hot "$rounds" >"$tmp/plain"
	dt -q -x stackformat=folded -o "$tmp/profile" -n '
	    profile-997 /pid == $target/ { @[jstack(64)] = count(); }' \
	    -c "$(quote java "$@" -cp "$tmp" Hot "$rounds")"
	is "$name: status" "$status" 0
	same "$name: output" "$tmp/plain" "$tmp/out"
	# Those in work(), by the method that called it; all of them lead back
	# to where the thread began.
	perl -ne '
		next unless /;Hot\.work (\d+)$/;
		$all += $1;
		# Without its debug information that function has no name.
		next unless /libc\.so\.6`(?:start_thread|0x[0-9a-f]+);/;
		$n{$1} += $2 if
		    /;Hot\.main;Hot\.round;Hot\.(\w+);Hot\.work (\d+)$/;
		END {
			printf "all %d\n", $all;
			printf "%s %d\n", $_, $n{$_}
			    for sort { $n{$b} <=> $n{$a} } keys %n;
		}' "$tmp/profile" >"$tmp/shares"
	is "$name: order" "$(sed 1d "$tmp/shares" | cut -d' ' -f1 | xargs)" \
	    "most some least"
	total=$(sed -n 's/^all //p' "$tmp/shares")
	sum=$(awk '$1 != "all" { n += $2 } END { print n + 0 }' "$tmp/shares")
	echo "$name: $(xargs <"$tmp/shares")"
	[ "$total" -gt 100 ] || wrong "$name: $total samples"
	[ $((sum * 100)) -ge $((total * 98)) ] ||
	    wrong "$name: $sum of $total samples have their callers"
}
profile interpreted 1000 -Xint
profile first 10000 -XX:TieredStopAtLevel=1
profile optimised 20000 -XX:-TieredCompilation
finish
