module typedgo

go 1.18

require words v0.0.0

replace words => ./words
