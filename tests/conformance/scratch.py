"""A directory for cases that read and write files; it goes away with the process. And what such files are made of."""

import atexit
import os
import shutil
import struct
import tempfile

ROOT = tempfile.mkdtemp(prefix="troupe_cases_")
_owner = os.getpid()


@atexit.register
def _remove():
    if os.getpid() == _owner:
        shutil.rmtree(ROOT, ignore_errors=True)


def path(*names):
    return os.path.join(ROOT, *names)


def file(name, content):
    """The path of a new file with these bytes; directories on the way are made."""
    full = path(name)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as f:
        f.write(content)
    return full


def masked_crc32c(content):
    """The checksum of records and checkpoints."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(content):
    """A record as TFRecordWriter writes it."""
    length = struct.pack("<Q", len(content))
    return length + struct.pack("<I", masked_crc32c(length)) + content + struct.pack("<I", masked_crc32c(content))
