"""The synchronous client: made of `_async` by `npm run openapi`, but for `io.py`."""
