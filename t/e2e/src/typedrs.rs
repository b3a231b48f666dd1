// typedrs: functions of Rust: references, &str, String, enumerations, results in
// registers and in memory.  It says what the arguments and the results are.
use std::env;

#[repr(C)]
pub struct Point {
    x: i32,
    y: i32,
}

pub struct Line {
    from: Point,
    to: Point,
    name: &'static str,
    weight: f64,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Small = 1,
    Large = 7,
}

#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub fn typed_draw(
    line: &Line,
    times: i64,
    kind: Kind,
    text: &str,
    owned: String,
    scale: f64,
    on: bool,
) -> f64 {
    println!(
        "draw {} {} {} {} {} {} {} {:.2} {}",
        line.from.x,
        line.to.y,
        line.name,
        times,
        kind as i32,
        text,
        owned.len(),
        scale,
        on as i32
    );
    line.weight * scale * times as f64
}

#[inline(never)]
fn typed_label(n: i32) -> &'static str {
    if n % 2 == 0 {
        "even"
    } else {
        "odd!?"
    }
}

#[inline(never)]
fn typed_make(n: i32) -> Line {
    Line {
        from: Point { x: n, y: n + 1 },
        to: Point { x: n + 2, y: n + 3 },
        name: "made",
        weight: n as f64 / 2.0,
    }
}

impl Point {
    #[inline(never)]
    fn typed_shifted(&self, by: i16) -> Kind {
        if self.x as i16 + by > 5 {
            Kind::Large
        } else {
            Kind::Small
        }
    }
}

#[repr(C)]
pub struct Triple {
    a: i64,
    b: i64,
    c: i64,
}

// As C calls it: three words on the stack, two halves of a word in a register.
#[no_mangle]
#[inline(never)]
pub extern "C" fn typed_c(t: Triple, p: Point, n: i32) -> Triple {
    println!("c {} {} {} {} {}", t.a, t.c, p.x, p.y, n);
    Triple {
        a: t.c,
        b: n as i64,
        c: t.a,
    }
}

#[inline(never)]
fn typed_part(all: &[i32], name: &str) -> i32 {
    println!("part {} {} {}", all[0], all[all.len() - 1], name);
    all.len() as i32
}

fn main() {
    let first = env::args().count() as i32;
    for n in first..first + 3 {
        let line = typed_make(n);
        println!(
            "make = {} {} {:.2}",
            line.from.y, line.name, line.weight
        );
        let text = typed_label(n);
        println!("label = {}", text);
        let owned = "own".repeat(n as usize);
        let r = typed_draw(
            &line,
            n as i64 * 1000,
            Kind::Large,
            text,
            owned,
            n as f64 / 4.0,
            n % 2 == 0,
        );
        println!("draw = {:.2}", r);
        let t = typed_c(
            Triple {
                a: n as i64,
                b: 2,
                c: 3,
            },
            Point { x: n, y: -1 },
            n + 7,
        );
        println!("c = {} {} {}", t.a, t.b, t.c);
        let marks = [n, 5, 6, -9];
        println!("part = {}", typed_part(&marks[..n as usize + 1], text));
        let k = line.to.typed_shifted(n as i16);
        println!(
            "shifted {} {} = {} {}",
            line.to.x,
            n,
            k as i32,
            (k == Kind::Large) as i32
        );
    }
}
