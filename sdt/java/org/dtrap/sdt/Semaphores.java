package org.dtrap.sdt;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.lang.reflect.Field;
import java.util.Arrays;

import sun.misc.Unsafe;

/**
 * Where the semaphores of a provider's probes are. While an object of this class is
 * reachable, they are there: the provider is destroyed after it was collected. So a
 * thread that holds the object may load from memory that nobody locks.
 */
final class Semaphores {
	/** A load by a VarHandle, which needs a buffer, takes several times as long. */
	private static final Unsafe UNSAFE = unsafe();
	private static final Cleaner CLEANER = Cleaner.create();
	/** A 0 that stays. */
	private static final long NEVER = UNSAFE.allocateMemory(2);

	static {
		UNSAFE.putShort(NEVER, (short)0);
	}

	private final long[] at;
	/** Are there no probes any more? */
	final boolean gone;

	/** Those of a provider that was disposed of: nobody watches. */
	Semaphores(int probes) {
		gone = true;
		at = new long[probes];
		Arrays.fill(at, NEVER);
	}

	/** Those of a loaded provider, which is destroyed after this object. */
	Semaphores(long provider, long[] probes) {
		gone = false;
		at = new long[probes.length];
		for (int i = 0; i < at.length; i++)
			at[i] = Native.semaphore(probes[i]);
		CLEANER.register(this, () -> Native.destroy(provider));
	}

	private static Unsafe unsafe() {
		try {
			Field f = Unsafe.class.getDeclaredField("theUnsafe");
			f.setAccessible(true);
			return (Unsafe)f.get(null);
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e); // it is exported
		}
	}

	/** Is that of the probe raised? The compiler leaves the load where it is, in
	 * a loop, too. */
	boolean raised(int probe) {
		try {
			return UNSAFE.getShortVolatile(null, at[probe]) != 0;
		} finally {
			Reference.reachabilityFence(this);
		}
	}
}
