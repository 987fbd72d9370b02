import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider'

/**
 * Providers attach data to the parts of an answer (signatures of thinking, redacted thinking, ids of items) and want it
 * back unchanged with the part, but only the data of the very model that is called. So each part that has such data, and
 * each part of thinking, carries the id of its model in its metadata as `agent.model`, wherever the part is kept: in the
 * log, in threads and in the messages of clients.
 */
interface Mark {
  agent?: { model?: unknown }
}

/** Most that a provider may attach to one part, characters of JSON. Data beyond that is not kept: a signature that was cut is worth nothing. */
const LARGEST = 1024 * 1024

const isObject = (value: unknown): value is Record<string, any> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The attached data of a part, provider by provider; what has no such form, or claims to be ours, is left out. */
const readable = (given: unknown): SharedV4ProviderMetadata =>
  isObject(given) ? Object.fromEntries(Object.entries(given).filter(([name, data]) => name !== 'agent' && isObject(data))) : {}

/** Whether a provider has attached anything. */
export const isAttached = (metadata: object | undefined): boolean =>
  metadata !== undefined && Object.keys(metadata).some((name) => name !== 'agent')

/** Metadata of a tool call of a model; nothing when the provider attached none, or too much. */
export function attachedTo (given: unknown, model: string): { providerMetadata?: SharedV4ProviderMetadata } {
  return createMetadata(model)(given)
}

/**
 * Collects what a provider attaches to one part, which may come with its start, any delta or its end. Each call takes what
 * came with an event and gives what the event has to carry: all that is attached so far, when that has changed. A part of
 * thinking is marked `always`, also without data. Thinking whose data is too large loses its mark, so it is not sent back.
 */
export function createMetadata (model: string, { always = false }: { always?: boolean } = {}) {
  let attached: SharedV4ProviderMetadata = {}
  let known = always ? '' : '{}'
  let isTooLarge = false

  return (given: unknown): { providerMetadata?: SharedV4ProviderMetadata } => {
    if (isTooLarge || ((given === undefined || given === null) && known !== '')) return {}
    for (const [name, data] of Object.entries(readable(given))) attached = { ...attached, [name]: { ...attached[name], ...data } }
    const json = JSON.stringify(attached)
    if (json === known) return {}
    const wasTold = known !== '{}' && known !== ''
    known = json
    if (json.length <= LARGEST) return { providerMetadata: { ...attached, agent: { model } } }
    isTooLarge = true
    return always || wasTold ? { providerMetadata: {} } : {}
  }
}

/**
 * The messages as one model may be sent them: with what its own provider attached to its own answers, and without the
 * thinking and the attached data of any other. A message of which nothing is left has no content.
 */
export const ownedBy = (model: string, messages: LanguageModelV4Prompt): LanguageModelV4Prompt =>
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
