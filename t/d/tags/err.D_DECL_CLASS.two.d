/* One storage class at most. */
self this int x;
