import type { RunOptions } from '../../../schemas/run-options.ts'
import { ANSWER_TOOL } from '../../contracts/model-texts.ts'
import { type MergedTool, type ToolHost, withAppTools } from '../../tools/index.ts'
import type { Tool } from '../../contracts/tool.ts'
import { type Registry, withRunModels } from '../../models/index.ts'
import type { RunLog } from '../run-log/run-log.ts'
import { withAsides } from './with-asides.ts'

/**
 * Returns the host with only the tools that a run's options leave. A tool of a tool server can be named by its qualified name, too. The
 * tool `answer` of a run that owes a structured answer is the run's own, so no other tool of that name is offered.
 */
function narrowTools (host: ToolHost, { allowTools, denyTools = [], object }: RunOptions = {}): ToolHost {
  if (allowTools === undefined && denyTools.length === 0 && object === undefined) return host
  const allowed = allowTools && new Set(allowTools)
  const denied = new Set(object === undefined ? denyTools : [...denyTools, ANSWER_TOOL])
  const isLeft = (tool: Tool & Partial<MergedTool>): boolean => {
    const names = [tool.name, tool.qualified ?? tool.name]
    return (allowed === undefined || tool.isFinder || names.some((name) => allowed.has(name))) && !names.some((name) => denied.has(name))
  }
  const offered = () => host.offered().filter(isLeft)

  return {
    ...host,
    offered,
    finders: () => host.finders().filter(isLeft),
    describe: (tools = offered()) => host.describe(tools),
    validate (name, input) {
      const tool = host.find(name)
      if (tool === undefined || isLeft(tool)) return host.validate(name, input)
      const left = offered().map((each) => each.name).join(', ')
      return { ok: false, error: `This run has no tool named ${JSON.stringify(name)}. Its tools are: ${left || 'none'}.` }
    }
  }
}

/** Returns the host with the tools that a run's options define, and without those that they take away. */
export const withRunTools = (host: ToolHost, options: RunOptions | undefined): ToolHost =>
  narrowTools(narrowBox(withAppTools(host, options), options), options)

/** Returns the host whose commands run as the options of a run say beside config.json. */
function narrowBox (host: ToolHost, { sandbox }: RunOptions = {}): ToolHost {
  if (sandbox === undefined) return host
  return {
    ...host,
    boundary: (call) => host.boundary({ ...call, sandbox }),
    tryOut: (call) => host.tryOut({ ...call, sandbox }),
    outlook: (call) => host.outlook({ ...call, sandbox }),
    keep: (call, tool) => host.keep({ ...call, sandbox }, tool),
    execute: (call) => host.execute({ ...call, sandbox })
  }
}

/**
 * Returns the collaborators with the models and the tools that a run's options ask for. What models answer to questions of the service
 * is kept in the log of the run, if one is given.
 */
export function withRunOptions<D extends { registry: Registry, host: ToolHost }> (
  deps: D,
  options: RunOptions | undefined,
  log?: Pick<RunLog, 'append'>
): D {
  const { registry, ...rest } = withRunModels(deps, options)
  return { ...rest, registry: log === undefined ? registry : withAsides(registry, log), host: withRunTools(deps.host, options) } as D
}
