/* A name that is like none of the few that there are. */
dtrace:::START { exit(0); }
