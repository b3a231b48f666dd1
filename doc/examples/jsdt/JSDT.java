import org.dtrap.sdt.*;

/** Static probes of a Java program: greets ten times a second, 100 times or as often as
 * its argument says. */
public class JSDT {
	public static void main(String[] args) throws InterruptedException {
		int times = args.length > 0 ? Integer.parseInt(args[0]) : 100;
		ProviderFactory factory = ProviderFactory.getDefaultFactory();
		GreetingProvider provider = factory.createProvider(GreetingProvider.class);
		Greeting greeter = new Greeting(provider);

		for (int id = 0; id < times; id++) {
			greeter.greet(id);
			Thread.sleep(100);
		}
		provider.dispose();
	}
}
