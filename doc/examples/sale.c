/* Static probes of one's own: see the cookbook. */
#include "shop.h"

int
main(void)
{
	SHOP_SALE(3, "tea");
	SHOP_SALE(5, "coffee");
	return 0;
}
