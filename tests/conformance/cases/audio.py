"""Sound: WAV files, spectrograms, mel-frequency cepstral coefficients."""

import struct

import numpy as np
import tensorflow as tf
from framework import *
from values import *


def text(value):
    return tensor(value, "string")


def wav(samples, channels=1, rate=8000, bits=16, code=1, before=b"", after=b"", size=16, frame=None, second=None, length=None):
    data = struct.pack(f"<{len(samples)}h", *samples)
    frame = channels * bits // 8 if frame is None else frame
    head = b"fmt " + struct.pack("<IHHIIHH", size, code, channels, rate, rate * frame if second is None else second, frame, bits) + b"\0" * (size - 16)
    body = b"WAVE" + before + head + after + b"data" + struct.pack("<I", len(data) if length is None else length) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


FOUR = [0, 16384, -32768, 32767]
JUNK = b"JUNK\x04\0\0\0abcd"
case("DecodeWav", [text(wav(FOUR))])
case("DecodeWav", [text(wav(FOUR, 2, 44100))])
case("DecodeWav", [text(wav([]))])
case("DecodeWav", [text(wav(FOUR, size=18))])
case("DecodeWav", [text(wav(FOUR, before=JUNK))])
case("DecodeWav", [text(wav(FOUR, after=b"LIST\x02\0\0\0zz"))])
for channels in (-1, 1, 2, 3):
    for frames in (-1, 1, 2, 6):
        case("DecodeWav", [text(wav(FOUR, 2))], desired_channels=channels, desired_samples=frames)
for bad in (b"", b"RIFF", b"garbage garbage", wav(FOUR)[:30], wav(FOUR)[:-1], wav(FOUR, bits=8), wav(FOUR, code=3), wav(FOUR, channels=0), wav(FOUR, frame=3),
            wav(FOUR, second=1), wav(FOUR, before=b"what\0\0\0\0"), wav(FOUR) + b"data\0\0\0\0", wav(FOUR) + b"da", wav(FOUR)[:36], wav(FOUR, length=2**31 + 4),
            wav(FOUR, length=100), wav(FOUR, size=17), wav(FOUR).replace(b"WAVE", b"WAVX")):
    refuse("DecodeWav", [text(bad)])
refuse("DecodeWav", [text([wav(FOUR)])])

case("EncodeWav", [f32(5, 1), tensor(8000, "int32")])
case("EncodeWav", [f32(4, 3), tensor(44100, "int32")])
case("EncodeWav", [tensor([[2.0], [-2.0], [1.0], [-1.0], [np.inf], [-np.inf], [1e-5]]), tensor(1, "int32")])
case("EncodeWav", [f32(0, 2), tensor(8000, "int32")])
refuse("EncodeWav", [f32(5), tensor(8000, "int32")])
refuse("EncodeWav", [f32(5, 1), tensor([8000], "int32")])
refuse("EncodeWav", [f32(5, 1), tensor(0, "int32")])
refuse("EncodeWav", [f32(5, 1), tensor(-3, "int32")])
refuse("EncodeWav", [f32(5, 0), tensor(8000, "int32")])

for squared in (False, True):
    for window, stride in ((8, 4), (16, 16), (10, 3), (3, 7)):
        case("AudioSpectrogram", [f32(40, 2)], window_size=window, stride=stride, magnitude_squared=squared, close=8)
    case("AudioSpectrogram", [f32(7, 1)], window_size=8, stride=4, magnitude_squared=squared)
    case("AudioSpectrogram", [f32(0, 1)], window_size=8, stride=4, magnitude_squared=squared)
    case("AudioSpectrogram", [f32(9, 0)], window_size=8, stride=4, magnitude_squared=squared)
refuse("AudioSpectrogram", [f32(40)], window_size=8, stride=4)
refuse("AudioSpectrogram", [f32(40, 1)], window_size=1, stride=4)
refuse("AudioSpectrogram", [f32(40, 1)], window_size=8, stride=0)

for bins in (129, 257, 33):
    case("Mfcc", [f32(1, 3, bins, kind="positive"), tensor(16000, "int32")], close=64)
case("Mfcc", [f32(2, 2, 513, kind="positive"), tensor(22050, "int32")], upper_frequency_limit=8000.0, lower_frequency_limit=100.0, filterbank_channel_count=20,
     dct_coefficient_count=20, close=64)
case("Mfcc", [f32(1, 2, 257, kind="zeros"), tensor(16000, "int32")], close=64)
case("Mfcc", [f32(0, 2, 257), tensor(16000, "int32")])
case("Mfcc", [f32(1, 0, 257), tensor(16000, "int32")])
refuse("Mfcc", [f32(3, 257), tensor(16000, "int32")])
refuse("Mfcc", [f32(1, 3, 257), tensor([16000, 1], "int32")])
refuse("Mfcc", [f32(1, 3, 257), tensor(0, "int32")])
refuse("Mfcc", [f32(1, 3, 1), tensor(16000, "int32")])
refuse("Mfcc", [f32(1, 3, 257), tensor(16000, "int32")], upper_frequency_limit=10.0)
refuse("Mfcc", [f32(1, 3, 257), tensor(16000, "int32")], dct_coefficient_count=0)
refuse("Mfcc", [f32(1, 3, 257), tensor(16000, "int32")], dct_coefficient_count=41)
exempt("DecodeWav", "empty", why="takes one file")
