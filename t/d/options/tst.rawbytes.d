/* Numbers too, in the machine's order; and no longer when it is taken back. */
/* @opts: -q -x rawbytes -x strsize=4 */
BEGIN { trace("abc"); trace(0x41424344); trace((uint8_t)7); }
BEGIN { setopt("rawbytes", "no"); }
tick-1ms { trace(0x41424344); exit(0); }
