"""Which rank am I, in which run; and the ids that all ranks derive alike, without a message."""
