/* No braces. */
BEGIN trace(1);
