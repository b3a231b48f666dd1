/*
 * err.D_MACRO_UNDEF.usage.d - an operand is missing, and the script says how it
 * is used
 *
 * Usage: err.D_MACRO_UNDEF.usage.d PID SECONDS
 */
BEGIN { trace($1 + $2); }
