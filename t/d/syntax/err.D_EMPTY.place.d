/* Nothing but a comment: the place is the end. */
