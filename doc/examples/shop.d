provider shop { probe sale(int price, char *what); };
