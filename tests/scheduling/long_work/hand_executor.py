"""An executor without threads: a call runs when a test says so, or when it is waited for."""
from __future__ import annotations

from concurrent.futures import Executor, Future


class HandExecutor(Executor):
    """Keeps calls until they are run by hand, in any order."""

    def __init__(self):
        self.calls = []
        self.is_shut_down = False

    def submit(self, function, /, *arguments, **named):
        if self.is_shut_down:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = HandFuture(function, arguments, named)
        self.calls.append(future)
        return future

    def begin(self, place):
        """A thread takes one call: it can no longer be cancelled."""
        self.calls[place % len(self.calls)].begin()

    def run(self, place):
        """One call is run to its end, whichever it is; nothing if it was cancelled."""
        self.calls[place % len(self.calls)].run()

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.is_shut_down = True
        for future in self.calls:
            if cancel_futures:
                future.cancel()
            elif wait:
                future.run()


class HandFuture(Future):
    def __init__(self, function, arguments, named):
        super().__init__()
        self.call = lambda: function(*arguments, **named)

    def begin(self):
        return not self.done() and (self.running() or self.set_running_or_notify_cancel())

    def run(self):
        if not self.begin():
            return
        try:
            self.set_result(self.call())
        except Exception as error:
            self.set_exception(error)

    def result(self, timeout=None):
        self.run()
        return super().result(timeout)

    def exception(self, timeout=None):
        self.run()
        return super().exception(timeout)
