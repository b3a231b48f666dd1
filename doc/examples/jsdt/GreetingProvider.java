import org.dtrap.sdt.Provider;

/** Its methods are the probes. */
public interface GreetingProvider extends Provider {
	void greetingStart(int greetingId);

	void greetingEnd(int greetingId);
}
