/**
 * Yields the parsed JSON of each event's `data:` line until the stream ends. When the stream breaks off, throws the error
 * that `toError` makes of the cause. The stream is closed when the caller stops reading.
 * Implements https://html.spec.whatwg.org/multipage/server-sent-events.html as far as the service uses it: one line per event.
 */
export async function * readEvents<T> (
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  toError: (cause: unknown) => unknown
): AsyncGenerator<T> {
  // Not for await: in some web views streams are not async iterable.
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    while (true) {
      const { done, value } = await reader.read().catch((cause) => {
        throw toError(cause)
      })
      if (done) return
      const lines = (rest + value).split('\n')
      rest = lines.pop()!
      for (const line of lines) if (line.startsWith('data:')) yield JSON.parse(line.slice('data:'.length))
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}
