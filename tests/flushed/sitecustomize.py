"""In every process that has this folder on its PYTHONPATH: note what is flushed to disk and what is renamed, in order.

Each operation runs as usual, and then adds a line of JSON to the file that FLUSHED names. The line of a rename has the
new path, and whether every file was flushed after it was last written. The line of a flushed folder has its path.
"""

import json
import os

fsync, replace, rename = os.fsync, os.replace, os.rename
flushed = set()


def state(status):
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def tell(**what):
    descriptor = os.open(os.environ["FLUSHED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, (json.dumps(what) + "\n").encode())
    os.close(descriptor)


def noted_fsync(descriptor):
    fsync(descriptor)
    status = os.fstat(descriptor)
    flushed.add(state(status))
    tell(flushed=status.st_ino, process=os.getpid())


def noted(move):
    def moved(source, target, **options):
        parts = [source]
        parts += [os.path.join(folder, name) for folder, *names in os.walk(source) for name in (*names[0], *names[1])]
        states = {part: os.stat(part) for part in map(str, parts)}
        move(source, target, **options)
        tell(
            renamed=os.path.abspath(target),
            files=[status.st_ino for status in states.values()],
            unflushed=[part for part, status in states.items() if state(status) not in flushed],
            folder=os.stat(os.path.dirname(os.path.abspath(target))).st_ino,
            process=os.getpid(),
        )

    return moved


if "FLUSHED" in os.environ:
    os.fsync, os.replace, os.rename = noted_fsync, noted(replace), noted(rename)
