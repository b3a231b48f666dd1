/* A misspelt aggregation. */
BEGIN { @calls = count(); printa(@call); }
