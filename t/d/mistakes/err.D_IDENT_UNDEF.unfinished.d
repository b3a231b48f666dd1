/* A name that is not finished. */
BEGIN { trace(walltime); }
