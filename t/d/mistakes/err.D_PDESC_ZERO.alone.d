/* A probe in the place of a provider. */
BEGIN::read:entry { exit(0); }
