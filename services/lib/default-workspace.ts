const OF_THE_SYSTEM = [
  '/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/nix', '/gnu', '/proc', '/sys', '/dev', '/boot', '/run',
  '/var/run', '/System', '/Library', '/Applications', '/private/etc', '/private/var/db', '/private/var/root', '/private/var/run'
]
/** Where Linux mounts disks that a person plugs in. A folder there can be a workspace. */
const PLUGGED_IN = '/run/media/'
/** Matches drives, shares of other computers, and the folders of Windows and of its programs. */
const OF_WINDOWS = /^(?:[a-z]:\\?|\\\\[^\\]+\\[^\\]+\\?|[a-z]:\\(?:windows|program files(?: \(x86\))?|programdata)(?:\\.*)?)$/i

/**
 * Returns a sentence that says why the folder in which the service was started cannot be the default workspace: nobody chose it as a place
 * to work. Undefined if it can.
 */
export function unfitWorkspace (folder: string): string | undefined {
  const isWhole = folder === '/' || OF_WINDOWS.test(folder)
  const isOfSystem = !folder.startsWith(PLUGGED_IN) && OF_THE_SYSTEM.some((each) => folder === each || folder.startsWith(`${each}/`))
  if (!isWhole && !isOfSystem) return undefined
  return `The service was started in ${JSON.stringify(folder)}, which is no folder to work in. Name one as "workspace" in config.json, ` +
    'start the service in one, or send "cwd" with each request.'
}
