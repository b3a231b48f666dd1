package org.dtrap.sdt;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What the annotations for stability hold. Accepted and not used. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ })
public @interface Attributes {
	StabilityLevel name() default StabilityLevel.PRIVATE;

	StabilityLevel data() default StabilityLevel.PRIVATE;

	DependencyClass dependency() default DependencyClass.UNKNOWN;
}
