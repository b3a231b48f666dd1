import org.dtrap.sdt.FunctionName;
import org.dtrap.sdt.ProbeName;
import org.dtrap.sdt.Provider;
import org.dtrap.sdt.ProviderFactory;
import org.dtrap.sdt.ProviderName;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * A program that makes a provider when it is told to; t/e2e/provider.sh says what
 * else it is told. Java's part of that test is at the end.
 */
public class Fires {
	@ProviderName("fires")
	public interface Shop extends Provider {
		@FunctionName("sell")
		@ProbeName("sold")
		void soldOne(int number, String what);
	}

	/** Not public, and with every type. */
	@ProviderName("types")
	interface Types extends Provider {
		void all(boolean z, byte b, char c, short s, int i, long l, float f,
		    double d, String t);
		void none();
		void text(String t);
	}

	interface Many extends Provider {
		void p(int a, int b, int c, int d, int e, int f, int g, int h, int i,
		    int j, int k, int l, int m);
	}

	@ProviderName("bad name")
	interface Named extends Provider { void p(); }

	interface Returning extends Provider { int p(); }

	interface Taking extends Provider { void p(Object o); }

	static class NoInterface implements Provider {
		public org.dtrap.sdt.Probe getProbe(Method m) { return null; }
		public void dispose() { }
	}

	static final int THREADS = 4, EACH = 25_000;
	static final ProviderFactory factory = ProviderFactory.getDefaultFactory();
	static Shop shop;

	static void fire() throws InterruptedException {
		Thread[] threads = new Thread[THREADS];
		for (int t = 0; t < THREADS; t++) {
			int first = t * EACH;
			threads[t] = new Thread(() -> {
				for (int i = first; i < first + EACH; i++)
					shop.soldOne(i, "what " + i);
			});
			threads[t].start();
		}
		for (Thread t : threads)
			t.join();
	}

	/** Mappings of providers. */
	static long objects() throws IOException {
		try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
			return lines.filter(l -> l.contains("memfd:types")).count();
		}
	}

	/** 1,000 providers, half of them disposed of, the others only dropped. */
	static void drop() throws Exception {
		for (int round = 0; round < 10; round++) {
			for (int i = 0; i < 100; i++) {
				Types t = factory.createProvider(Types.class);
				t.none();
				if (i % 2 == 0)
					t.dispose();
				t.none();
			}
			// The collector's threads say when they are done by doing it.
			while (objects() > 0) {
				System.gc();
				Thread.yield();
			}
		}
		System.out.println("dropped");
	}

	static void bad(String what, Supplier<Provider> make) {
		try {
			make.get();
			System.out.println("bad: " + what + " is accepted");
		} catch (IllegalArgumentException e) {
			System.out.println("bad: " + e.getMessage());
		}
	}

	static void bad() {
		bad("name", () -> factory.createProvider(Named.class));
		bad("many", () -> factory.createProvider(Many.class));
		bad("returning", () -> factory.createProvider(Returning.class));
		bad("taking", () -> factory.createProvider(Taking.class));
		bad("class", () -> factory.createProvider(NoInterface.class));
		System.out.println("badly");
	}

	static void types() throws Exception {
		Types t = factory.createProvider(Types.class);
		String tea = "t\u00e9 \u8336 \ud83c\udf75";
		t.all(true, (byte)-1, '\uffff', (short)-2, -3, Long.MIN_VALUE, -4.9f, 1e10,
		    tea);
		t.none();
		t.text(null);
		t.text("");
		t.text("x".repeat(5000));
		Method all = Types.class.getDeclaredMethod("all", boolean.class, byte.class,
		    char.class, short.class, int.class, long.class, float.class,
		    double.class, String.class);
		t.getProbe(all).trigger(false, (byte)1, 'a', (short)2, 3, 4L, 5.5f, 6.5,
		    "by trigger");
		bad("few", () -> { t.getProbe(all).trigger(1); return t; });
		bad("type", () -> {
			t.getProbe(all).trigger(0, (byte)1, 'a', (short)2, 3, 4L, 5.5f,
			    6.5, "");
			return t;
		});
		System.out.println("enabled " + t.getProbe(all).isEnabled() + " "
		    + t.getProbe(Object.class.getMethod("toString")));
		t.dispose();
		t.text("after the end");
		System.out.println("enabled " + t.getProbe(all).isEnabled());
		System.out.println("typed");
	}

	/** For ever, without anything in the loop that orders memory. */
	static void spin() {
		new Thread(() -> {
			for (long n = 0;; n++) {
				shop.soldOne(-1, "spin");
				if (n == 50_000_000)
					System.out.println("spinning");
			}
		}).start();
	}

	static void told(String what) throws Exception {
		switch (what) {
		case "make":
			shop = factory.createProvider(Shop.class);
			System.out.println("made");
			break;
		case "once":
			shop.soldOne(7, "seven");
			System.out.println("fired once");
			break;
		case "fire":
			fire();
			System.out.println("fired");
			break;
		case "spin":
			spin();
			break;
		case "drop":
			drop();
			break;
		case "bad":
			bad();
			break;
		case "types":
			types();
			break;
		}
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		System.out.println("ready");
		for (String s : args)
			told(s);
		for (String s; args.length == 0 && (s = in.readLine()) != null;)
			told(s);
	}
}
