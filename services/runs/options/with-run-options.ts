import type { LanguageModelV4, LanguageModelV4GenerateResult } from '@ai-sdk/provider'
import type { RunOptions } from '../../../schemas/run-options.ts'
import { ANSWER_TOOL } from '../../contracts/model-texts.ts'
import { type MergedTool, type ToolHost, toolNames, withAppTools } from '../../tools/index.ts'
import type { Tool } from '../../contracts/tool.ts'
import { type Registry, withRunModels } from '../../models/index.ts'
import type { RunLog } from '../run-log/run-log.ts'
import { narrowBySkills } from './narrow-by-skills.ts'
import { matchesTool, namesOfTool } from './tool-patterns.ts'
import { tokensReported } from '../../usage/index.ts'

/**
 * Returns the host with only the tools that a run's options allow; `matchesTool` decides which tools the entries of their lists match. The
 * tool `answer` of a run that must give a structured answer belongs to the run, so no other tool of that name is offered.
 */
function narrowTools (host: ToolHost, { allowTools, denyTools = [], object }: RunOptions = {}): ToolHost {
  if (allowTools === undefined && denyTools.length === 0 && object === undefined) return host
  const denied = object === undefined ? denyTools : [...denyTools, ANSWER_TOOL]
  const left = new WeakMap<Tool, boolean>()
  const isLeft = (tool: Tool & Partial<MergedTool>): boolean => {
    const matches = (entry: string) => matchesTool(entry, namesOfTool(tool))
    const isAllowed = () => allowTools === undefined || tool.model.use === 'finder' || allowTools.some(matches)
    const is = left.get(tool) ?? (isAllowed() && !denied.some(matches))
    left.set(tool, is)
    return is
  }
  const offered = () => host.offered().filter(isLeft)

  return {
    ...host,
    offered,
    finders: () => host.finders().filter(isLeft),
    describe: (tools = offered(), told) => host.describe(tools, told),
    validate (name, input) {
      const tool = host.find(name)
      if (tool === undefined || isLeft(tool)) return host.validate(name, input)
      return { ok: false, error: `This run has no tool named ${JSON.stringify(name)}. Its tools are: ${toolNames(offered()) || 'none'}.` }
    }
  }
}

/** Returns the host with the tools that a run's options define, and without those that they deny. */
export const withRunTools = (host: ToolHost, options: RunOptions | undefined): ToolHost =>
  narrowTools(narrowBox(withAppTools(host, options), options), options)

/** Returns the host that also applies what a run's options say about boxes for commands, in addition to config.json. */
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
 * Returns the same parts with the models and the tools that a run's options require. If a log of a run is given, answers of models to
 * questions of the service are kept in it, and the skills in use limit the tools.
 */
export function withRunOptions<D extends { registry: Registry, host: ToolHost }> (
  deps: D,
  options: RunOptions | undefined,
  log?: Pick<RunLog, 'append' | 'events'>
): D {
  const { registry, ...rest } = withRunModels(deps, options)
  const host = withRunTools(deps.host, options)
  if (log === undefined) return { ...rest, registry, host } as D
  return { ...rest, registry: withAsides(registry, log), host: narrowBySkills(host, () => log.events) } as D
}

/** The most characters of an answer that is kept; the answers of judges are the longest. */
const MOST_KEPT = 64 * 1024
/** The name of questions that ask for a text. */
const UNNAMED = 'text'

/**
 * Returns the models of a run. Their whole answers, such as those to the analysis and the judgement, are kept in the log of the run. Steps
 * are streamed, and their answers are in the log anyway.
 */
function withAsides (registry: Registry, { append }: Pick<RunLog, 'append'>): Registry {
  return {
    ...registry,
    async model (roleOrId) {
      const loaded = await registry.model(roleOrId)
      return { ...loaded, model: telling(loaded.model, (name, result) => keep(name, loaded.id, result)) }
    }
  }

  function keep (name: string, model: string, { content, usage }: LanguageModelV4GenerateResult): void {
    const text = content.map((part) => part.type === 'text' ? part.text : '').join('')
    if (text.length <= MOST_KEPT) append({ type: 'aside', name, model, text, usage: tokensReported(usage) })
  }
}

/** Returns the model; `tell` receives the results of its calls that are not streamed. */
function telling (model: LanguageModelV4, tell: (name: string, result: LanguageModelV4GenerateResult) => void): LanguageModelV4 {
  const { specificationVersion, provider, modelId, supportedUrls } = model
  return {
    ...{ specificationVersion, provider, modelId, supportedUrls },
    doStream: (options) => model.doStream(options),
    async doGenerate (options) {
      const result = await model.doGenerate(options)
      tell((options.responseFormat?.type === 'json' ? options.responseFormat.name : undefined) ?? UNNAMED, result)
      return result
    }
  }
}
