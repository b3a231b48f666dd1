/* A program without a clause. */

/* nothing */
