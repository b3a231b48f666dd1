#!/bin/bash
# timeout: 300
# The static probes of a Java virtual machine as Debian builds it: names are
# bytes and a length; methods are only told of where the machine is asked to.
. "${0%/*}/lib.sh"
need_attach
need java javac readelf perl
LIMIT=150
jvm=$(readlink -f "$(command -v java)")
jvm=${jvm%/bin/java}/lib/server/libjvm.so
[ -f "$jvm" ] || skip "java has no libjvm.so beside it"
carries "$jvm" method__entry || skip "java has no static probes here"

cat >"$tmp/Known.java" <<'JAVA'
import java.util.Scanner;

class Known {
	static class Small { }
	static int leaf(int n) { return n + 1; }
	static int rec(int n) { return n == 0 ? leaf(n) : rec(n - 1) + 1; }
	String method(String s) { return s + leaf(3); }
	static void all() throws Exception {
		for (int i = 0; i < 10; i++)
			rec(3);
		new Known().method("x");
		for (int i = 0; i < 5; i++)
			new Small();
		System.gc();
		Small lock = new Small();
		synchronized (lock) { lock.wait(1); }
	}
	public static void main(String[] a) throws Exception {
		if (a.length == 0) {
			all();
			return;
		}
		Scanner in = new Scanner(System.in);
		System.out.println("ready");
		while (in.hasNextLine()) {
			String s = in.nextLine();
			Thread t = new Thread(() -> {
				try { all(); } catch (Exception e) { }
			}, "known " + s);
			t.start();
			t.join();
			System.out.println("done " + s);
		}
	}
}
JAVA
(cd "$tmp" && javac -J-XX:TieredStopAtLevel=1 Known.java) \
    >"$tmp/javac.err" 2>&1 || fail "javac"
java=(java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -cp "$tmp")

# shellcheck disable=SC2016
methods='
hotspot$target:::method-entry /stringof(copyin(arg1, arg2)) == "Known"/ {
	@["entry", stringof(copyin(arg3, arg4)), stringof(copyin(arg5, arg6))] = count();
}
hotspot$target:::method-return /stringof(copyin(arg1, arg2)) == "Known"/ {
	@["return", stringof(copyin(arg3, arg4)), stringof(copyin(arg5, arg6))] = count();
}
hotspot$target:::object-alloc /stringof(copyin(arg1, arg2)) == "Known$Small"/ {
	@["alloc", "Known$Small", ""] = count();
}
hotspot$target:::monitor-wait,hotspot$target:::monitor-waited
/stringof(copyin(arg2, arg3)) == "Known$Small"/ {
	@[probename, "Known$Small", ""] = count();
}
hotspot$target:::gc-begin,hotspot$target:::gc-end
/arg0 == 1 || probename == "gc-end"/ {
	@[probename, "", ""] = count();
}
END { printa("* %s %s %s %@d\n", @); }'
want_methods() {
	cat <<'WANT'
* alloc Known$Small  6
* entry <init> ()V 1
* entry all ()V 1
* entry leaf (I)I 11
* entry method (Ljava/lang/String;)Ljava/lang/String; 1
* entry rec (I)I 40
* gc-begin   1
* gc-end   1
* monitor-wait Known$Small  1
* monitor-waited Known$Small  1
* return <init> ()V 1
* return all ()V 1
* return leaf (I)I 11
* return method (Ljava/lang/String;)Ljava/lang/String; 1
* return rec (I)I 40
WANT
}

# Launched; its own start and end, and the class that it loads.
# shellcheck disable=SC2016
dt -q -Z -n "$methods" -n '
hotspot$target:::class-loaded /index(stringof(copyin(arg0, arg1)), "Known") == 0/ {
	printf("+ loaded %s\n", stringof(copyin(arg0, arg1)));
}
hotspot$target:::vm-init-begin,hotspot$target:::vm-init-end,
hotspot$target:::vm-shutdown { printf("+ %s\n", probename); }' \
    -c "$(quote "${java[@]}" -XX:+ExtendedDTraceProbes Known)"
is "status" "$status" 0
hasnt "$tmp/err" 'error|drop'
{ want_methods; printf '* %s main ([Ljava/lang/String;)V 1\n' entry return; } |
    sort >"$tmp/want"
grep '^\*' "$tmp/out" | sort >"$tmp/seen"
same "launched" "$tmp/want" "$tmp/seen"
# shellcheck disable=SC2016
printf '+ %s\n' vm-init-begin vm-init-end 'loaded Known' 'loaded Known$Small' \
    vm-shutdown >"$tmp/want"
grep '^+' "$tmp/out" >"$tmp/seen"
same "its life" "$tmp/want" "$tmp/seen"

# Attached to, with a thread that is started meanwhile.
for p in one two; do
	start $p "${java[@]}" -XX:+ExtendedDTraceProbes Known serve
	line $p ready
done
# shellcheck disable=SC2016
start_dt dt -q -p "${pid[one]}" -n "$methods" -n '
hotspot$target:::thread-start { printf("+ %s\n", stringof(copyin(arg0, arg1))); }'
tell one first
line one 'done first'
kill -INT "${pid[dt]}"
end dt
is "status" "$status" 0
hasnt "$tmp/dt.err" .
is "tracer afterwards" "$(tracer "${pid[one]}")" 0
want_methods | sort >"$tmp/want"
grep '^\*' "$tmp/dt.out" | grep -v 'lambda' | sort >"$tmp/seen"
same "attached" "$tmp/want" "$tmp/seen"
has "$tmp/dt.out" '^\+ known first$'

in_two hotspot "$jvm" \
    'thread-start /strstr(stringof(copyin(arg0, arg1)), "known") != NULL/' \
    'stringof(copyin(arg0, 5))' known
end_two
finish
