#!/bin/bash
# Names of a program in Rust, in both its manglings: traits, generic functions,
# closures.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need rustc
cat >"$tmp/shop.rs" <<'RS'
use std::fmt::Write;

struct Shop {
    n: usize,
}

// What the compiler cannot know.
#[inline(always)]
fn keep<T: Copy>(x: T) -> T {
    unsafe { std::ptr::read_volatile(&x) }
}

trait Priced {
    fn price(&self, by: usize) -> usize;
}

impl Priced for Shop {
    #[inline(never)]
    fn price(&self, by: usize) -> usize {
        keep(self.n * by)
    }
}

impl Write for Shop {
    #[inline(never)]
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        self.n += keep(s.len());
        Ok(())
    }
}

mod till {
    #[inline(never)]
    pub fn most<T: PartialOrd + Copy>(a: T, b: T) -> T {
        crate::keep(if a > b { a } else { b })
    }
}

fn main() {
    let mut shop = Shop { n: std::env::args().count() };
    for _ in 0..3 {
        shop.write_str("four").unwrap();
    }
    let all: Vec<usize> = vec![shop.price(2), shop.price(3)];
    println!("{:?} {} {}", all, till::most(1, 2), till::most(2.5, 1.5));
}
RS
rust() {
	rustc -C opt-level=1 -C panic=abort -C debuginfo=0 "$@" "$tmp/shop.rs"
}
rust -o "$tmp/old" >"$tmp/err" 2>&1 || fail "cannot compile Rust"
programs=("$tmp/old")
rust -C symbol-mangling-version=v0 -o "$tmp/new" >"$tmp/err" 2>&1 &&
    programs+=("$tmp/new")

# shellcheck disable=SC2016
for program in "${programs[@]}"; do
	# functions FIELD: those that it means, a line each.
	functions() {
		dt -l -n 'pid$target:a.out:'"$1"':entry' -c "$program"
		sed -En 's/^ *[0-9]+ +pid[0-9]+ +[a-z]+ +(.*) entry$/\1/p' \
		    "$tmp/out" | LC_ALL=C sort
	}
	functions '"*shop::*"' >"$tmp/all"
	is "trait" "$(grep -cxF '<shop::Shop as shop::Priced>::price' "$tmp/all")" 1
	is "std's trait" "$(functions '<shop::Shop as core::fmt::Write>::write_str')" \
	    '<shop::Shop as core::fmt::Write>::write_str'
	is "trait by glob" "$(functions '"<* as core::fmt::Write>::write_str"' |
	    grep -c shop)" 1
	# Two functions of one source: what tells them apart is shown.
	is "generic" "$(functions 'shop::till::most*' | grep -c '^shop::till::most')" 2
	is "generic, apart" "$(functions 'shop::till::most*' | uniq -d)" ""
	is "main" "$(functions shop::main)" shop::main
	functions '"core::*"' >"$tmp/core"
	has "$tmp/core" '^core::'

	rm -f "$tmp/trace"
	dt -q -o "$tmp/trace" -n '
	    pid$target:a.out:"<shop::Shop as core::fmt::Write>::write_str":entry,
	    pid$target:a.out:"<* as shop::Priced>::price":return
	    { @[probefunc, probename] = count(); }
	    pid$target:a.out:"shop::till::most*":entry { @most = count(); }
	    END { printa("%s:%s %@d\n", @); printa("most %@d\n", @most); }' \
	    -c "$program"
	is "status" "$status" 0
	is "counts" "$(grep . "$tmp/trace" | LC_ALL=C sort | tr '\n' ';')" \
	    '<shop::Shop as core::fmt::Write>::write_str:entry 3;<shop::Shop as shop::Priced>::price:return 2;most 2;'
done
finish
