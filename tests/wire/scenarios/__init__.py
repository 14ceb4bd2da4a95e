"""Client programs as people write them; importing this package registers them all."""

from . import (embeddings, estimators, input_pipelines, keras_models, layers, loops, mlp, savers, summaries, trainers)  # noqa: F401
