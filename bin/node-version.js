// Loaded by whatever Node there is: no syntax or module here that Node 12 does not know.

/** The oldest Node that runs the service; the same as `engines` in package.json. */
export const OLDEST = '22.18'

/** Whether this Node is older than that. It then says so on stderr, in one sentence, and sets exit code 64. */
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
