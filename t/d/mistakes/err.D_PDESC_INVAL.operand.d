/* The same in a description of a probe. */
pid$1:a.out::entry { exit(0); }
