/*
 * Greeter THREADS TIMES: THREADS threads, "greeter 1" and on, say hello TIMES each
 * by one Greeting, whose greet() is synchronized.
 *
 * The main thread has the monitor of the Greeting until all of them are blocked by
 * it; each of them then keeps it for all of its greetings.  So each waits for it
 * exactly once, however many processors there are.  In the end the garbage is
 * collected, once.
 */
class Greeter extends Thread {
	static class Greeting {
		int said;

		synchronized void greet(String who) {
			said++;
			System.out.println("hello from " + who);
		}
	}

	final Greeting greeting;
	final int times;

	Greeter(Greeting greeting, int number, int times) {
		super("greeter " + number);
		this.greeting = greeting;
		this.times = times;
	}

	public void run() {
		synchronized (greeting) {
			for (int i = 0; i < times; i++)
				greeting.greet(getName());
		}
	}

	public static void main(String[] args) throws InterruptedException {
		Greeter[] all = new Greeter[Integer.parseInt(args[0])];
		int times = Integer.parseInt(args[1]);
		Greeting greeting = new Greeting();

		synchronized (greeting) {
			for (int i = 0; i < all.length; i++) {
				all[i] = new Greeter(greeting, i + 1, times);
				all[i].start();
			}
			for (Greeter g : all)
				while (g.getState() != Thread.State.BLOCKED)
					Thread.yield();
		}
		for (Greeter g : all)
			g.join();
		if (greeting.said != all.length * times)
			System.exit(99);
		System.gc();
	}
}
