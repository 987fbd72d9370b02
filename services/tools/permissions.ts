import type { Permission, Tool } from '../contracts/tool.ts'
import { createNamePatterns } from '../lib/name-patterns.ts'

/** Patterns of tool names, as in config.permissions. */
export type Permissions = Record<string, Permission>

/** The parts of a tool that its permission depends on. A tool of a tool server also has its qualified name. */
type Known = { policy: Pick<Tool['policy'], 'effect' | 'permission'>, qualified?: string }

/**
 * Creates a function that returns the permission of a tool: that of the last pattern in `permissions` that matches its name or its
 * qualified name; without a match the tool's own default, `allow` if it decides call by call; without a default `allow` for the effect
 * `read`, else `ask`. An unknown tool without a match gets `ask`.
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
