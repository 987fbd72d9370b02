import type { RunOptions } from '../../schemas/run-options.ts'
import type { Registry } from '../providers/registry.ts'
import { withRunModels } from '../providers/run-models.ts'
import { withAppTools } from '../tools/app/with-app-tools.ts'
import type { ToolHost } from '../tools/host.ts'
import { narrowTools } from './narrow-tools.ts'

/** Returns the collaborators with the models and the tools that a run's options ask for. */
export const withRunOptions = <D extends { registry: Registry, host: ToolHost }>(deps: D, options: RunOptions | undefined): D => ({
  ...withRunModels(deps, options),
  host: narrowTools(withAppTools(deps.host, options), options)
})
