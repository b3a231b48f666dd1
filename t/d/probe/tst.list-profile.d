/* -l: rates that have a probe before anybody names one. */
/* @opts: -l */
profile:::profile-* { }
profile:::tick-* { }
