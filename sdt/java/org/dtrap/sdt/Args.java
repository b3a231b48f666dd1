package org.dtrap.sdt;

import java.lang.reflect.Method;

/** How the parameters of a method become arguments of a probe. */
final class Args {
	/** Values of enum dtrap_arg (dtrap-provider.h). */
	private static final int INT8 = 1, UINT8 = 2, INT16 = 3, UINT16 = 4, INT32 = 5,
	    INT64 = 7, STRING = 9;

	private Args() { }

	/** The types of the arguments; IllegalArgumentException if one has none. */
	static int[] types(Method method) {
		Class<?>[] params = method.getParameterTypes();
		int[] types = new int[params.length];
		for (int i = 0; i < params.length; i++) {
			types[i] = type(params[i]);
			if (types[i] == 0)
				throw new IllegalArgumentException(method
				    + ": a parameter of a probe is of a primitive type"
				    + " or String");
		}
		return types;
	}

	private static int type(Class<?> c) {
		if (c == boolean.class)
			return UINT8;
		if (c == byte.class)
			return INT8;
		if (c == char.class)
			return UINT16;
		if (c == short.class)
			return INT16;
		if (c == int.class)
			return INT32;
		// What D has no numbers for arrives without its fraction.
		if (c == long.class || c == float.class || c == double.class)
			return INT64;
		return c == String.class ? STRING : 0;
	}

	static boolean isText(int type) {
		return type == STRING;
	}

	/** The integer that an object of a box type holds; the text of a String is
	 * not one, and is 0. IllegalArgumentException if it is not for param. */
	static long value(Class<?> param, Object arg) {
		if (param == String.class && (arg == null || arg instanceof String))
			return 0;
		if (param == boolean.class && arg instanceof Boolean)
			return (Boolean)arg ? 1 : 0;
		if (param == char.class && arg instanceof Character)
			return (Character)arg;
		if (param != boolean.class && param != char.class
		    && param.isPrimitive() && arg instanceof Number)
			return ((Number)arg).longValue();
		throw new IllegalArgumentException("an argument is "
		    + (arg == null ? "null" : "a " + arg.getClass().getName())
		    + ", not a " + param.getName());
	}
}
