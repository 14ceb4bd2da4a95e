"""Image files: what one side encodes is decoded, and made of bytes where no encoder exists."""

import struct

from framework import *
from values import *


def picture(channels, dtype="uint8", height=9, width=11):
    """A smooth picture, which JPEG keeps well."""
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    smooth = 127 + 100 * np.sin(y / 3.0 + c) * np.cos(x / 4.0)
    return (smooth * (257 if dtype == "uint16" else 1)).astype(dtype)


def file_of(op, image, **attrs):
    return np.array(getattr(tf.raw_ops, op)(image=image, **attrs).numpy(), dtype=object)


def content(data):
    return np.array(data, dtype=object)


def bmp(width, height, bits, rows):
    stride = (width * bits // 8 + 3) // 4 * 4
    header = b"BM" + struct.pack("<IHHI", 54 + stride * abs(height), 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, 0, 0, 0, 0, 0)
    return header + b"".join(row + b"\0" * (stride - len(row)) for row in rows)


def gif(frames, width=4, height=3):
    """Uncompressed codes of eight colours: a clear code before every second pixel keeps the width of codes."""
    table = bytes(range(0, 240, 10))
    data = b"GIF89a" + struct.pack("<HHBBB", width, height, 0xA2, 0, 0) + table
    for left, top, w, h, transparent, numbers in frames:
        if transparent is not None:
            data += b"\x21\xf9\x04" + struct.pack("<BHBB", 1, 0, transparent, 0)
        codes = []
        for k, n in enumerate(numbers):
            codes += [8, n] if k % 2 == 0 else [n]
        codes.append(9)
        bits = "".join(format(code, "04b")[::-1] for code in codes)
        bits += "0" * (-len(bits) % 8)
        packed = bytes(int(bits[i : i + 8][::-1], 2) for i in range(0, len(bits), 8))
        data += b"," + struct.pack("<HHHHB", left, top, w, h, 0) + b"\x03" + bytes([len(packed)]) + packed + b"\0"
    return data + b";"


PNGS = {c: file_of("EncodePng", picture(c)) for c in (1, 2, 3, 4)}
DEEP = {c: file_of("EncodePng", picture(c, "uint16")) for c in (1, 3, 4)}
JPEGS = {c: file_of("EncodeJpeg", picture(c)) for c in (1, 3)}
ODD = file_of("EncodeJpeg", picture(3), progressive=True, chroma_downsampling=False)
BMPS = {1: bmp(5, 3, 8, [bytes(range(k, k + 5)) for k in (0, 50, 100)]), 3: bmp(3, 2, 24, [bytes(range(k, k + 9)) for k in (0, 90)]),
        4: bmp(3, -2, 32, [bytes(range(k, k + 12)) for k in (0, 90)])}  # fmt: skip
FULL = (0, 0, 4, 3, None, [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3])
STILL = gif([FULL])
MOVING = gif([FULL, (1, 1, 2, 2, None, [7, 6, 5, 4]), (0, 0, 4, 3, 2, [2, 2, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1])])

for channels in (0, 1, 3, 4):
    for data in (*PNGS.values(), *DEEP.values()):
        case("DecodePng", [data], channels=channels)
        case("DecodePng", [data], channels=channels, dtype="uint16")
    if channels != 4:
        for data in (*JPEGS.values(), ODD):
            case("DecodeJpeg", [data], channels=channels)
case("DecodeJpeg", [JPEGS[3]], ratio=2)
case("DecodeJpeg", [JPEGS[3]], fancy_upscaling=False)
case("DecodeJpeg", [JPEGS[3]], dct_method="INTEGER_ACCURATE")
# What is made up for the part that is missing depends on the library.
case("DecodeJpeg", [content(JPEGS[3].item()[:-40])], try_recover_truncated=True, acceptable_fraction=0.1, check="shape")
case("DecodePng", [JPEGS[3]])
case("DecodeJpeg", [PNGS[3]])
case("DecodeGif", [PNGS[3]])
case("DecodeGif", [content(STILL)])
case("DecodeGif", [content(MOVING)])
case("DecodePng", [content(STILL)])
for channels, data in BMPS.items():
    case("DecodeBmp", [content(data)])
    case("DecodeBmp", [content(data)], channels=channels)
    case("DecodeImage", [content(data)])
for dtype in ("uint8", "uint16", "float"):
    for data in (PNGS[3], PNGS[4], DEEP[3], JPEGS[3], content(MOVING)):
        case("DecodeImage", [data], dtype=dtype)
case("DecodeImage", [content(MOVING)], expand_animations=False)
case("DecodeAndCropJpeg", [JPEGS[3], tensor([2, 3, 4, 5], "int32")])
case("DecodeAndCropJpeg", [JPEGS[3], tensor([0, 0, 9, 11], "int32")])
case("DecodeAndCropJpeg", [JPEGS[1], tensor([8, 10, 1, 1], "int32")], channels=1)
for index in ("int32", "int64"):
    case("ExtractJpegShape", [JPEGS[3]], output_type=index)
    case("ExtractJpegShape", [JPEGS[1]], output_type=index)

BAD = (b"", b"hello", PNGS[3].item()[:50], JPEGS[3].item()[:200], b"BM" + b"\0" * 10, b"GIF89a12345", b"\x89PNG\r\n\x1a\n12345678")
for op in ("DecodePng", "DecodeJpeg", "DecodeGif", "DecodeBmp", "DecodeImage", "DecodeAndCropJpeg"):
    window = [tensor([0, 0, 2, 2], "int32")] if op == "DecodeAndCropJpeg" else []
    for data in BAD:
        refuse(op, [content(data), *window])
    refuse(op, [np.array([PNGS[3].item()], dtype=object), *window])
    exempt(op, "empty", why="takes a file")
refuse("DecodePng", [PNGS[3]], channels=2)
refuse("DecodeImage", [PNGS[3]], channels=5)
refuse("DecodeJpeg", [JPEGS[3]], channels=4)
refuse("DecodeJpeg", [JPEGS[3]], ratio=3)
refuse("DecodeJpeg", [JPEGS[3]], dct_method="foo")
refuse("DecodeBmp", [JPEGS[3]])
refuse("DecodeBmp", [content(BMPS[3])], channels=1)
refuse("DecodeBmp", [content(BMPS[3][:60])])
refuse("DecodePng", [content(MOVING)])
for window in ([0, 0, 9], [-1, 0, 2, 2], [0, 0, 0, 2], [0, 0, 10, 2]):
    refuse("DecodeAndCropJpeg", [JPEGS[3], tensor(window, "int32")])
refuse("DecodeAndCropJpeg", [PNGS[3], tensor([0, 0, 2, 2], "int32")])
refuse("ExtractJpegShape", [content(b"xx")])
refuse("ExtractJpegShape", [np.array([b"xx"], dtype=object)])
exempt("ExtractJpegShape", "empty", why="takes a file")


def same_picture(reference, ours):
    """Files may be packed differently; what they show may not."""
    for r, o in zip(reference.reshape(-1), ours.reshape(-1)):
        a, b = (tf.io.decode_image(data).numpy() for data in (r, o))
        if a.shape != b.shape or not np.array_equal(a, b):
            return "the files show different pictures"
    return None


for channels in (1, 2, 3, 4):
    case("EncodePng", [picture(channels)], check=same_picture)
    case("EncodePng", [picture(channels, "uint16")], compression=9, check=same_picture)
case("EncodePng", [np.stack([picture(3), 255 - picture(3)])], check=same_picture)
case("EncodePng", [u8(0, 4, 4, 3)])
for channels in (1, 3):
    case("EncodeJpeg", [picture(channels)], check=same_picture)
    case("EncodeJpeg", [picture(channels)], quality=40, progressive=True, optimize_size=True, chroma_downsampling=False, check=same_picture)
    case("EncodeJpegVariableQuality", [picture(channels), tensor(70, "int32")], check=same_picture)
    case("EncodeJpegVariableQuality", [picture(channels), tensor(100, "int32")], check=same_picture)
case("EncodeJpeg", [picture(3)], format="rgb", density_unit="cm", x_density=10, xmp_metadata="about", check=same_picture)
for image in (u8(7, 3), u8(5, 7, 5), u8(0, 7, 3), u8(5, 7, 0)):
    refuse("EncodePng", [image])
refuse("EncodePng", [picture(3)], compression=11)
for image in (u8(7, 3), u8(5, 7, 2), u8(0, 7, 3), u8(1, 5, 7, 3)):
    refuse("EncodeJpeg", [image])
    refuse("EncodeJpegVariableQuality", [image, tensor(50, "int32")])
refuse("EncodeJpeg", [picture(3)], quality=101)
refuse("EncodeJpeg", [picture(3)], format="grayscale")
refuse("EncodeJpeg", [picture(1)], format="rgb")
refuse("EncodeJpegVariableQuality", [picture(3), tensor(101, "int32")])
refuse("EncodeJpegVariableQuality", [picture(3), i32(1)])
for op in ("EncodeJpeg", "EncodeJpegVariableQuality"):
    exempt(op, "empty", why="an empty picture cannot be encoded")
