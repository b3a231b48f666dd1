package org.dtrap.sdt;

/** The only factory; some programs name it instead of asking for the default. */
public final class DTraceProviderFactory extends ProviderFactory {
	@Override
	public <T extends Provider> T createProvider(Class<T> type) {
		return SdtProvider.make(type);
	}
}
