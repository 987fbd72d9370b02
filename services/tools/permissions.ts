import picomatch from 'picomatch'

export type Permission = 'allow' | 'ask' | 'deny'

/** Patterns of tool names, as in config.permissions. */
export type Permissions = Record<string, Permission>

/** What changes the machine or stands for its user is asked for; click and type can do what runCommand can. */
const DEFAULTS: Permissions = { writeFile: 'ask', deleteFile: 'ask', runCommand: 'ask', click: 'ask', type: 'ask' }

/** A tool of a tool server: its other name, and what is done about it by default. */
interface Foreign { qualified: string, permission?: Permission }

/**
 * Decides by the last pattern that matches the name, or the other name of a foreign tool; the defaults come before all
 * of `permissions`.
 */
export function createPermissions (permissions: () => Permissions) {
  const matchers = new Map<string, (name: string) => boolean>()
  const matcher = (pattern: string) => {
    let match = matchers.get(pattern)
    if (match === undefined) {
      // `bash` lets * match / and `dot` a leading dot: a name may hold either and must not slip through a "*": "deny".
      match = pattern === '' ? () => false : picomatch(pattern, { bash: true, dot: true })
      matchers.set(pattern, match)
    }
    return match
  }

  return (name: string, foreign?: Foreign): Permission => {
    const names = foreign === undefined ? [name] : [name, foreign.qualified]
    const matches = ([pattern]: [string, Permission]) => names.some((each) => pattern === each || matcher(pattern)(each))
    const byUser = Object.entries(permissions()).findLast(matches)
    return byUser?.[1] ?? foreign?.permission ?? Object.entries(DEFAULTS).findLast(matches)?.[1] ?? 'allow'
  }
}
