// here() called where Rust runs code on its own: closures, trait objects,
// drops in a panic's way, threads.
use std::collections::HashMap;
use std::fmt;
use std::panic;

// What the compiler cannot see through.
#[inline(never)]
fn keep<T>(x: T) -> T {
    let r = unsafe { std::ptr::read_volatile(&x) };
    std::mem::forget(x);
    r
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn leaf(a: i32, b: i32) -> i32 {
    keep(a).wrapping_mul(keep(b))
}

#[no_mangle]
#[inline(never)]
pub fn here(n: i32) -> i32 {
    let a = leaf(n, 1);
    let b = leaf(a, 2);
    let c = leaf(b, 3);
    leaf(a, b).wrapping_add(leaf(c, n))
}

struct Guard(i32);

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        keep(here(self.0));
    }
}

trait Shape {
    fn side(&self, unit: &str) -> i32;
}

struct Square<T>(T);

impl<T: Into<i64> + Copy> Shape for Square<T> {
    #[inline(never)]
    fn side(&self, unit: &str) -> i32 {
        let size: i64 = self.0.into();
        here(size as i32) + unit.len() as i32
    }
}

impl fmt::Display for Square<i32> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", keep(here(self.0)))
    }
}

#[inline(never)]
fn panics(n: i32) {
    let _g = Guard(n);
    if n == 0 {
        panic!("at the bottom");
    }
    panics(n - 1);
    keep(n);
}

#[inline(never)]
fn recurses(n: i32) -> i32 {
    let s = if n == 0 { here(1) } else { recurses(n - 1) };
    keep(s) + 1
}

fn main() {
    panic::set_hook(Box::new(|_| {
        keep(here(11));
    }));
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(2i32)), Box::new(Square(3i64))];
    for s in &shapes {
        keep(s.side("m"));
    }
    let mut v = vec![3, 1, 2];
    v.sort_by(|a, b| {
        keep(here(*a));
        a.cmp(b)
    });
    let mut m: HashMap<&str, Box<dyn Fn(i32) -> i32>> = HashMap::new();
    m.insert("closure", Box::new(|n| here(n) + 1));
    keep(m["closure"](4));
    keep(format!("{}", Square(5i32)));
    keep(recurses(20));
    let _ = panic::catch_unwind(|| panics(3));
    let _ = std::thread::spawn(|| panics(2)).join();
}
