/**
 * The JSON of each event's `data:` line, as it comes; ends when the stream does. What breaks it off is thrown as
 * `broken` puts it. Whoever stops reading closes the stream.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html, as far as the service uses it: one line an event.
 */
export async function * readEvents<T> (
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  broken: (cause: unknown) => unknown
): AsyncGenerator<T> {
  // Not for await: some web views have no iterator of streams.
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    while (true) {
      const { done, value } = await reader.read().catch((cause) => {
        throw broken(cause)
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
