#!/bin/bash
# timeout: 400
# A Java virtual machine starts, with libc and its own functions probed.  It
# uses SIGSEGV for itself and writes its code as it goes.
. "${0%/*}/lib.sh"
need java keytool
LIMIT=180

# shellcheck disable=SC2016
{
same_traced 'pid$target:libc:*alloc:entry,pid$target:libc:mmap*:,pid$target:libc:pthread_*:entry,pid$target:libjvm:JNI_*:entry,pid$target:libjvm:JVM_*:entry,pid$target:libjvm:JVM_*:return' \
    java -Xshare:auto -version
same_traced 'pid$target:libc::entry,pid$target:libjli*::entry,pid$target:libjava*::entry' \
    java -Xint -cp "$tmp" NoSuchClass
same_traced 'pid$target:libjvm:JVM_*:,pid$target:libc:mem*:entry' \
    java --list-modules
}
finish
