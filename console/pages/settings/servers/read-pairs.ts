/**
 * Parses lines with a name, a separator and a value, such as `TOKEN=abc`. Empty lines are skipped. A line without the separator is a name
 * with an empty value.
 */
export function readPairs (text: string, separator: '=' | ':'): Record<string, string> {
  return Object.fromEntries(text.split('\n').filter((line) => line.trim() !== '').map((line) => {
    const at = line.indexOf(separator)
    return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  }))
}
