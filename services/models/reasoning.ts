import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderMetadata,
  SharedV4ProviderOptions,
  LanguageModelV4CallOptions
} from '@ai-sdk/provider'
import { isObject } from '../lib/json.ts'
import { withPortableIds } from './request/call-ids.ts'

/**
 * Names the model that made a part of an answer. Providers attach data to these parts (signatures of reasoning, redacted reasoning, ids of
 * items) and require the data back unchanged, but accept only data of the model that is called. So each part with such data, each reasoning
 * part, and each call whose id the model made has the origin of the answer as `agent.model` in its metadata, wherever the part is stored:
 * in the run log, in threads and in the messages of clients. The origin is the id of the model. For a maker's own API the origin is
 * `direct:` and the id, because such an API does not accept data of the same model behind the gateway.
 */
interface Mark {
  agent?: { model?: unknown }
}

/** The maximum size of a part's attached data, in characters of JSON. Larger data is dropped: a truncated signature is invalid. */
const MAX_ATTACHED = 1024 * 1024

/** Returns the attached data by provider, without malformed entries and without the reserved name `agent`. */
const attachedData = (given: unknown): SharedV4ProviderMetadata =>
  isObject(given) ? Object.fromEntries(Object.entries(given).filter(([name, data]) => name !== 'agent' && isObject(data))) : {}

/** Whether a provider has attached data to a part with this metadata. */
export const isAttached = (metadata: object | undefined): boolean =>
  metadata !== undefined && Object.keys(metadata).some((name) => name !== 'agent')

/**
 * Returns a function that collects the data that a provider attaches to one part of an answer, at the part's start, in a delta or at its
 * end. The function takes the data of one event and returns the metadata for the event: all data so far if it has changed, otherwise
 * nothing. With `always`, the part is marked even without data, as reasoning has to be. Reasoning with too much data loses its mark, so
 * that the reasoning is not sent back.
 */
export function createMetadata (model: string, { always = false }: { always?: boolean } = {}) {
  let attached: SharedV4ProviderMetadata = {}
  let known = always ? '' : '{}'
  let isTooLarge = false

  return (given: unknown): { providerMetadata?: SharedV4ProviderMetadata } => {
    if (isTooLarge || ((given === undefined || given === null) && known !== '')) return {}
    for (const [name, data] of Object.entries(attachedData(given))) attached = { ...attached, [name]: { ...attached[name], ...data } }
    const json = JSON.stringify(attached)
    if (json === known) return {}
    const wasMarked = known !== '{}' && known !== ''
    known = json
    if (json.length <= MAX_ATTACHED) return { providerMetadata: { ...attached, agent: { model } } }
    isTooLarge = true
    return always || wasMarked ? { providerMetadata: {} } : {}
  }
}

/**
 * Returns the messages for a call of the model with the origin `model`. They keep the attached data of this model's own answers and the
 * call ids that it made. The reasoning and attached data of other models are removed, and all other call ids get the form that every
 * provider takes. An answer of which nothing remains has empty content.
 */
export function withOwnMetadata (model: string, messages: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const own = new Set(messages.flatMap(({ role, content }) =>
    role === 'assistant'
      ? content.flatMap((part) => part.type === 'tool-call' && isMarked(part.providerOptions, model) ? part.toolCallId : [])
      : []
  ))
  return withPortableIds(withoutForeign(model, messages), own)
}

const isMarked = (options: Mark | undefined, model: string) => options?.agent?.model === model

const withoutForeign = (model: string, messages: LanguageModelV4Prompt): LanguageModelV4Prompt =>
  messages.map((message): LanguageModelV4Message => {
    if (message.role === 'tool') {
      return {
        ...message,
        content: message.content.map((part) => (part.providerOptions as Mark | undefined)?.agent ? withOptions(part) : part)
      }
    }
    if (message.role !== 'assistant') return message
    return {
      ...message,
      content: message.content.flatMap((part) => {
        const { agent, ...attached } = (part.providerOptions ?? {}) as Mark & SharedV4ProviderOptions
        const isOwn = agent?.model === model
        const isKept = isOwn && Object.keys(attached).length > 0
        if ((part.type === 'reasoning' || part.type === 'reasoning-file') && !isOwn) return []
        if ('text' in part && part.text === '' && !isKept) return []
        return [withOptions(part, isKept ? attached : undefined)]
      })
    }
  })

function withOptions<T extends { providerOptions?: SharedV4ProviderOptions }> (part: T, options?: SharedV4ProviderOptions): T {
  if (part.providerOptions === undefined) return part
  const { providerOptions, ...rest } = part
  return { ...rest, ...(options && { providerOptions: options }) } as T
}

/**
 * Models that bind each block of thinking to the system prompt, tools and messages before it. Other models refuse the
 * option `blockBinding`. These models always think, so the option does not switch thinking on.
 * Source: @ai-sdk/anthropic 4.0.105, docs/05-anthropic.mdx, "Thinking Binding Controls".
 */
const BINDS_THINKING = /(?:^|\/)claude-(?:fable-5[.-][12]|opus-5[.-]5|sonnet-5[.-]5)(?![\d.])/

/** Makes the provider drop thinking if the conversation before it has changed. Without this setting, such a call fails with status 400. */
const BLOCK_BINDING = { prefixMismatchBehavior: 'drop_block' }

type Thinking = { type?: string, blockBinding?: unknown }

/**
 * Adds `blockBinding` to the options of a call, so that the call accepts a changed conversation. Returns the options unchanged for a model
 * that does not support it, and for a call without thinking or with other settings for thinking.
 */
export function withBlockBinding<T extends LanguageModelV4CallOptions> (modelId: string, options: T): T {
  const { thinking, ...anthropic } = (options.providerOptions?.anthropic ?? {}) as { thinking?: Thinking }
  // Only adaptive thinking accepts further settings.
  const acceptsSettings = thinking?.type === undefined || thinking.type === 'adaptive'
  // With a setting for thinking, the SDK would not apply `reasoning`.
  const isWithoutThinking = options.reasoning === 'none' &&
    !options.prompt.some(({ role, content }) => role === 'assistant' && content.some(({ type }) => type === 'reasoning'))
  if (!BINDS_THINKING.test(modelId) || !acceptsSettings || isWithoutThinking) return options
  return {
    ...options,
    providerOptions: {
      ...options.providerOptions,
      anthropic: { ...anthropic, thinking: { blockBinding: BLOCK_BINDING, ...thinking } }
    } as SharedV4ProviderOptions
  }
}
