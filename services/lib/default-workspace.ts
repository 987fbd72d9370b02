const OF_THE_SYSTEM = [
  '/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/nix', '/gnu', '/proc', '/sys', '/dev', '/boot', '/run',
  '/var/run', '/System', '/Library', '/Applications', '/private/etc', '/private/var/db', '/private/var/root', '/private/var/run'
]
/** Where Linux puts disks that a person plugs in; their folders are as good as any. */
const PLUGGED_IN = '/run/media/'
/** Drives, shares of other computers, and the folders of Windows and its programs. */
const OF_WINDOWS = /^(?:[a-z]:\\?|\\\\[^\\]+\\[^\\]+\\?|[a-z]:\\(?:windows|program files(?: \(x86\))?|programdata)(?:\\.*)?)$/i

/** Returns why a folder is no default workspace, a sentence: who starts the service there did not mean it. Undefined when it can be one. */
export function unfitWorkspace (folder: string): string | undefined {
  const isWhole = folder === '/' || OF_WINDOWS.test(folder)
  const isOfSystem = !folder.startsWith(PLUGGED_IN) && OF_THE_SYSTEM.some((each) => folder === each || folder.startsWith(`${each}/`))
  if (!isWhole && !isOfSystem) return undefined
  return `The service was started in ${JSON.stringify(folder)}, which is no folder to work in. Name one as "workspace" in config.json, ` +
    'start the service in one, or send "cwd" with each request.'
}
