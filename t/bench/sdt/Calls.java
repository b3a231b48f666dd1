import org.dtrap.sdt.Provider;
import org.dtrap.sdt.ProviderFactory;

import java.util.logging.Level;
import java.util.logging.Logger;

/** What a call costs: Calls N (nothing | probe | log). */
public class Calls {
	public interface Bench extends Provider {
		void here(long number, String text);
	}

	static final Logger logger = Logger.getLogger("bench");
	static final Bench bench =
	    ProviderFactory.getDefaultFactory().createProvider(Bench.class);

	static long nothing(long n) {
		long sum = 0;
		for (long i = 0; i < n; i++)
			sum ^= i * 31;
		return sum;
	}

	static long probe(long n) {
		long sum = 0;
		for (long i = 0; i < n; i++) {
			sum ^= i * 31;
			bench.here(i, "text");
		}
		return sum;
	}

	static long log(long n) {
		long sum = 0;
		for (long i = 0; i < n; i++) {
			sum ^= i * 31;
			logger.log(Level.FINE, "{0} text", i);
		}
		return sum;
	}

	static long run(String what, long n) {
		switch (what) {
		case "probe":
			return probe(n);
		case "log":
			return log(n);
		default:
			return nothing(n);
		}
	}

	public static void main(String[] args) {
		long n = Long.parseLong(args[0]), sum = 0;
		for (int i = 0; i < 20; i++)
			sum += run(args[1], n / 20); // compiled now
		long from = System.nanoTime();
		sum += run(args[1], n);
		long took = System.nanoTime() - from;
		System.out.printf("%.2f ns per call, %d%n", (double)took / n, sum);
	}
}
