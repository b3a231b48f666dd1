package org.dtrap.sdt;

import java.lang.reflect.Method;

/**
 * What the interface of a program's probes extends. Each of its methods is a probe:
 * it returns void, its parameters are of primitive types and String, and calling it
 * fires the probe. ProviderFactory makes an object of it.
 */
public interface Provider {
	/** The probe of a method of the interface; null if it has none. */
	Probe getProbe(Method method);

	/**
	 * End the provider: its probes fire no more, and its methods do nothing.
	 * What is mapped for it goes when the garbage collector has seen that no
	 * thread is in a method of it.
	 */
	void dispose();
}
