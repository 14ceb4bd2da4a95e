"""Calls by grpcio, for requests that TensorFlow's client cannot make."""

import grpc


class Raw:
    """A channel to a node; bodies are bytes or anything with SerializeToString."""

    def __init__(self, target):
        self.channel = grpc.insecure_channel(target.removeprefix("grpc://"), options=[("grpc.max_receive_message_length", -1)])

    def call(self, method, body=b"", timeout=30):
        data = body if isinstance(body, bytes) else body.SerializeToString()
        return self.channel.unary_unary(method)(data, timeout=timeout)

    def failure(self, method, body=b"", timeout=30):
        """Code name and text of the error, or None."""
        try:
            self.call(method, body, timeout)
        except grpc.RpcError as e:
            return e.code().name, e.details()
        return None

    def close(self):
        self.channel.close()


def field(number, value):
    """One protobuf field on the wire: int as varint, bytes or str as length-delimited."""

    def varint(n):
        n &= (1 << 64) - 1
        out = b""
        while n >= 0x80:
            out += bytes([n & 0x7F | 0x80])
            n >>= 7
        return out + bytes([n])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data
