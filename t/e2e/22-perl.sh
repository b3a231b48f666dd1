#!/bin/bash
# timeout: 300
# perl with libc and its own functions probed.
. "${0%/*}/lib.sh"
need perl

cat >"$tmp/prog.pl" <<'EOF'
use strict;
my %h;
$h{$_ % 17} .= chr(97 + $_ % 26) for 1 .. 200;
print "$_ $h{$_}\n" for sort { $a <=> $b } keys %h;
my $s = join ",", map { sprintf "%05.2f", $_ / 3 } 1 .. 20;
$s =~ s/(\d+)\.(\d)/$2.$1/g;
print "$s\n";
eval { die { code => 42 } };
print "caught $@->{code}\n";
local $SIG{ALRM} = sub { print "alarm\n" };
kill ALRM => $$;
my $pid = fork;
if (!$pid) { print "child\n"; exit 3 }
waitpid $pid, 0;
print "status ", $? >> 8, "\n";
print STDERR "to stderr\n";
exit 6;
EOF
sed -i '1i $| = 1;' "$tmp/prog.pl"

# shellcheck disable=SC2016
{
LIMIT=130
export PERL_HASH_SEED=0
same_traced 'pid$target:libc::entry' perl "$tmp/prog.pl"
same_traced 'pid$target:a.out:Perl_sv_*:entry,pid$target:a.out:Perl_pp_*:,pid$target:libperl*:Perl_pp_*:entry' \
    perl "$tmp/prog.pl"
}
finish
