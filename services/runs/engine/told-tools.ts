import type { Tool } from '../../contracts/tool.ts'
import type { ContextWindows, Registry } from '../../models/index.ts'
import { definitionTokens, deferTools, type ToolHost } from '../../tools/index.ts'

/** How many times its share of a window the definitions of tools are, at least, when the window is looked up. */
const LOOK_UP_AT = 5

/**
 * Divides the tools of a run into those that its model is told of and those that it finds, and describes the servers of both. The window
 * of a server of the user's own, which may be small, is asked for.
 */
export async function toldTools (
  tools: Tool[],
  { host, registry }: {
    host: Pick<ToolHost, 'finders' | 'describe'>,
    registry: Pick<Registry, 'roles' | 'reach'> & ContextWindows
  },
  signal: AbortSignal
): Promise<ReturnType<typeof deferTools> & { servers: string }> {
  const id = registry.roles().capable
  const tokens = definitionTokens(tools.filter(({ identity }) => identity !== undefined)) * LOOK_UP_AT
  const window = await registry.contextWindow(id, registry.reach(id) === 'cloud' ? tokens : Infinity, signal)
  const divided = deferTools(tools, { finders: host.finders(), window })
  return { ...divided, servers: host.describe(tools, { found: new Set(divided.deferred), window }) }
}
