// This is no comment.
BEGIN { exit(0); }
