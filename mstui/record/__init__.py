"""What a MindSpore training script adds to be watched well: gradient, weight and activation statistics.

    from mstui.record import Recorder
    model.train(epochs, data, callbacks=[Recorder("summary")])

`mstui record --help` prints the whole page. Importing this imports no MindSpore.
"""

from mstui.record.recorder import Recorder

__all__ = ["Recorder"]
