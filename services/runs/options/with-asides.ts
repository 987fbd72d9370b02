import type { LanguageModelV4, LanguageModelV4GenerateResult } from '@ai-sdk/provider'
import type { Registry } from '../../models/index.ts'
import { tokensReported } from '../../usage/index.ts'
import type { RunLog } from '../run-log/run-log.ts'

/** Longer answers are not kept, characters; the answers of judges are the longest. */
const MOST_KEPT = 64 * 1024
/** The name of questions that ask for text. */
const UNNAMED = 'text'

/**
 * Returns the models of a run, whose whole answers are kept in its log: what the service asked beside the steps, such as the analysis and
 * the judgement. Steps are streamed, and their answers are in the log anyway.
 */
export function withAsides (registry: Registry, { append }: Pick<RunLog, 'append'>): Registry {
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

/** Returns the model; `tell` gets the results of its whole calls. */
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
