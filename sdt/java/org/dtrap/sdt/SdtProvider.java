package org.dtrap.sdt;

import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

/**
 * What the classes that SdtClass makes extend; programs do not use it.
 *
 * A method that nobody watches costs a load of the probe's semaphore, in memory of
 * the provider's object. After dispose() other threads may still be about to load from
 * there. So dispose() only puts others in their place, which are 0. The memory goes
 * when the collector finds the first ones unreachable: then no thread has them.
 */
public abstract class SdtProvider implements Provider {
	private Semaphores semaphores;
	private long[] probes;
	private Method[] methods;

	protected SdtProvider() { }

	static <T extends Provider> T make(Class<T> type) {
		SdtClass shape = SdtClass.of(type);
		SdtProvider provider = shape.instance();
		provider.methods = shape.methods;
		provider.load(shape);
		// A thread that finds it without a lock sees all of it.
		VarHandle.releaseFence();
		return type.cast(provider);
	}

	private void load(SdtClass shape) {
		long handle = Native.create(shape.name);
		try {
			probes = new long[methods.length];
			for (int i = 0; i < methods.length; i++)
				probes[i] = Native.probe(handle, shape.functions[i],
				    shape.probes[i], Args.types(methods[i]));
			Native.load(handle);
			semaphores = new Semaphores(handle, probes);
		} catch (Throwable e) {
			Native.destroy(handle);
			throw e;
		}
	}

	/** Does somebody watch the probe of this number? */
	protected final boolean watched(int probe) {
		return semaphores.raised(probe);
	}

	/** Fire the probe of this number. texts may be null; of an argument that is no
	 * string the text is null, and of a string the value is 0. */
	protected final void fire(int probe, long[] values, String[] texts) {
		Semaphores loaded = semaphores; // keeps the probes
		if (loaded.gone)
			return;
		try {
			int mask = 0;
			byte[] bytes = null;
			for (int i = 0; texts != null && i < texts.length; i++) {
				if (texts[i] == null)
					continue;
				mask |= 1 << i;
				values[i] = bytes == null ? 0 : bytes.length;
				bytes = append(bytes, texts[i]);
			}
			Native.fire(probes[probe], values, mask, bytes);
		} finally {
			Reference.reachabilityFence(loaded);
		}
	}

	/** The bytes, the text as UTF-8, and a 0. */
	private static byte[] append(byte[] bytes, String text) {
		byte[] more = text.getBytes(StandardCharsets.UTF_8);
		int had = bytes == null ? 0 : bytes.length;
		byte[] all = new byte[had + more.length + 1];
		if (had > 0)
			System.arraycopy(bytes, 0, all, 0, had);
		System.arraycopy(more, 0, all, had, more.length);
		return all;
	}

	@Override
	public final Probe getProbe(Method method) {
		for (int i = 0; i < methods.length; i++)
			if (methods[i].equals(method))
				return new SdtProbe(this, i, method.getParameterTypes());
		return null;
	}

	@Override
	public final void dispose() {
		semaphores = new Semaphores(probes.length);
	}
}
