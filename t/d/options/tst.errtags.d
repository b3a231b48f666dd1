/* @opts: -x errtags */
/* @status: 1 */
BEGIN { trace(nobody); }
