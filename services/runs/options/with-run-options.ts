import type { RunOptions } from '../../../schemas/run-options.ts'
import type { Registry } from '../../models/providers/registry.ts'
import { withRunModels } from '../../models/providers/run-models.ts'
import { withAppTools } from '../../tools/app/with-app-tools.ts'
import type { ToolHost } from '../../tools/host.ts'
import { narrowTools } from './narrow-tools.ts'

/** Returns the host with the tools that a run's options define, and without those that they take away. */
export const withRunTools = (host: ToolHost, options: RunOptions | undefined): ToolHost =>
  narrowTools(withAppTools(host, options), options)

/** Returns the collaborators with the models and the tools that a run's options ask for. */
export const withRunOptions = <D extends { registry: Registry, host: ToolHost }>(deps: D, options: RunOptions | undefined): D => ({
  ...withRunModels(deps, options),
  host: withRunTools(deps.host, options)
})
