/* A no-break space of a web page. */
BEGIN { exit(0); }
