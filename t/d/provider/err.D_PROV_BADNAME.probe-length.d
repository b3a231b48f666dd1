provider app {
	probe pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp();
};
