import type { Permission, Tool } from '../contracts/tool.ts'
import { createNamePatterns } from '../lib/name-patterns.ts'

/** Maps patterns of tool names to permissions, as in config.permissions. */
export type Permissions = Record<string, Permission>

/** The fields of a tool that its permission depends on. A tool of a tool server also has a qualified name. */
type Known = { policy: Pick<Tool['policy'], 'effect' | 'permission'>, qualified?: string }

/**
 * Creates a function that returns the permission of a tool. The last pattern in `permissions` that matches the tool's name or qualified
 * name decides. Without a match, the tool's own default decides; it is `allow` if the tool decides for each call. Without a default, the
 * effect `read` gives `allow`, any other effect `ask`. An unknown tool without a match gets `ask`.
 */
export function createPermissions (permissions: () => Permissions) {
  const matchesName = createNamePatterns()
  return (name: string, tool?: Known): Permission => {
    const names = tool?.qualified === undefined ? [name] : [name, tool.qualified]
    const matches = ([pattern]: [string, Permission]) => names.some((each) => matchesName(pattern, each))
    const byUser = Object.entries(permissions()).findLast(matches)
    if (byUser !== undefined) return byUser[1]
    const own = tool?.policy.permission
    return typeof own === 'function' || typeof own === 'object' ? 'allow' : own ?? (tool?.policy.effect === 'read' ? 'allow' : 'ask')
  }
}
