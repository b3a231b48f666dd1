/* Nothing but this comment, and nothing to wait for. */
/* @opts: -x empty */
/* @status: 1 */
