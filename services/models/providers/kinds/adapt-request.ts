import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4FilePart, LanguageModelV4Prompt } from '@ai-sdk/provider'
import {
  hasToolPicture,
  MILD_NEEDS,
  type Need,
  NEEDS,
  PLAIN_FORM,
  readNeed,
  TAKES_NO_IMAGES,
  withNeeds
} from '../../request/request-needs.ts'
import { BLAMES_FILE } from '../../attached/with-files.ts'
import type { LearnedNeeds } from '../learned-limits.ts'
import { isOfLength, isOfToolCount } from '../failures.ts'
import { blamesSchema } from '../../tool-schemas/refused-tool.ts'

const TOOL_IMAGES_OPENING = 'Images from the results of the tools above, in their order:'

/**
 * Moves the images of tool results into a user message after them, because OpenAI's chat completions accept images only
 * in user messages. The results keep their text.
 */
export function withImagesApart<T extends LanguageModelV4CallOptions> (options: T): T {
  return { ...options, prompt: options.prompt.flatMap(separateImages) }
}

function separateImages (message: LanguageModelV4Prompt[number]): LanguageModelV4Prompt {
  if (message.role !== 'tool') return [message]
  const files: LanguageModelV4FilePart[] = []
  const content = message.content.map((part) => {
    if (part.type !== 'tool-result' || part.output.type !== 'content') return part
    const texts = part.output.value.flatMap((each) => {
      if (each.type === 'file') files.push({ type: 'file', mediaType: each.mediaType, data: each.data })
      return each.type === 'text' ? [each.text] : []
    })
    return { ...part, output: { type: 'text' as const, value: texts.join('\n') } }
  })
  return [
    { ...message, content },
    ...files.length > 0 ? [{ role: 'user' as const, content: [{ type: 'text' as const, text: TOOL_IMAGES_OPENING }, ...files] }] : []
  ]
}

type Body = Record<string, any>

/** Words with which servers refuse the free choice of a tool. */
export const TOOL_CHOICE_REFUSED = /tool.?choice|enable-auto-tool-choice|tool-call-parser/i

/**
 * Parts of a request that only some OpenAI-compatible servers accept. `refusal` matches the error of a server that does
 * not, `key` identifies the part in a body (undefined: absent), and `without` returns the body without it.
 */
const OPTIONAL_PARTS: Array<{ refusal: RegExp, key(body: Body): string | undefined, without(body: Body): Body }> = [
  {
    // https://platform.openai.com/docs/guides/structured-outputs: some servers support json_object only, some neither
    // format, and some reject certain schemas. The schema is therefore sent as a message.
    refusal: /response.?format|json.?schema|structured/i,
    key: ({ response_format: format }) => format && `schema ${format.json_schema?.name}`,
    without: ({ response_format: { json_schema: { schema } = {} }, ...body }) => ({
      ...body,
      messages: schema === undefined ? body.messages : withSchema(body.messages, schema)
    })
  },
  {
    // OpenAI's reasoning models accept only the newer name max_completion_tokens.
    refusal: /max_completion_tokens/,
    key: ({ max_tokens: limit }) => limit === undefined ? undefined : 'max_tokens',
    without: ({ max_tokens: limit, ...body }) => ({ ...body, max_completion_tokens: limit })
  },
  {
    // Models that do not reason, and servers that know no efforts or not this one.
    refusal: /reasoning/i,
    key: ({ reasoning_effort: effort }) => effort === undefined ? undefined : `reasoning_effort ${effort}`,
    without: ({ reasoning_effort: _effort, ...body }) => body
  },
  {
    refusal: /stream_options/,
    key: ({ stream_options: options }) => options && 'stream_options',
    without: ({ stream_options: _options, ...body }) => body
  },
  {
    // vLLM without --enable-auto-tool-choice refuses the free choice; some servers know no choice at all.
    refusal: TOOL_CHOICE_REFUSED,
    key: ({ tool_choice: choice }) => choice === 'auto' ? 'tool_choice auto' : undefined,
    without: ({ tool_choice: _choice, ...body }) => body
  },
  {
    // Models without image input.
    refusal: TAKES_NO_IMAGES,
    key: ({ messages }) => messages?.some(hasImage) ? PICTURES : undefined,
    without: ({ messages, ...body }) => ({
      ...body,
      messages: messages.map((message: Body) => hasImage(message) ? withoutImages(message) : message)
    })
  }
]

const PICTURES = 'pictures'
const isImageOf = ({ type }: Body) => type === 'image_url'
const hasImage = ({ content }: Body) => Array.isArray(content) && content.some(isImageOf)
const withoutImages = ({ content, ...message }: Body) => ({
  ...message,
  content: content.map((part: Body) => isImageOf(part) ? { type: 'text', text: '(a picture was left out: this model takes none)' } : part)
})

