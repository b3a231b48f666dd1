package org.dtrap.sdt;

/** A probe, as its provider shows it. */
final class SdtProbe implements Probe {
	private final SdtProvider provider;
	private final int index;
	private final Class<?>[] params;

	SdtProbe(SdtProvider provider, int index, Class<?>[] params) {
		this.provider = provider;
		this.index = index;
		this.params = params;
	}

	@Override
	public boolean isEnabled() {
		return provider.watched(index);
	}

	@Override
	public void trigger(Object... args) {
		if (args.length != params.length)
			throw new IllegalArgumentException(args.length
			    + " arguments for a probe with " + params.length);
		long[] values = new long[args.length];
		String[] texts = new String[args.length];
		for (int i = 0; i < args.length; i++) {
			values[i] = Args.value(params[i], args[i]);
			if (args[i] instanceof String)
				texts[i] = (String)args[i];
		}
		if (provider.watched(index))
			provider.fire(index, values, texts);
	}
}
