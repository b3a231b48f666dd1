package org.dtrap.sdt;

/** One probe, for programs that do not know it when they are compiled. */
public interface Probe {
	/** Does somebody watch it? A load from memory. */
	boolean isEnabled();

	/**
	 * Fire it. IllegalArgumentException if number or types of the arguments are
	 * not those of its method, whether somebody watches it or not.
	 */
	void trigger(Object... args);
}
