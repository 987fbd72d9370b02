import type { ModelOptions, Registry } from './registry.ts'

/** Returns the collaborators with the models that a run's options ask for. */
export const withRunModels = <D extends { registry: Registry }>(deps: D, options: ModelOptions | undefined): D => ({
  ...deps,
  registry: { ...deps.registry, ...deps.registry.forRun(options) }
})
