enum state {
	IDLE, BUSY,
	IDLE
};
