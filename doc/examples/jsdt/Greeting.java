/** Greets, and lets probes know of it. */
public class Greeting {
	private final GreetingProvider provider;

	public Greeting(GreetingProvider provider) {
		this.provider = provider;
	}

	public void greet(int greetingId) {
		provider.greetingStart(greetingId);
		System.out.println("Good morning, number " + greetingId);
		provider.greetingEnd(greetingId);
	}
}
