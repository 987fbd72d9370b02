import type { LanguageModelV4 } from '@ai-sdk/provider'
import { TOOL_IMAGES_OPENING } from './tool-images.ts'

type Body = Record<string, any>

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
      messages: schema === undefined
        ? body.messages
        : [...body.messages, {
            role: 'user',
            content: `Answer with one JSON object and nothing else. It must match this JSON schema:\n${JSON.stringify(schema)}`
          }]
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
    // Models without image input: images of tool results are left out. Images that the user attached stay, so that the
    // user gets the provider's error.
    refusal: /image|vision|multi.?modal|content.{0,40}(?:type|part|string)/i,
    key: ({ messages }) => messages?.some(isToolImages) ? 'images of tools' : undefined,
    without: ({ messages, ...body }) => ({
      ...body,
      messages: messages.map((message: Body) =>
        isToolImages(message) ? { role: 'user', content: `${TOOL_IMAGES_OPENING}\n(left out: this model takes no images)` } : message
      )
    })
  }
]

const isToolImages = ({ role, content }: Body) => role === 'user' && Array.isArray(content) && content[0]?.text === TOOL_IMAGES_OPENING

/** Keys of the request parts that the server of a model has refused. */
export type RefusedParts = Set<string>

/** Returns the body of a request without the parts that the server has refused before. */
export function withoutRefused (body: Body, refused: RefusedParts): Body {
  return OPTIONAL_PARTS.reduce((whole, part) => {
    const key = part.key(whole)
    return key !== undefined && refused.has(key) ? part.without(whole) : whole
  }, body)
}

/**
 * Returns a function that calls a model and retries without a part of the request when the server refuses that part with
 * a 400 or 422. `refused` keeps the part's key, so that later calls leave it out at once. `make` builds the SDK's model
 * with the given transformation of the request body.
 */
export function adaptingModel (make: (transform: (body: Body) => Body) => LanguageModelV4, refused: RefusedParts) {
  async function call<T> (ask: (model: LanguageModelV4) => PromiseLike<T>): Promise<T> {
    for (;;) {
      let sent: Body = {}
      try {
        return await ask(make((body) => (sent = withoutRefused(body, refused))))
      } catch (error) {
        const { statusCode, message, responseBody } = error as { statusCode?: number, message?: string, responseBody?: string }
        if (statusCode !== 400 && statusCode !== 422) throw error
        const found = OPTIONAL_PARTS.find((part) => part.key(sent) !== undefined && part.refusal.test(`${message} ${responseBody}`))
        if (!found) throw error
        refused.add(found.key(sent)!)
      }
    }
  }
  return call
}
