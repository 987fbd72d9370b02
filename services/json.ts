/**
 * `JSON.parse` whose error quotes nothing of the text: bodies and config.json hold secrets, and errors are shown.
 * Throws SyntaxError.
 */
export function parseJson (text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(text, reviver)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new SyntaxError(withoutQuote(error.message))
  }
}

/** V8 says: Unexpected token 'a', ..."excerpt"... is not valid JSON. The excerpt may span lines. */
function withoutQuote (message: string) {
  return message.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, '').replace(/^".*" is not valid JSON$/s, 'no JSON value')
}
