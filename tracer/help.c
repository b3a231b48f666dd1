/*
 * See help.h.
 */
#include "tracer/help.h"

/* clang-format off */
const char help_text[] =
    "Trace  -c COMMAND  launch it       -p PID  attach to it\n"
    "What   -n 'PROBE /PREDICATE/ { ACTIONS }',  PROVIDER:MODULE:FUNCTION:NAME\n"
    "       -f FUNCTION, -m MODULE, -P PROVIDER, -i NUMBER   the same, shorter\n"
    "       -s SCRIPT   a program in D; arguments are its $1, $2 ...\n"
    "       none of these: system calls are counted and timed\n"
    "Hosts  -H a,b,web[01-40]  the same there, one answer;  dtrap merge STREAM...\n"
    "Allow  -w  destructive actions     -Z  probes that match nothing\n"
    "Print  -q  only what the program prints        -F  indented by calls\n"
    "       -o FILE  append to it      -v  more about probes, processes and the end\n"
    "Set    -x OPTION[=VALUE]           -b SIZE  room for records (4m)\n"
    "Ask    -l  list probes             -e  only compile     -V  the version of D\n"
    "       -S  the compiled program    --version     --help\n"
    "Text   -L DIRECTORY  libraries in D\n"
    "       -C  run cpp over scripts: -D NAME[=VALUE], -U NAME, -I DIRECTORY,\n"
    "           -H names what they include, -X a|c|s|t\n"
    "Build  -h  a header, -G  an object with types, for static probes (-32, -64)\n"
    "More   dtrap top ...  tables redrawn in place; dtrap report RUN.json  pictures\n"
    "\n"
    "  dtrap -c 'ls /usr'\n"
    "  dtrap -n 'syscall:::entry { @[execname, probefunc] = count(); }' -p 1234\n"
    "  dtrap -F -n 'pid$target:a.out::entry,pid$target:a.out::return' -c ./program\n"
    "\n"
    "Manuals: dtrap(1), the language dtrap-d(7), scripts dtrap-scripts(7)\n";

const char help_count_program[] =
    "#pragma D option quiet\n"
    "#pragma D option aggsortrev\n"
    "#pragma D option aggsortpos=2\n"
    "syscall:::entry\n"
    "{\n"
    "	@calls[probefunc] = count();\n"
    "	self->start = timestamp;\n"
    "}\n"
    "syscall:::return\n"
    "/self->start/\n"
    "{\n"
    "	@errors[probefunc] = sum(errno != 0);\n"
    "	@time[probefunc] = sum(timestamp - self->start);\n"
    "	self->start = 0;\n"
    "}\n"
    "END\n"
    "{\n"
    "	normalize(@time, 1000);\n"
    "	printf(\"%-24s %9s %9s %12s\\n\", \"SYSTEM CALL\", \"CALLS\", \"ERRORS\",\n"
    "	    \"TIME (us)\");\n"
    "	printa(\"%-24s %@9u %@9u %@12u\\n\", @calls, @errors, @time);\n"
    "}\n";

const char help_top_program[] =
    "#pragma D option quiet\n"
    "profile-99\n"
    "/arg1/\n"
    "{\n"
    "	@samples[ufunc(arg1)] = count();\n"
    "}\n";
/* clang-format on */
