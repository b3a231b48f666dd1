/* An operator that takes integers. */
BEGIN { x = pid; trace(execname & x); }
