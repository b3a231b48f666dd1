// A shelf of teas, to be traced: some are not there, and that is an exception.
#include <map>
#include <stdexcept>
#include <string>

namespace shop {

class Shelf {
	std::map<std::string, int> grams;

public:
	__attribute__((noinline)) void put(const std::string &tea, int more)
	{
		grams[tea] += more;
	}

	__attribute__((noinline)) int take(const std::string &tea, int some)
	{
		int &left = grams[tea];

		if (left < some)
			throw std::out_of_range(tea);
		left -= some;
		return left;
	}
};

} // namespace shop

int
main()
{
	shop::Shelf shelf;
	int refused = 0;

	shelf.put("assam", 20);
	shelf.put("sencha", 12);
	for (int i = 1; i <= 12; i++) {
		const char *teas[] = {"assam", "sencha", "oolong"};

		try {
			shelf.take(teas[i % 3], 2 + i % 4 * 2);
		} catch (const std::out_of_range &) {
			refused++;
		}
	}
	return refused != 5;
}
