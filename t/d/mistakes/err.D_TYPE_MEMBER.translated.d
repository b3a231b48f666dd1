/* A misspelt member of what a translator makes. */
BEGIN { trace(curpsinfo->pr_fnam); }
