import type { RunOptions } from '../../../schemas/run-options.ts'
import { type Registry, withRunModels } from '../../models/index.ts'
import { type ToolHost, withAppTools } from '../../tools/index.ts'
import { narrowTools } from './narrow-tools.ts'

/** Returns the host with the tools that a run's options define, and without those that they take away. */
export const withRunTools = (host: ToolHost, options: RunOptions | undefined): ToolHost =>
  narrowTools(withAppTools(host, options), options)

/** Returns the collaborators with the models and the tools that a run's options ask for. */
export const withRunOptions = <D extends { registry: Registry, host: ToolHost }>(deps: D, options: RunOptions | undefined): D => ({
  ...withRunModels(deps, options),
  host: withRunTools(deps.host, options)
})
