/* A tea house in Java, to be traced: two waiters share one kettle. */
class Tea {
	static final Object kettle = new Object();

	static int price(String tea, int grams) {
		return (tea.equals("assam") ? 3 : 5) * grams;
	}

	static int serve(String tea, int grams) throws InterruptedException {
		synchronized (kettle) {
			kettle.wait(grams);
		}
		return price(tea, grams);
	}

	static void waiter(String tea) {
		try {
			for (int i = 1; i <= 5; i++)
				serve(tea, i);
		} catch (InterruptedException e) {
			return;
		}
	}

	public static void main(String[] args) throws InterruptedException {
		Thread other = new Thread(() -> waiter("assam"), "other");

		other.start();
		waiter("sencha");
		other.join();
	}
}
