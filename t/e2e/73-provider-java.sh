#!/bin/bash
# timeout: 900
# Probes that a Java program makes while it runs.
. "${0%/*}/provider.sh"
need java javac
jar=$PWD/$B/dtrap-sdt.jar
[ -f "$jar" ] || skip "a JDK with jni.h is not installed"
javac -J-XX:TieredStopAtLevel=1 -cp "$jar" -d "$tmp" "$src/Fires.java" \
    >"$tmp/javac.err" 2>&1 || fail "javac"
run=(java -Xmx24m -XX:+UseSerialGC -Xshare:auto -cp "$jar:$tmp" Fires)

FUNCTION=sell TYPE=int32_t fires_everywhere "${run[@]}"
seen_in_loop "${run[@]}"
# shellcheck disable=SC2016 # names of classes
refused 'bad name: bad name or type, or no provider
p: too many arguments: a probe has at most 12
public abstract int Fires$Returning.p(): the method of a probe returns void
public abstract void Fires$Taking.p(java.lang.Object): a parameter of a probe is of a primitive type or String
Fires$NoInterface: a provider is made from an interface' "${run[@]}"
# shellcheck disable=SC2016 # D
typed "+ 1 -1 65535 -2 -3 -9223372036854775808 -4 10000000000 té 茶 🍵
+ none
+ no text
+ 
+ $(printf 'x%.0s' {1..5000})
+ 0 1 97 2 3 4 5 6 by trigger" '
types$target:::all {
	printf("+ %d %d %d %d %d %d %d %d ", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7);
	printf("%s\n", copyinstr(arg8)); }
types$target:::none { printf("+ none\n"); }
types$target:::text { printf("+ %s\n", arg0 == 0 ? "no text" : copyinstr(arg0)); }' "${run[@]}"
grep -E '^(bad|enabled)' "$tmp/out" >"$tmp/got"
printf '%s\n' 'bad: 1 arguments for a probe with 9' \
    'bad: an argument is a java.lang.Integer, not a boolean' 'enabled true null' \
    'enabled false' >"$tmp/said"
same "what trigger() refuses" "$tmp/said" "$tmp/got"
dropped "${run[@]}"
finish
