package org.dtrap.sdt;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;

/**
 * The class file of a provider: a subclass of SdtProvider that implements the
 * interface. Each method is, for the probe of number N:
 *
 *	if (watched(N))
 *		fire(N, new long[] { each argument, 0 for a String },
 *		    new String[] { each argument, null for an integer } or null);
 */
final class ClassBytes {
	private static final int VERSION = 60;
	private static final int PUBLIC = 1, FINAL = 0x10, SUPER = 0x20;
	private static final int UTF8 = 1, CLASS = 7, METHODREF = 10, NAME_TYPE = 12;
	private static final int ACONST_NULL = 0x01, LCONST_0 = 0x09, SIPUSH = 0x11,
	    ILOAD = 0x15, LLOAD = 0x16, FLOAD = 0x17, DLOAD = 0x18, ALOAD = 0x19,
	    LASTORE = 0x50, AASTORE = 0x53, DUP = 0x59, I2L = 0x85, F2L = 0x8c,
	    D2L = 0x8f, IFEQ = 0x99, RETURN = 0xb1, INVOKEVIRTUAL = 0xb6,
	    INVOKESPECIAL = 0xb7, NEWARRAY = 0xbc, ANEWARRAY = 0xbd;
	private static final int LONGS = 11; // what newarray makes
	private static final int SAME_FRAME_EXTENDED = 251;
	private static final String PARENT = internal(SdtProvider.class);

	private final Map<String, Integer> known = new HashMap<>();
	private final ByteArrayOutputStream poolBytes = new ByteArrayOutputStream();
	private final DataOutputStream pool = new DataOutputStream(poolBytes);
	private int entries;

	private ClassBytes() { }

	static byte[] make(Class<?> type, Method[] methods) {
		try {
			return new ClassBytes().file(type, methods);
		} catch (IOException e) {
			throw new UncheckedIOException(e); // not in memory
		}
	}

	private static String internal(Class<?> c) {
		return c.getName().replace('.', '/');
	}

	// ---- the constant pool: each function returns the number of an entry ----

	private int utf8(String s) throws IOException {
		Integer n = known.get(s);
		if (n != null)
			return n;
		pool.writeByte(UTF8);
		pool.writeUTF(s);
		return entry(s);
	}

	private int entry(String key) {
		known.put(key, ++entries);
		return entries;
	}

	private int type(String name) throws IOException {
		Integer n = known.get("class " + name);
		if (n != null)
			return n;
		int at = utf8(name);
		pool.writeByte(CLASS);
		pool.writeShort(at);
		return entry("class " + name);
	}

	/** A method of SdtProvider. */
	private int method(String name, String descriptor) throws IOException {
		String key = "method " + name;
		Integer n = known.get(key);
		if (n != null)
			return n;
		int parent = type(PARENT), first = utf8(name), second = utf8(descriptor);
		pool.writeByte(NAME_TYPE);
		pool.writeShort(first);
		pool.writeShort(second);
		int both = entry("name " + name);
		pool.writeByte(METHODREF);
		pool.writeShort(parent);
		pool.writeShort(both);
		return entry(key);
	}

	// ---- the file ----

	private byte[] file(Class<?> type, Method[] methods) throws IOException {
		ByteArrayOutputStream bodyBytes = new ByteArrayOutputStream();
		DataOutputStream body = new DataOutputStream(bodyBytes);
		body.writeShort(PUBLIC | FINAL | SUPER);
		body.writeShort(type(internal(type) + "$Probes"));
		body.writeShort(type(PARENT));
		body.writeShort(1);
		body.writeShort(type(internal(type)));
		body.writeShort(0); // fields
		body.writeShort(methods.length + 1);
		constructor(body);
		for (int i = 0; i < methods.length; i++)
			probe(body, methods[i], i);
		body.writeShort(0); // attributes

		ByteArrayOutputStream all = new ByteArrayOutputStream();
		DataOutputStream out = new DataOutputStream(all);
		out.writeInt(0xcafebabe);
		out.writeInt(VERSION);
		out.writeShort(entries + 1);
		poolBytes.writeTo(out);
		bodyBytes.writeTo(out);
		return all.toByteArray();
	}

