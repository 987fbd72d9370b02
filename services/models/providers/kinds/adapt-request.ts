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

/** Words of servers that refuse a free choice of tools. */
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
  }
]

/**
 * Adds the schema of the answer as text to the messages, behind the user's last words: no template accepts two messages of the user in a
 * row.
 */
function withSchema (messages: Body[], schema: unknown): Body[] {
  const text = `Answer with one JSON object and nothing else. It must match this JSON schema:\n${JSON.stringify(schema)}`
  const last = messages.at(-1)
  if (last?.role !== 'user') return [...messages, { role: 'user', content: text }]
  const content = typeof last.content === 'string' ? `${last.content}\n\n${text}` : [...last.content, { type: 'text', text }]
  return messages.with(-1, { ...last, content })
}

/** Returns the parts that were left out of a request because the server of the model does not take them. */
export function leftOut (needs: LearnedNeeds, { prompt, tools = [] }: LanguageModelV4CallOptions): Array<'tools' | 'pictures'> {
  const needed = needs.read()
  return [
    ...tools.length > 0 && needed.has('tools-in-words') ? ['tools' as const] : [],
    ...needed.has('no-pictures') && prompt.some(hasPicture) ? ['pictures' as const] : []
  ]
}

/** Statuses of refusals. Some servers answer 500 if a template throws or a model takes no pictures. */
const REFUSAL_STATUS = [400, 422]
const OF_TEMPLATE = /jinja|template|raise_exception|roles? must alternate|tool.?call/i

/** Returns the message of a server that refuses a request; undefined for any other failure. */
function readRefusal (error: unknown): string | undefined {
  const { statusCode = 0, message, responseBody = '' } = error as { statusCode?: number, message?: string, responseBody?: string }
  const words = `${message} ${responseBody}`
  const isRefusal = REFUSAL_STATUS.includes(statusCode) || (statusCode >= 500 && (OF_TEMPLATE.test(words) || TAKES_NO_IMAGES.test(words)))
  return isRefusal ? words : undefined
}

interface Adapting {
  /** Builds the SDK's model with the given change of the request's body. */
  make: (transform: (body: Body) => Body) => LanguageModelV4
  /** Changes the options to those that the SDK's model gets. */
  prepare: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions
  to: AdaptedTo
  except?: Need
}

/**
 * Returns a function that calls a model in the form that its server takes. If a refusal names no known part, the call is repeated in the
 * plain form.
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
      send: (needed, strip) => ask(make(strip), prepare(withNeeds(options, needed)))
    })
}

const hasFile = ({ role, content }: LanguageModelV4Prompt[number]): boolean =>
  role === 'user' ? content.some(({ type }) => type === 'file') : role === 'tool' && content.some(hasToolPicture)
const isNamed = (words: string, need: Need) => NEEDS[need].refusal.test(words)

/**
 * Returns the needs to try for a refused request: the one that the message names, else the mild ones, else the plain form; [] if all of
 * them were met.
 */
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
