/* Ten faults of a kind are shown, the others counted; those of another clause
 * are of another kind. */
/* @opts: -q */
tick-1ms { trace(*(int *)0); }
tick-1ms { n++; trace(1 / (n - n)); }
tick-1ms /n == 12/ { exit(0); }
