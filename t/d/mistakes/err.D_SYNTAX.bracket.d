/* A bracket is missing. */
BEGIN { @[pid, execname = count(); }