	private void constructor(DataOutputStream body) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		DataOutputStream code = new DataOutputStream(bytes);
		load(code, ALOAD, 0);
		code.writeByte(INVOKESPECIAL);
		code.writeShort(method("<init>", "()V"));
		code.writeByte(RETURN);
		member(body, "<init>", "()V", 1, bytes, -1);
	}

	private void probe(DataOutputStream body, Method m, int number)
	    throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		DataOutputStream code = new DataOutputStream(bytes);
		byte[] fire = fire(m.getParameterTypes(), number);
		load(code, ALOAD, 0);
		push(code, number);
		code.writeByte(INVOKEVIRTUAL);
		code.writeShort(method("watched", "(I)Z"));
		code.writeByte(IFEQ);
		code.writeShort(3 + fire.length);
		code.write(fire);
		int end = bytes.size();
		code.writeByte(RETURN);
		int slots = 1;
		for (Class<?> c : m.getParameterTypes())
			slots += slots(c);
		member(body, m.getName(), MethodType.methodType(void.class,
		    m.getParameterTypes()).toMethodDescriptorString(), slots, bytes, end);
	}

	/** The call of fire(). */
	private byte[] fire(Class<?>[] params, int number) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		DataOutputStream code = new DataOutputStream(bytes);
		boolean texts = false;
		load(code, ALOAD, 0);
		push(code, number);
		push(code, params.length);
		code.writeByte(NEWARRAY);
		code.writeByte(LONGS);
		for (int i = 0, slot = 1; i < params.length; slot += slots(params[i++])) {
			texts |= params[i] == String.class;
			if (params[i] != String.class)
				integer(code, params[i], i, slot);
		}
		if (texts)
			strings(code, params);
		else
			code.writeByte(ACONST_NULL);
		code.writeByte(INVOKEVIRTUAL);
		code.writeShort(method("fire", "(I[J[Ljava/lang/String;)V"));
		return bytes.toByteArray();
	}

	private void integer(DataOutputStream code, Class<?> c, int i, int slot)
	    throws IOException {
		code.writeByte(DUP);
		push(code, i);
		if (c == long.class) {
			load(code, LLOAD, slot);
		} else if (c == float.class) {
			load(code, FLOAD, slot);
			code.writeByte(F2L);
		} else if (c == double.class) {
			load(code, DLOAD, slot);
			code.writeByte(D2L);
		} else {
			load(code, ILOAD, slot);
			code.writeByte(I2L);
		}
		code.writeByte(LASTORE);
	}

	private void strings(DataOutputStream code, Class<?>[] params)
	    throws IOException {
		push(code, params.length);
		code.writeByte(ANEWARRAY);
		code.writeShort(type("java/lang/String"));
		for (int i = 0, slot = 1; i < params.length; slot += slots(params[i++])) {
			if (params[i] != String.class)
				continue;
			code.writeByte(DUP);
			push(code, i);
			load(code, ALOAD, slot);
			code.writeByte(AASTORE);
		}
	}

	private static int slots(Class<?> c) {
		return c == long.class || c == double.class ? 2 : 1;
	}

	private static void push(DataOutputStream code, int value) throws IOException {
		code.writeByte(SIPUSH);
		code.writeShort(value);
	}

	private static void load(DataOutputStream code, int op, int slot)
	    throws IOException {
		code.writeByte(op);
		code.writeByte(slot);
	}

	/** A method; branches lead to target, if that is not -1. */
	private void member(DataOutputStream body, String name, String descriptor,
	    int locals, ByteArrayOutputStream code, int target) throws IOException {
		// number and entries of the frames
		int frames = target < 0 ? 0 : 2 + 3;
		body.writeShort(PUBLIC);
		body.writeShort(utf8(name));
		body.writeShort(utf8(descriptor));
		body.writeShort(1);
		body.writeShort(utf8("Code"));
		body.writeInt(12 + code.size() + (frames > 0 ? 6 + frames : 0));
		body.writeShort(8); // the stack: this, number, both arrays, an element
		body.writeShort(locals);
		body.writeInt(code.size());
		code.writeTo(body);
		body.writeShort(0); // handlers of exceptions
		body.writeShort(frames > 0 ? 1 : 0);
		if (frames > 0) {
			body.writeShort(utf8("StackMapTable"));
			body.writeInt(frames);
			body.writeShort(1);
			body.writeByte(SAME_FRAME_EXTENDED);
			body.writeShort(target);
		}
	}
}
