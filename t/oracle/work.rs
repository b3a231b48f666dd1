// Work for the oracle: collections, trait objects, threads, and panics that are
// caught.
use std::collections::HashMap;
use std::panic;
fn parse(s: &str) -> Result<i32, std::num::ParseIntError> {
    s.trim().parse::<i32>()
}
trait Area {
    fn area(&self) -> f64;
}
struct C(f64);
struct R(f64, f64);
impl Area for C {
    fn area(&self) -> f64 {
        self.0 * self.0 * 3.14
    }
}
impl Area for R {
    fn area(&self) -> f64 {
        self.0 * self.1
    }
}
fn main() {
    panic::set_hook(Box::new(|_| {}));
    let mut m: HashMap<String, Vec<i32>> = HashMap::new();
    for i in 0..50 {
        m.entry(format!("k{}", i % 7)).or_default().push(i);
    }
    let v: Vec<Box<dyn Area>> = vec![Box::new(C(1.0)), Box::new(R(2.0, 3.0))];
    let a: f64 = v.iter().map(|x| x.area()).sum();
    let e = ["1", " 2 ", "x"]
        .iter()
        .filter(|s| parse(s).is_err())
        .count();
    let mut caught = 0;
    for i in 0..5 {
        if panic::catch_unwind(|| {
            if i % 2 == 0 {
                panic!("p{}", i)
            }
        })
        .is_err()
        {
            caught += 1;
        }
    }
    let t: Vec<_> = (0..2)
        .map(|k| std::thread::spawn(move || (0..100).map(|x| x * k).sum::<i32>()))
        .collect();
    let s: i32 = t.into_iter().map(|h| h.join().unwrap()).sum();
    let mut keys: Vec<_> = m.keys().cloned().collect();
    keys.sort();
    println!("{} {} {} {} {}", keys.join(","), a, e, caught, s);
}
