/* A provider that is like none: which there are. */
webserver:::request { exit(0); }
