/* A comma is missing. */
BEGIN { @[pid execname] = count(); }
