import type { RunOptions } from '../../../schemas/run-options.ts'
import type { ToolHost } from '../host.ts'
import { createValidator } from '../input-validator.ts'
import { appTool } from './app-tool.ts'

/** Returns the host with the tools of a run's application behind the others, in the order of the options. */
export function withAppTools (host: ToolHost, { appTools = [], app }: Pick<RunOptions, 'appTools' | 'app'> = {}): ToolHost {
  if (appTools.length === 0) return host
  const own = new Map(appTools.map((definition) => [definition.name, appTool(definition, app)]))
  const problem = createValidator()
  const permission = (name: string) => own.has(name) ? host.permissionOf(own.get(name)!) : host.permission(name)
  // A tool server that connects later may bring a tool of the same name; in this run the application's counts.
  const offered = () => [
    ...host.offered().filter(({ name }) => !own.has(name)),
    ...[...own.values()].filter(({ name }) => permission(name) !== 'deny')
  ]

  return {
    ...host,
    find: (name) => own.get(name) ?? host.find(name),
    identity: (name) => own.get(name)?.identity ?? host.identity(name),
    permission,
    offered,
    validate (name, input) {
      const tool = own.get(name)
      if (tool === undefined) return host.validate(name, input)
      if (permission(name) === 'deny') return { ok: false, error: `There is no tool named ${JSON.stringify(name)}.` }
      const error = problem(tool, input)
      return error === undefined ? { ok: true, input } : { ok: false, error }
    }
  }
}
