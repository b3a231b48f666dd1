package org.dtrap.sdt;

/** How stable a name is, in the words of DTrace. */
public enum StabilityLevel {
	INTERNAL, PRIVATE, OBSOLETE, EXTERNAL, UNSTABLE, EVOLVING, STABLE, STANDARD
}
