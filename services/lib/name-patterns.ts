import picomatch from 'picomatch'

/** The most compiled patterns that are kept: requests bring patterns of their own, and each takes some kilobytes. */
const MOST_KEPT = 1_000

/** Creates a function that returns whether a glob matches the name of a tool. It keeps compiled patterns. */
export function createNamePatterns () {
  const matchers = new Map<string, (name: string) => boolean>()
  const matcher = (pattern: string) => {
    let match = matchers.get(pattern)
    if (match === undefined) {
      // `bash` lets * match "/", and `dot` a leading dot. Names can contain both, and "*": "deny" must match every name.
      match = pattern === '' ? () => false : picomatch(pattern, { bash: true, dot: true })
      if (matchers.size >= MOST_KEPT) matchers.clear()
      matchers.set(pattern, match)
    }
    return match
  }
  return (pattern: string, name: string): boolean => pattern === name || matcher(pattern)(name)
}
