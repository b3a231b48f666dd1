#!/bin/bash
# Scripts about files, on a program that says what it opens, reads and writes.
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh

# From where the program begins; what the run-time linker does before it is also
# there.
script opensnoop.d -c "$bin/work-files / 0 0 0 0"
has "$tmp/out" ' work-files  *3  *-  */etc/ld\.so\.cache$'
export DTRACE_OPT_EVALTIME=preinit

mkdir "$tmp/d"
head -c 1000 /dev/zero >"$tmp/d/there"
work="$bin/work-files $tmp/d 2 3 4 5"

# PIDs and users are this run's.
ids='s/^[0-9]* [0-9]* /UID PID /'

script opensnoop.d -c "$work"
expect opensnoop "$ids" <<'END'
UID PID COMM FD ERR PATH
UID PID work-files 3 - TMP/d/there
UID PID work-files 3 - TMP/d/there
UID PID work-files -1 ENOENT TMP/d/missing
UID PID work-files -1 ENOENT TMP/d/missing
UID PID work-files -1 ENOENT TMP/d/missing
UID PID work-files 3 - TMP/d/there
UID PID work-files 3 - TMP/d/written
END

script opentrace.d -c "$work"
expect opentrace 's/\[[0-9]*(/[PID(/' <<END
work-files[PID($(id -u):$(id -g))] open("TMP/d/there", O_RDONLY|O_CLOEXEC) = 3
work-files[PID($(id -u):$(id -g))] open("TMP/d/there", O_RDONLY|O_CLOEXEC) = 3
work-files[PID($(id -u):$(id -g))] open("TMP/d/missing", O_WRONLY) = -1 ENOENT
work-files[PID($(id -u):$(id -g))] open("TMP/d/missing", O_WRONLY) = -1 ENOENT
work-files[PID($(id -u):$(id -g))] open("TMP/d/missing", O_WRONLY) = -1 ENOENT
work-files[PID($(id -u):$(id -g))] open("TMP/d/there", O_RDONLY) = 3
work-files[PID($(id -u):$(id -g))] open("TMP/d/written", O_WRONLY|O_CREAT|O_TRUNC|O_APPEND) = 3
END

# What the course has its readers try.
for a in '' '-a '; do
	script opentrace.d -c "sh -c 'echo x | tee $a$tmp/tee >/dev/null'"
	mode='O_WRONLY|O_CREAT|O_TRUNC'
	[ -z "$a" ] || mode='O_WRONLY|O_CREAT|O_APPEND'
	is "tee $a" "$(plain | sed -n 's/^tee\[[^]]*\] //p' | grep TMP/tee)" \
	    "open(\"TMP/tee\", $mode) = 3"
done

# In one table at the end, or in more if a second passes: the sums are known.
script openaggr.d -c "$work"
is openaggr "$(plain | awk '$1 == "work-files" { c += $3; o += $4; s += $5 }
    END { print c, o, s }')" "1 6 4"

script wstat.d -c "$bin/work-files $tmp/d 0 0 0 50"
is wstat "$(plain | awk '$2 == "work-files" { fd = $3; n += $4; k += $5 }
    END { print fd, n, k <= 5000 / 1024 }')" "3 50 1"
script wstat.d -c 'dd if=/dev/zero of=/dev/null bs=64k count=100 status=none'
is "wstat, large" "$(plain | awk '$2 == "dd" { fd = $3; n += $4; k += $5 }
    END { print fd, n, k }')" "1 100 6400"

script rwsnoop.d -c "$work"
expect rwsnoop 's/^[0-9]* /PID /' <<'END'
PID COMM D BYTES FD FILE
PID work-files R 64 3 TMP/d/there
PID work-files R 64 3 TMP/d/there
PID work-files R 64 3 TMP/d/there
PID work-files R 64 3 TMP/d/there
PID work-files R 64 3 TMP/d/there
PID work-files R 64 3 TMP/d/there
PID work-files R 64 3 TMP/d/there
PID work-files R 64 3 TMP/d/there
PID work-files W 100 3 TMP/d/written
PID work-files W 100 3 TMP/d/written
PID work-files W 100 3 TMP/d/written
PID work-files W 100 3 TMP/d/written
PID work-files W 100 3 TMP/d/written
END

script errinfo.d -c "$work"
expect errinfo <<'END'
COMM CALL ERR NAME COUNT
work-files openat 2 ENOENT 3
END

# By path, by descriptor.
script stat.d -c "stat -L -c %s $tmp/d/there"
has "$tmp/out" '^1000$'
has "$tmp/out" "^$tmp/d/there: 1000 bytes, mode 6[0-7]*, uid $(id -u)\$"
script stat.d -c "cat $tmp/d/there"
has "$tmp/out" "^$tmp/d/there: 1000 bytes, mode 6"

# All that was called, by count; the time is positive and the processor's part
# of it not more.
script procsystime.d -c "$work"
is "procsystime, counts" "$(plain | awk 'NR > 1 { print $1, $2 }' | sort | xargs)" \
    "close 4 lseek 4 munmap 1 openat 7 pread64 4 read 4 write 5"
is "procsystime, times" "$(plain | awk 'NR > 1 && !($3 > 0 && $5 <= $3)')" ""
script syscallbyproc.d -c "$work"
is syscallbyproc "$(plain | awk 'NR > 1 { print $2, $3, $4 }' | sort | xargs)" \
    "work-files close 4 work-files exit_group 1 work-files lseek 4 work-files munmap 1 work-files openat 7 work-files pread64 4 work-files read 4 work-files write 5"

script dtruss.d -c "$bin/work-files $tmp/d 1 1 1 1"
expect dtruss 's/^[0-9]*\.[0-9]*: //; /munmap/d; s/\(\\000\)*\\000/NULs/' <<'END'
openat(AT_FDCWD, "TMP/d/there", O_RDONLY|O_CLOEXEC) = 3
close(3) = 0
openat(AT_FDCWD, "TMP/d/missing", O_WRONLY) = -1 ENOENT
openat(AT_FDCWD, "TMP/d/there", O_RDONLY) = 3
pread64(3, "NULs"..., 64, 0) = 64
lseek(3, 0, SEEK_SET) = 0
read(3, "NULs"..., 64) = 64
close(3) = 0
openat(AT_FDCWD, "TMP/d/written", O_WRONLY|O_CREAT|O_TRUNC|O_APPEND, 0600) = 3
write(3, "NULs"..., 100) = 100
close(3) = 0
exit_group(0)
END
script dtruss.d -c 'echo hello there'
has "$tmp/out" 'write\(1, "hello there\\n", 12\) = 12$'

# Only what came before a failure is shown.
script failures.d -c "$bin/work-files $tmp/d 1 0 1 1" a.out main openat
is "failures, none" "$(plain)" ""
script failures.d -c "$bin/work-files $tmp/d 1 1 0 0" a.out main openat
expect failures 's/thread [0-9]*/thread TID/' <<'END'
main in thread TID:
openat = 3
close = 0
openat = -1 ENOENT
openat = 3
close = 0
openat = 3
close = 0
END
finish
