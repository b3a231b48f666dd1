/* And fit an int, the one that follows the largest too. */
enum e { A = 2147483647, B };
