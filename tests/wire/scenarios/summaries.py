"""Every kind of summary, fetched and taken apart."""

import numpy as np

from .scene import scenario


@scenario("summaries")
def summaries(scene):
    tf1 = scene.tf1
    import tensorflow as tf

    x = tf1.placeholder(tf1.float32, [4, 6], name="x")
    images = tf1.placeholder(tf1.float32, [3, 5, 7, 3], name="images")
    sound = tf1.placeholder(tf1.float32, [2, 100, 1], name="sound")
    kinds = {
        "scalar": tf1.summary.scalar("scalar", x[0, 0]),
        "histogram": tf1.summary.histogram("histogram", x),
        "image": tf1.summary.image("image", images, max_outputs=2),
        "audio": tf1.summary.audio("audio", sound, 8000, max_outputs=2),
        "tensor": tf1.summary.tensor_summary("tensor", x),
    }
    merged = tf1.summary.merge_all()
    rng = np.random.RandomState(1)
    feed = {x: rng.normal(size=[4, 6]), images: rng.uniform(size=[3, 5, 7, 3]), sound: rng.uniform(-1, 1, [2, 100, 1])}
    with scene.session() as session:
        fetched, whole = session.run([kinds, merged], feed)
    scene.keep(merged=sorted(value.tag for value in tf1.Summary.FromString(whole).value))
    for kind, text in fetched.items():
        for i, value in enumerate(tf1.Summary.FromString(text).value):
            scene.keep(**{f"{kind}{i}": taken_apart(tf, value)})


def taken_apart(tf, value):
    """PNG may be packed differently, so its pixels are compared; a WAV file has one form only."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return [value.tag, np.float32(value.simple_value)]
    if kind == "histo":
        histo = value.histo
        return [value.tag, np.array([histo.min, histo.max, histo.num, histo.sum, histo.sum_squares]),
                np.array(histo.bucket_limit), np.array(histo.bucket)]
    if kind == "image":
        image = value.image
        with tf.Graph().as_default(), tf.compat.v1.Session() as local:
            pixels = local.run(tf.io.decode_png(image.encoded_image_string))
        return [value.tag, image.height, image.width, image.colorspace, pixels]
    if kind == "audio":
        audio = value.audio
        return [value.tag, audio.sample_rate, audio.num_channels, audio.length_frames, audio.content_type, audio.encoded_audio_string]
    return [value.tag, value.metadata.SerializeToString(deterministic=True), tf.make_ndarray(value.tensor)]
