/* Enumerators are integers. */
enum e { A = "x" };