/** Returns the messages with the schema of the answer behind the user's last one: no template takes two messages of the user in a row. */
function withSchema (messages: Body[], schema: unknown): Body[] {
  const text = `Answer with one JSON object and nothing else. It must match this JSON schema:\n${JSON.stringify(schema)}`
  const last = messages.at(-1)
  if (last?.role !== 'user') return [...messages, { role: 'user', content: text }]
  const content = typeof last.content === 'string' ? `${last.content}\n\n${text}` : [...last.content, { type: 'text', text }]
  return messages.with(-1, { ...last, content })
}

/** What an answer was asked for without, because the server of the model does not take it. */
export function leftOut ({ parts, needs }: AdaptedTo, { prompt, tools = [] }: LanguageModelV4CallOptions): Array<'tools' | 'pictures'> {
  const isPicture = (part: { type: string, mediaType?: string }) => part.type === 'file' && part.mediaType?.startsWith('image/') === true
  const hasPictures = prompt.some(({ role, content }) => role === 'user' && content.some(isPicture))
  return [
    ...tools.length > 0 && needs.read().has('tools-in-words') ? ['tools' as const] : [],
    ...hasPictures && parts.has(PICTURES) ? ['pictures' as const] : []
  ]
}

/** What is known of the requests that the server of a model takes. */
export interface AdaptedTo {
  /** Keys of the optional parts that it has refused since the start. */
  parts: Set<string>
  needs: LearnedNeeds
}

/** Returns the body of a request without the parts that the server has refused. */
function withoutRefused (body: Body, refused: ReadonlySet<string>): Body {
  return OPTIONAL_PARTS.reduce((whole, part) => {
    const key = part.key(whole)
    return key !== undefined && refused.has(key) ? part.without(whole) : whole
  }, body)
}

/** Statuses of refusals. A template that throws makes some servers answer 500. */
const REFUSAL_STATUS = [400, 422]
const OF_TEMPLATE = /jinja|template|raise_exception|roles? must alternate|tool.?call/i

/** Returns what a server says of a request that it refuses; undefined for any other failure. */
function readRefusal (error: unknown): string | undefined {
  const { statusCode = 0, message, responseBody = '' } = error as { statusCode?: number, message?: string, responseBody?: string }
  const words = `${message} ${responseBody}`
  return REFUSAL_STATUS.includes(statusCode) || (statusCode >= 500 && OF_TEMPLATE.test(words)) ? words : undefined
}

interface Adapting {
  /** Builds the SDK's model with the given change of the request's body. */
  make: (transform: (body: Body) => Body) => LanguageModelV4
  /** Changes the options to what the SDK's model is given. */
  prepare: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions
  to: AdaptedTo
}

/**
 * Returns a function that calls a model in the form that its server takes, as far as is known. When the server refuses the request, the
 * call is made again without the part that its words name, or in the form that they ask for; when they name nothing that is known, in the
 * plain form. What led to an answer is remembered.
 */
export function adaptingModel ({ make, prepare, to }: Adapting) {
  return async function call<T> (
    options: LanguageModelV4CallOptions,
    ask: (model: LanguageModelV4, options: LanguageModelV4CallOptions) => PromiseLike<T>
  ): Promise<T> {
    const parts = new Set(to.parts)
    const needs = new Set(to.needs.read())
    let first: unknown
    for (;;) {
      let sent: Body = {}
      const needed = withNeeds(options, needs)
      try {
        const result = await ask(make((body) => (sent = withoutRefused(body, parts))), prepare(needed))
        for (const part of parts) to.parts.add(part)
        if (needs.size > to.needs.read().size) to.needs.note(needs)
        return result
      } catch (error) {
        first ??= error
        const words = readRefusal(error)
        // Of several refusals the first speaks of the request as it is.
        if (words === undefined) throw first
        const part = OPTIONAL_PARTS.find((each) => each.key(sent) !== undefined && each.refusal.test(words))
        const found = nextNeeds(words, needed)
        if (part !== undefined && !(found.length === 1 && isNamed(words, found[0]))) parts.add(part.key(sent)!)
        else if (found.length > 0) for (const need of found) needs.add(need)
        else throw first
      }
    }
  }
}

const hasFile = ({ role, content }: LanguageModelV4Prompt[number]): boolean =>
  role === 'user' ? content.some(({ type }) => type === 'file') : role === 'tool' && content.some(hasToolPicture)
const isNamed = (words: string, need: Need) => NEEDS[need].refusal.test(words)

/** Returns what a refused request may need: what the words name, else what is mild, else the plain form; [] when it had all of it. */
function nextNeeds (words: string, sent: LanguageModelV4CallOptions): Need[] {
  const named = readNeed(words, sent)
  if (named !== undefined) return [named]
  const unmet = (needs: readonly Need[]) => needs.filter((need) => !NEEDS[need].isMet(sent))
  if (TOOL_CHOICE_REFUSED.test(words)) return unmet(['tools-in-words'])
  if (isOfLength(words) || isOfToolCount(words) || (BLAMES_FILE.test(words) && sent.prompt.some(hasFile))) return []
  if (blamesSchema(words) && sent.tools !== undefined) return []
  const mild = unmet(MILD_NEEDS)
  return mild.length > 0 ? mild : unmet(PLAIN_FORM)
}
