package org.dtrap.sdt;

import java.lang.annotation.Annotation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What the factory knows of an interface: names, methods, and the class whose
 * objects are its providers. The class is made once; Proxy of java.lang.reflect
 * would box the arguments of each call, also where nobody watches.
 */
final class SdtClass {
	private static final String UNSPECIFIED = "unspecified";
	private static final ClassValue<SdtClass> KNOWN = new ClassValue<>() {
		@Override
		protected SdtClass computeValue(Class<?> type) {
			return new SdtClass(type);
		}
	};

	final String name;
	/** The number of a probe is the index of its method. */
	final Method[] methods;
	final String[] probes;
	final String[] functions;
	private final MethodHandle constructor;

	private SdtClass(Class<?> type) {
		if (!type.isInterface())
			throw new IllegalArgumentException(type.getName()
			    + ": a provider is made from an interface");
		ProviderName named = type.getAnnotation(ProviderName.class);
		name = named != null ? named.value() : type.getSimpleName();
		methods = methodsOf(type);
		probes = new String[methods.length];
		functions = new String[methods.length];
		for (int i = 0; i < methods.length; i++) {
			ProbeName p = methods[i].getAnnotation(ProbeName.class);
			FunctionName f = methods[i].getAnnotation(FunctionName.class);
			probes[i] = p != null ? p.value() : methods[i].getName();
			functions[i] = f != null ? f.value() : UNSPECIFIED;
		}
		constructor = define(type);
	}

	static SdtClass of(Class<?> type) {
		return KNOWN.get(type);
	}

	/** An object of the class, without probes. */
	SdtProvider instance() {
		try {
			return (SdtProvider)constructor.invoke();
		} catch (Throwable e) {
			throw new AssertionError(e); // it does nothing
		}
	}

	/** Those that are probes; IllegalArgumentException if one cannot be. */
	private static Method[] methodsOf(Class<?> type) {
		List<Method> found = new ArrayList<>();
		for (Method m : type.getMethods()) {
			if (m.getDeclaringClass() == Provider.class
			    || !Modifier.isAbstract(m.getModifiers()))
				continue;
			if (m.getReturnType() != void.class)
				throw new IllegalArgumentException(m
				    + ": the method of a probe returns void");
			Args.types(m);
			found.add(m);
		}
		found.sort(Comparator.comparing(Method::toString));
		return found.toArray(new Method[0]);
	}

	private MethodHandle define(Class<?> type) {
		try {
			MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type,
			    MethodHandles.lookup());
			Class<?> made = lookup.defineHiddenClass(
			    ClassBytes.make(type, methods), true).lookupClass();
			return lookup.findConstructor(made,
			    MethodType.methodType(void.class));
		} catch (ReflectiveOperationException e) {
			throw new IllegalArgumentException(type.getName()
			    + ": its package is not open to org.dtrap.sdt", e);
		}
	}
}
