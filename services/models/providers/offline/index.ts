import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Clock } from '../../../lib/clock.ts'
import { ANSWER_TOOL } from '../../../contracts/model-texts.ts'
import type { Provider } from '../provider.ts'
import { InvalidModelId } from '../failures.ts'
import type { Reply } from '../reply-model.ts'
import type { ToolOf } from './report.ts'

const MODELS: Record<string, string> = {
  assistant: 'Offline assistant (plain commands, no language model)',
  scripted: 'Offline script (replays offline.script of config.json)'
}

/** Loads the models on first use, because the expressions of their rules take time and memory. */
const load = async () => ({
  ...await import('./assistant.ts'),
  ...await import('./structured.ts'),
  ...await import('../reply-model.ts')
})

/** Creates the provider of the built-in models, which need no network and no key: one reads plain commands, one replays a script. */
export function createOfflineProvider ({ clock, script, toolOf }: {
  clock: Clock,
  script: () => Reply[] | undefined,
  toolOf?: ToolOf
}): Provider {
  const names = Object.keys(MODELS)
  return {
    name: 'offline',
    kind: 'offline',
    reach: 'machine',
    fileApi: () => 'offline',
    models: names,
    defaultModel: 'offline/assistant',
    configured: () => true,
    async languageModel (name) {
      if (!Object.hasOwn(MODELS, name)) {
        throw new InvalidModelId(JSON.stringify(`offline/${name}`), `the offline models are ${names.join(' and ')}.`)
      }
      const { assistantReply, structuredReply, createReplyModel } = await load()
      const reply = (options: LanguageModelV4CallOptions) => {
        const { responseFormat } = options
        const isStructured = responseFormat?.type === 'json' && responseFormat.name !== ANSWER_TOOL
        if (isStructured) return structuredReply(options, responseFormat.name, toolOf)
        return name === 'assistant' ? assistantReply(options, toolOf) : scriptedReply(script() ?? [], options)
      }
      return createReplyModel({ modelId: name, clock, reply })
    },
    async warm () {
      await load()
    },
    async listModels (signal) {
      signal.throwIfAborted()
      // The scripted model is offered only if config.json has a script.
      const offered = script() === undefined ? names.filter((name) => name !== 'scripted') : names
      return offered.map((name) => ({ id: `offline/${name}`, name: MODELS[name], provider: 'offline' }))
    }
  }
}

/**
 * Replays one turn per model call. The turn's number is the number of answers in the prompt, so that a script continues after a restart.
 */
function scriptedReply (script: Reply[], { prompt }: LanguageModelV4CallOptions): Reply {
  const turn = script[prompt.filter(({ role }) => role === 'assistant').length]
  if (turn) return turn
  const text = `End of the script: it has ${script.length} ${script.length === 1 ? 'turn' : 'turns'}.`
  return { text: script.length === 0 ? 'There is no script: set "offline.script" in config.json.' : text }
}
