package org.dtrap.sdt;

/** Makes providers from interfaces. */
public abstract class ProviderFactory {
	protected ProviderFactory() { }

	/** The one that makes probes for dtrap and other tracers. */
	public static ProviderFactory getDefaultFactory() {
		return new DTraceProviderFactory();
	}

	/**
	 * Make a provider: an object whose methods fire the probes.
	 * IllegalArgumentException: the interface cannot be a provider, because of a
	 * name, a type or too many parameters, and it says which.
	 * IllegalStateException: the system does not allow it, and it says why.
	 */
	public abstract <T extends Provider> T createProvider(Class<T> type);
}
