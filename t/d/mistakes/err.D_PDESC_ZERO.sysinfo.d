/* A provider that shows a kernel: what there is instead. */
sysinfo::: { exit(0); }
