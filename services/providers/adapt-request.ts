import type { LanguageModelV4 } from '@ai-sdk/provider'
import { SHOWN } from './tool-images.ts'

type Body = Record<string, any>

/** What servers that speak OpenAI's format do not all take, how they say so, and how to do without. */
const PARTS: Array<{ refusal: RegExp, key(body: Body): string | undefined, without(body: Body): Body }> = [
  {
    // https://platform.openai.com/docs/guides/structured-outputs: some know json_object only, some neither, some not every schema.
    refusal: /response.?format|json.?schema|structured/i,
    key: ({ response_format: format }) => format && `schema ${format.json_schema?.name}`,
    without: ({ response_format: { json_schema: { schema } }, ...body }) => ({
      ...body,
      messages: [...body.messages, {
        role: 'user',
        content: `Answer with one JSON object and nothing else. It must match this JSON schema:\n${JSON.stringify(schema)}`
      }]
    })
  },
  {
    // OpenAI's reasoning models want the newer name.
    refusal: /max_completion_tokens/,
    key: ({ max_tokens: limit }) => limit === undefined ? undefined : 'max_tokens',
    without: ({ max_tokens: limit, ...body }) => ({ ...body, max_completion_tokens: limit })
  },
  {
    refusal: /stream_options/,
    key: ({ stream_options: options }) => options && 'stream_options',
    without: ({ stream_options: _options, ...body }) => body
  },
  {
    // Models without eyes: what a tool showed is left out, what the user attached is theirs to hear about.
    refusal: /image|vision|multi.?modal|content.{0,40}(?:type|part|string)/i,
    key: ({ messages }) => messages?.some(isShown) ? 'images of tools' : undefined,
    without: ({ messages, ...body }) => ({
      ...body,
      messages: messages.map((message: Body) =>
        isShown(message) ? { role: 'user', content: `${SHOWN}\n(left out: this model takes no images)` } : message
      )
    })
  }
]

const isShown = ({ role, content }: Body) => role === 'user' && Array.isArray(content) && content[0]?.text === SHOWN

/** What one model's server is known to refuse. */
export type RefusedParts = Set<string>

/** The body of a request without what the server is known to refuse. */
export function withoutRefused (body: Body, refused: RefusedParts): Body {
  return PARTS.reduce((whole, part) => {
    const key = part.key(whole)
    return key !== undefined && refused.has(key) ? part.without(whole) : whole
  }, body)
}

/**
 * A model that asks again, without it, when its server says by a 400 or 422 which part of the request it does not know;
 * `refused` remembers it for the next calls. `make` builds the SDK's model around what changes the body.
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
        const found = PARTS.find((part) => part.key(sent) !== undefined && part.refusal.test(`${message} ${responseBody}`))
        if (!found) throw error
        refused.add(found.key(sent)!)
      }
    }
  }
  return call
}
