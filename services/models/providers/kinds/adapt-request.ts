import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4FilePart, LanguageModelV4Prompt } from '@ai-sdk/provider'
import {
  hasPicture,
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
import { isOfLength, isOfToolCount } from '../failures.ts'
import type { LearnedNeeds } from '../learned-limits.ts'
import { blamesSchema } from '../../tool-schemas/refused-tool.ts'
import { type AdaptedTo, type RefusablePart, repeatAdapted } from './repeat-adapted.ts'

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

/** Matches the message of a server that refuses the tool choice `auto`. */
export const TOOL_CHOICE_REFUSED = /tool.?choice|enable-auto-tool-choice|tool-call-parser/i

/** Parts of a request that only some OpenAI-compatible servers accept. */
const OPTIONAL_PARTS: ReadonlyArray<RefusablePart<Body>> = [
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
    // For models that do not reason, and for servers that do not accept this effort or any effort.
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
    // vLLM without --enable-auto-tool-choice refuses `auto`; some servers do not know the field at all.
    refusal: TOOL_CHOICE_REFUSED,
    key: ({ tool_choice: choice }) => choice === 'auto' ? 'tool_choice auto' : undefined,
    without: ({ tool_choice: _choice, ...body }) => body
  }
]

/**
 * Adds the schema of the answer to the messages as text, at the end of the user's last message: not every chat template accepts two user
 * messages in a row.
 */
function withSchema (messages: Body[], schema: unknown): Body[] {
  const text = `Answer with one JSON object and nothing else. It must match this JSON schema:\n${JSON.stringify(schema)}`
  const last = messages.at(-1)
  if (last?.role !== 'user') return [...messages, { role: 'user', content: text }]
  const content = typeof last.content === 'string' ? `${last.content}\n\n${text}` : [...last.content, { type: 'text', text }]
  return messages.with(-1, { ...last, content })
}

/** Returns the parts of a request that were not `sent`, because the server of the model does not accept them. */
export function leftOut (
  needs: LearnedNeeds,
  { prompt, tools = [] }: LanguageModelV4CallOptions,
  sent: LanguageModelV4CallOptions
): Array<'tools' | 'pictures'> {
  return [
    ...tools.length > 0 && !sent.tools?.length ? ['tools' as const] : [],
    ...needs.read().has('no-pictures') && prompt.some(hasPicture) ? ['pictures' as const] : []
  ]
}

/** HTTP statuses of refusals. Some servers answer 500 if a chat template throws or a model accepts no pictures. */
const REFUSAL_STATUS = [400, 422]
const OF_TEMPLATE = /jinja|template|raise_exception|roles? must alternate|tool.?call/i

/** Returns the server's message if the server refused the request; undefined for any other failure. */
function readRefusal (error: unknown): string | undefined {
  const { statusCode = 0, message, responseBody = '' } = error as { statusCode?: number, message?: string, responseBody?: string }
  const words = `${message} ${responseBody}`
  const isRefusal = REFUSAL_STATUS.includes(statusCode) || (statusCode >= 500 && (OF_TEMPLATE.test(words) || TAKES_NO_IMAGES.test(words)))
  return isRefusal ? words : undefined
}

interface Adapting {
  /** Builds the SDK's model with the given change of the request's body. */
  make: (transform: (body: Body) => Body) => LanguageModelV4
  /** Returns the options in the form that the SDK's model gets. */
  prepare: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions
  to: AdaptedTo
  except?: Need
}

/**
 * Returns a function that calls a model in the form that its server accepts. If the message of a refusal names neither a known part nor a
 * need (a known requirement, see `Need`), the mild needs are tried. The plain form is only a guess, because it takes tools from the model.
 */
export function adaptingModel ({ make, prepare, to, except }: Adapting) {
  return async <T>(
    options: LanguageModelV4CallOptions,
    ask: (model: LanguageModelV4, options: LanguageModelV4CallOptions) => PromiseLike<T>
  ): Promise<T> =>
    repeatAdapted<Body, T>({
      parts: OPTIONAL_PARTS,
      to,
      except,
      readRefusal,
      nextNeeds (words, needed, hasPart) {
        const found = nextNeeds(words, withNeeds(options, needed))
        return hasPart && !(found.length === 1 && isNamed(words, found[0])) ? [] : found
      },
      guessNeeds: (words, needed) => isAboutOther(words, options) ? [] : unmet(PLAIN_FORM, withNeeds(options, needed)),
      send: (needed, strip) => ask(make(strip), prepare(withNeeds(options, needed)))
    })
}

const hasFile = ({ role, content }: LanguageModelV4Prompt[number]): boolean =>
  role === 'user' ? content.some(({ type }) => type === 'file') : role === 'tool' && content.some(hasToolPicture)
const isNamed = (words: string, need: Need) => NEEDS[need].refusal.test(words)

const unmet = (needs: readonly Need[], sent: LanguageModelV4CallOptions) => needs.filter((need) => !NEEDS[need].isMet(sent))

/** True if the message of a refusal is about something that no need changes, such as the length of the prompt. */
const isAboutOther = (words: string, { prompt, tools }: LanguageModelV4CallOptions): boolean =>
  isOfLength(words) || isOfToolCount(words) || (BLAMES_FILE.test(words) && prompt.some(hasFile)) ||
  (blamesSchema(words) && tools !== undefined)

/** Returns the needs to try after a refusal: the need that the message names, otherwise the mild needs. Empty if these are met. */
function nextNeeds (words: string, sent: LanguageModelV4CallOptions): readonly Need[] {
  const named = readNeed(words, sent)
  if (named !== undefined) return [named]
  if (TOOL_CHOICE_REFUSED.test(words)) return unmet(['tools-in-words'], sent)
  return isAboutOther(words, sent) ? [] : unmet(MILD_NEEDS, sent)
}
