package org.dtrap.sdt;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The functions of native.c. A long is an address. */
final class Native {
	private static final String NAME = "libdtrap-sdt-java.so";

	private Native() { }

	static {
		load();
	}

	/** From the archive, by way of a file that is gone when it is loaded. */
	private static void load() {
		Path file = null;
		try (InputStream in = Native.class.getResourceAsStream(NAME)) {
			if (in == null)
				throw new UnsatisfiedLinkError(NAME
				    + " is not in the archive of org.dtrap.sdt");
			file = Files.createTempFile("dtrap-sdt", ".so");
			Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
			System.load(file.toString());
		} catch (IOException e) {
			throw new UnsatisfiedLinkError(NAME + ": " + e);
		} finally {
			if (file != null)
				file.toFile().delete();
		}
	}

	/** A new provider without probes. */
	static native long create(String name);

	/** A new probe of it; types are the values of enum dtrap_arg. */
	static native long probe(long provider, String function, String name,
	    int[] types);

	static native void load(long provider);

	static native void destroy(long provider);

	/** Where the semaphore of a probe is, while the provider is loaded. */
	static native long semaphore(long probe);

	/**
	 * Fire a probe. An argument whose bit is set in texts is a string: its value
	 * is the place in bytes where that begins, which ends with a 0.
	 */
	static native void fire(long probe, long[] values, int texts, byte[] bytes);
}
