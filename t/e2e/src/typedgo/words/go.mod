module words

go 1.18
