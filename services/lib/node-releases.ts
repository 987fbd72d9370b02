/** The newest release of each line of Node.js that this build knows of: https://nodejs.org/en/about/previous-releases */
const NEWEST: Record<string, string> = { 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' }

const numbers = (version: string) => version.split('.').map(Number)

/**
 * Returns a sentence if this Node.js is older than the newest known release of its line and might lack security fixes; undefined otherwise.
 */
export function oldNode (version: string): string | undefined {
  const [major, minor, patch] = numbers(version)
  const newest = NEWEST[major]
  const lines = Object.keys(NEWEST).map(Number)
  if (newest === undefined) {
    if (major > Math.max(...lines)) return undefined
    return `This is Node.js ${version}, of a line that gets no security releases. Use one of these lines: ${lines.join(', ')}.`
  }
  const [, newMinor, newPatch] = numbers(newest)
  const isOld = minor < newMinor || (minor === newMinor && patch < newPatch)
  return isOld ? `This is Node.js ${version}; ${newest} is known, and may fix security holes in it. Update Node.js.` : undefined
}
