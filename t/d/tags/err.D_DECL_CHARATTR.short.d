/* There is no short char. */
short char x;
