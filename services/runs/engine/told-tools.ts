import type { Tool } from '../../contracts/tool.ts'
import type { ContextWindows, Registry } from '../../models/index.ts'
import { deferTools, type ToolHost } from '../../tools/index.ts'

/**
 * Divides the tools of a run into those that its model is told of and those that it finds. The window of a server of the user's own, which
 * may be small, is asked for.
 */
export async function toldTools (
  tools: Tool[],
  { host, registry }: { host: Pick<ToolHost, 'finders'>, registry: Pick<Registry, 'roles' | 'reach'> & ContextWindows },
  signal: AbortSignal
): Promise<ReturnType<typeof deferTools>> {
  const id = registry.roles().capable
  const window = await registry.contextWindow(id, registry.reach(id) === 'cloud' ? 0 : Infinity, signal)
  return deferTools(tools, { finders: host.finders(), window })
}
