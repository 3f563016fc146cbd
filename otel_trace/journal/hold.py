"""A segment that is mapped is held by a shared lock on its file, so that no process cuts it meanwhile.

The lock also speaks across containers that share a folder and cannot see each other's processes, and it ends
with the last process that has the file, however that one ends.
"""

import fcntl


def hold(fd: int) -> None:
    """Say that the file is in use, for as long as it is open; where there are no locks, say nothing.

    Raises BlockingIOError when another process has just taken the file to cut it.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return


def take(fd: int) -> bool:
    """Take the file for oneself; False when it is in use or nobody can tell."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
