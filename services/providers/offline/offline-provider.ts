import type { Clock } from '../../lib/clock.ts'
import type { ModelInfo, Provider } from '../provider.ts'
import { InvalidModelId } from '../provider-errors.ts'
import { assistantReply } from './assistant.ts'
import { createReplyModel, type Reply } from './model.ts'
import { structuredReply } from './structured-reply.ts'
import { scriptedReply, type ScriptedTurn } from './scripted.ts'
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'

const NAMES = ['assistant', 'scripted'] as const

/** Creates the provider of the built-in models, which need no network and no key: one reads plain commands, one replays a script. */
export function createOfflineProvider ({ clock, script }: { clock: Clock, script: () => ScriptedTurn[] | undefined }): Provider {
  const replies: Record<string, (options: LanguageModelV4CallOptions) => Reply> = {
    assistant: assistantReply,
    scripted: (options) => scriptedReply(script() ?? [], options)
  }
  return {
    name: 'offline',
    kind: 'offline',
    models: NAMES,
    defaultModel: 'offline/assistant',
    configured: () => true,
    async languageModel (name) {
      const reply = replies[name]
      if (!reply) throw new InvalidModelId(JSON.stringify(`offline/${name}`), `the offline models are ${NAMES.join(' and ')}.`)
      return createReplyModel({
        modelId: name,
        clock,
        reply: (options) => options.responseFormat?.type === 'json' ? structuredReply(options, options.responseFormat) : reply(options)
      })
    },
    async listModels (signal): Promise<ModelInfo[]> {
      signal.throwIfAborted()
      return [
        { id: 'offline/assistant', name: 'Offline assistant (plain commands, no language model)', provider: 'offline' },
        { id: 'offline/scripted', name: 'Offline script (replays offline.script of config.json)', provider: 'offline' }
      ]
    }
  }
}
