import type { Permission, Tool } from '../contracts/tool.ts'
import { createNamePatterns } from '../lib/name-patterns.ts'

/** Patterns of tool names, as in config.permissions. */
export type Permissions = Record<string, Permission>

/** The fields of a tool that decide; a tool of a tool server also has its qualified name. */
type Known = Pick<Tool, 'effect' | 'permission'> & { qualified?: string }

/**
 * Creates a function that returns the permission of a tool: that of the last pattern in `permissions` that matches its name or its
 * qualified name; without a match the tool's own default; without a default `allow` for the effect `read`, else `ask`. An
 * unknown tool without a match gets `ask`.
 */
export function createPermissions (permissions: () => Permissions) {
  const matchesName = createNamePatterns()
  return (name: string, tool?: Known): Permission => {
    const names = tool?.qualified === undefined ? [name] : [name, tool.qualified]
    const matches = ([pattern]: [string, Permission]) => names.some((each) => matchesName(pattern, each))
    const byUser = Object.entries(permissions()).findLast(matches)
    return byUser?.[1] ?? tool?.permission ?? (tool?.effect === 'read' ? 'allow' : 'ask')
  }
}
