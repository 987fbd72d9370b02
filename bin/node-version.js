// Runs on any version of Node: uses no syntax or module that Node 12 lacks.

/** The oldest Node version that runs the service; the same as `engines` in package.json. */
export const OLDEST = '22.18'

/** Returns whether this Node is older than that. If so, prints one sentence on stderr and sets exit code 64. */
export function refuseOldNode () {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST.split('.').map(Number)
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return false
  process.stderr.write(
    'local-agent needs Node ' + OLDEST + ' or newer, but ' + process.execPath + ' is Node ' + process.versions.node +
      ': run it with a newer one.\n'
  )
  process.exitCode = 64
  return true
}
