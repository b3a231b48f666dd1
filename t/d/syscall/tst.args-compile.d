/* Typed arguments: of one call, of several that agree, of a return. */
/* @opts: -e */
syscall::read:entry { @[args[0]] = sum(args[2]); trace(*args[1]); }
syscall::exit*:entry /args[0] == -1/ { exit(args[0]); }
syscall:vmlinux:open*:return /args[0] < 0 && args[1] < 0/ { trace(errno); }
syscall::pipe:entry { trace(args[0][1]); }
read:entry { trace(args[1][2]); }
