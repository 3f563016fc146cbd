"""Every name on the wire, documented once."""

# Resource: one process.
RUN_ID = "training.run_id"
ATTEMPT = "training.attempt"
RANK = "training.rank"
LOCAL_RANK = "training.local_rank"
NODE_RANK = "training.node_rank"
WORLD_SIZE = "training.world_size"
LOCAL_WORLD_SIZE = "training.local_world_size"
LAUNCHER = "training.launcher"

# Every span, where there is one.
STEP = "training.step"
LOOP = "training.loop"
STAGE = "training.stage"
FUNCTION = "code.function.name"
FILE = "code.file.path"
LINE = "code.line.number"

# Values: a prefix, then for what is not a scalar one of the facts.
PARAM = "param."
RETURN = "return"
RETURN_VALUE = "return.value"
SHAPE = ".shape"
DTYPE = ".dtype"
DEVICE = ".device"
SUMMARY = ".summary"
TYPE = ".type"
LENGTH = ".length"

# Numbers that no backend can hold (NaN, infinities, integers beyond 64 bits): left out as numbers, said here.
UNREPRESENTABLE = "otel_trace.unrepresentable"
IN_WORDS = ".in_words"  # the fact that becomes an entry there; never on the wire itself

# What the shipper adds: a marker of a span that is still open, the end of one whose process died, and, on the
# link from a marker to its span, what kind of link it is.
OPEN = "otel_trace.open"
INTERRUPTED = "otel_trace.interrupted"
LINK = "otel_trace.link"
