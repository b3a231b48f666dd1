/* An aggregation is assigned a number. */
BEGIN { @total = 1; }
