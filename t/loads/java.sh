#!/bin/bash
# timeout: 7200
# A JVM: exceptions in compiled code, implicit null checks, safepoints that
# collections and biased code need, threads that end.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need java javac
cat >"$tmp/Load.java" <<'JAVA'
import java.util.ArrayList;
import java.util.HashMap;

class Load extends Thread {
	static class Deep extends RuntimeException {
		final int at;

		Deep(int at) {
			super("at " + at);
			this.at = at;
		}
	}

	final int seed;
	long sum;

	Load(int seed) {
		this.seed = seed;
	}

	static int fall(int depth, int n) {
		if (depth == 0) {
			if (n % 3 == 0)
				throw new Deep(n);
			int[] none = n % 3 == 1 ? null : new int[2];
			return none[n % 5];
		}
		return fall(depth - 1, n) + 1;
	}

	public void run() {
		HashMap<Integer, String> map = new HashMap<>();
		for (int i = 0; i < 2000; i++) {
			try {
				sum += fall(10, seed + i);
			} catch (Deep e) {
				sum += e.at;
			} catch (NullPointerException e) {
				sum += 1000;
			} catch (ArrayIndexOutOfBoundsException e) {
				sum += 100000;
			}
			map.put(i % 500, "value " + i);
			if (i % 500 == 0)
				System.gc();
		}
		for (String s : map.values())
			sum += s.length();
	}

	static int overflow(int n) {
		return overflow(n + 1) + 1;
	}

	public static void main(String[] args) throws Exception {
		ArrayList<Load> all = new ArrayList<>();
		for (int i = 0; i < 8; i++)
			all.add(new Load(i * 7));
		for (Load l : all)
			l.start();
		for (Load l : all) {
			l.join();
			System.out.println(l.seed + " " + l.sum);
		}
		try {
			overflow(0);
		} catch (StackOverflowError e) {
			System.out.println("overflow");
		}
		for (int i = 0; i < 50; i++) {
			Thread t = new Thread(() -> { });
			t.start();
			t.join();
		}
		System.out.println("ended");
	}
}
JAVA
javac -d "$tmp" "$tmp/Load.java" || fail "javac"
command_load java java -cp "$tmp" -Xmx256m Load
finish
