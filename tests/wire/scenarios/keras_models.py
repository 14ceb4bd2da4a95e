"""Keras in graph mode: its session is one on the cluster, its variables are wherever its device scope says."""

import numpy as np

from . import digits
from .scene import scenario


@scenario("keras_graph_mode", rtol=1e-3, atol=2e-4)
def keras_graph_mode(scene):
    tf1 = scene.tf1
    keras = tf1.keras
    images, labels = digits.load(96)
    graph = tf1.Graph()
    with graph.as_default(), tf1.Session(scene.target(), graph=graph) as session:
        tf1.set_random_seed(12)
        keras.backend.set_session(session)
        with tf1.device("/job:ps/task:0"):
            model = keras.Sequential([
                keras.layers.Dense(16, activation="relu", input_shape=[784]),
                keras.layers.BatchNormalization(fused=False),
                keras.layers.Dropout(0.25, seed=5),
                keras.layers.Dense(10, activation="softmax"),
            ])
            model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
        history = model.fit(images[:64], labels[:64], batch_size=16, epochs=2, shuffle=False, verbose=0,
                            validation_data=(images[64:], labels[64:]))
        scene.keep(history={name: np.array(values, np.float32) for name, values in history.history.items()})
        scene.keep(predicted=model.predict(images[64:80], batch_size=8), weights=model.get_weights())
        scene.keep(evaluated=np.array(model.evaluate(images[:32], labels[:32], verbose=0), np.float32))
        scene.saw(graph)
    keras.backend.clear_session()
