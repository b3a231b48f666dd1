/* A misspelt provider. */
syscal::read:entry { exit(0); }
