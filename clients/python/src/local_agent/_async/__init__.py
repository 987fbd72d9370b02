"""The client for asyncio. `_sync` is made of it by `npm run openapi`, but for `io.py`."""
