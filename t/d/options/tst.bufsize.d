/* Too small for the record. */
/* @opts: -x bufsize=16 */
/* @status: 1 */
BEGIN { exit(0); }
