import type { RunOptions } from '../../schemas/run-options.ts'
import type { Registry } from '../providers/registry.ts'
import { checkAppTools } from '../tools/app/check-app-tools.ts'
import type { ToolHost } from '../tools/host.ts'

/**
 * Checks what the schema of a request cannot: that the model and the tools of the application can be used. Throws InvalidModelId,
 * ModelNotUsable or BadAppTool (400).
 */
export async function checkRunOptions (
  options: RunOptions | undefined,
  { registry, host }: { registry: Pick<Registry, 'requireUsable'>, host: Pick<ToolHost, 'names' | 'ready'> }
): Promise<void> {
  if (options === undefined) return
  if (options.model !== undefined) registry.requireUsable(options.model)
  checkAppTools(options, host)
}
