/* The name that another tracer has for it. */
BEGIN { @ = hist(1); }
