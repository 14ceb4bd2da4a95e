"""What the client wrote into its event files, without what depends on the clock."""

import numpy as np


def _values(folder, tags):
    import tensorflow as tf

    for path in sorted(folder.glob("events.out.tfevents.*")):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.tag in tags:
                    yield event.step, value


def scalars(folder, tags):
    kept = {tag: [] for tag in tags}
    for step, value in _values(folder, tags):
        kept[value.tag].append((step, np.float32(value.simple_value)))
    assert all(kept.values()), f"no summaries in {folder}"
    return kept


def histogram_counts(folder, tag):
    return [(step, value.histo.num) for step, value in _values(folder, [tag])]
