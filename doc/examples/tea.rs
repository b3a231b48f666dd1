// A tea house in Rust, to be traced.
struct House {
    served: u32,
}

impl House {
    #[inline(never)]
    fn serve(&mut self, tea: &str, grams: u32) -> u32 {
        self.served += 1;
        price(tea) * grams
    }
}

#[inline(never)]
fn price(tea: &str) -> u32 {
    match tea {
        "assam" => 3,
        "sencha" => 5,
        _ => 0,
    }
}

fn main() {
    let mut house = House { served: 0 };
    let mut cents = 0;
    for guest in 1..=12 {
        let tea = ["assam", "sencha", "oolong"][guest % 3];
        cents += house.serve(tea, 2 + guest as u32 % 4 * 2);
    }
    std::process::exit((cents == 0) as i32);
}
