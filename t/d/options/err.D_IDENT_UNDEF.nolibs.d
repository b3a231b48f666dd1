/* Neither the directories' nor those that are built in. */
/* @opts: -x nolibs -x libdir=t/d/options/lib */
BEGIN { trace(EPERM); }
