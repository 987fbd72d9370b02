import picomatch from 'picomatch'
import type { Permission, Tool } from './tool.ts'

/** Patterns of tool names, as in config.permissions. */
export type Permissions = Record<string, Permission>

/** What a decision needs to know of a tool; one of a tool server has another name. */
type Known = Pick<Tool, 'effect' | 'permission'> & { qualified?: string }

/**
 * Decides by the last pattern of `permissions` that matches the name or the other name of the tool. Without one the
 * tool's own default counts, and without that its effect: a read runs, anything else asks, and so does an unknown tool.
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

  return (name: string, tool?: Known): Permission => {
    const names = tool?.qualified === undefined ? [name] : [name, tool.qualified]
    const matches = ([pattern]: [string, Permission]) => names.some((each) => pattern === each || matcher(pattern)(each))
    const byUser = Object.entries(permissions()).findLast(matches)
    return byUser?.[1] ?? tool?.permission ?? (tool?.effect === 'read' ? 'allow' : 'ask')
  }
}
