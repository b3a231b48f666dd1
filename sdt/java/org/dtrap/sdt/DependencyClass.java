package org.dtrap.sdt;

/** On what a name depends, in the words of DTrace. */
public enum DependencyClass {
	UNKNOWN, CPU, PLATFORM, GROUP, ISA, COMMON
}
