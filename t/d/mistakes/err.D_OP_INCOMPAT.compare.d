/* An address is compared with a string. */
BEGIN /arg0 == "/etc/passwd"/ { exit(0); }
