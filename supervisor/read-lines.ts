/** The maximum length of a line, in characters. A longer line is cut, so that a stream without line feeds cannot fill the memory. */
const MAX_LINE = 64 * 1024

/** Calls `onLine` with each line of a stream, without the line feed. Resolves when the stream has ended. */
export function readLines (input: NodeJS.ReadableStream, onLine: (line: string) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let line = ''
  const end = () => {
    const whole = line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)} …` : line.replace(/\r$/, '')
    line = ''
    onLine(whole)
  }
  input.setEncoding('utf8')
  input.on('data', (text: string) => {
    for (const [n, part] of text.split('\n').entries()) {
      if (n > 0) end()
      if (line.length <= MAX_LINE) line += part
    }
  })
  input.once('close', () => {
    if (line !== '') end()
    resolve()
  })
  // The error is ignored, because the exit of the process says more.
  input.on('error', () => {})
  return promise
}
