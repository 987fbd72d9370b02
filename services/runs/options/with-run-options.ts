import type { LanguageModelV4, LanguageModelV4GenerateResult } from '@ai-sdk/provider'
import type { RunOptions } from '../../../schemas/run-options.ts'
import { ANSWER_TOOL } from '../../contracts/model-texts.ts'
import { appTool, type RunTools, type ToolHost } from '../../tools/index.ts'
import type { Tool } from '../../contracts/tool.ts'
import { type Registry, withRunModels } from '../../models/index.ts'
import type { RunLog } from '../run-log/run-log.ts'
import { narrowBySkills } from './narrow-by-skills.ts'
import { matchesTool, namesOfTool } from './tool-patterns.ts'
import { tokensReported } from '../../usage/index.ts'

/**
 * Returns a function that says whether a run's options allow a tool; undefined if they allow all tools. See `matchesTool` for the entries
 * of the lists. In a run that must give a structured answer, the tool `answer` belongs to the run, so no other tool of that name is
 * offered.
 */
function leftBy ({ allowTools, denyTools = [], object }: RunOptions): RunTools['isLeft'] {
  if (allowTools === undefined && denyTools.length === 0 && object === undefined) return undefined
  const denied = object === undefined ? denyTools : [...denyTools, ANSWER_TOOL]
  const left = new WeakMap<Tool, boolean>()
  return (tool) => {
    const matches = (entry: string) => matchesTool(entry, namesOfTool(tool))
    const isAllowed = () => allowTools === undefined || tool.model.use === 'finder' || allowTools.some(matches)
    const is = left.get(tool) ?? (isAllowed() && !denied.some(matches))
    left.set(tool, is)
    return is
  }
}

/**
 * Returns the tool host with the application tools that a run's options define, and without the tools that they deny. The option `sandbox`
 * applies in addition to config.json.
 */
export function withRunTools (host: ToolHost, options: RunOptions = {}): ToolHost {
  const { appTools = [], app, sandbox } = options
  return host.forRun({ ofApp: appTools.map((definition) => appTool(definition, app)), isLeft: leftBy(options), sandbox })
}

/**
 * Returns `deps` with the models and the tools that a run's options require. With the log of a run, the answers of models to questions of
 * the service (asides) are appended to the log, and the skills in use limit the tools.
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

/**
 * The most characters of the answer of an aside (a model call beside the steps of a run) that is kept. The answers of judges are the
 * longest.
 */
const MOST_KEPT = 64 * 1024
/** The name of asides that ask for a text instead of JSON. */
const UNNAMED = 'text'

/**
 * Returns the models of a run. Answers that are not streamed, such as those to the analysis and the judgement, are appended to the log of
 * the run. Steps are streamed, and their answers are in the log anyway.
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

/** Wraps a model so that `tell` receives the results of its calls that are not streamed. */
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
