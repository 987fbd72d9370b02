import type { LanguageModelV4CallOptions, LanguageModelV4FilePart, LanguageModelV4Prompt, LanguageModelV4 } from '@ai-sdk/provider'

/** Opens the message that carries the images of tool results; adapt-request.ts recognises the message by it. */
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
    // vLLM without --enable-auto-tool-choice refuses the free choice; some servers know no choice at all.
    refusal: TOOL_CHOICE_REFUSED,
    key: ({ tool_choice: choice }) => choice === 'auto' ? 'tool_choice auto' : undefined,
    without: ({ tool_choice: _choice, ...body }) => body
  },
  {
    // The same server with the choice that it assumes where none is named.
    refusal: TOOL_CHOICE_REFUSED,
    key: ({ tools }) => tools && 'tools',
    without: withoutTools
  },
  {
    // Models without tools, as Ollama says of many. Of earlier calls the model gets the words.
    refusal: /does not support (?:tools|tool (?:use|calling|calls)|function)|tools? (?:use |calling )?(?:is|are) not supported/i,
    key: ({ tools }) => tools && 'tools',
    without: withoutTools
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
  },
  {
    // The same of images that the user attached, where the server says of the model, not of an image, that it cannot read them: llama.cpp,
    // Ollama, vLLM, OpenRouter.
    refusal: new RegExp(
      String.raw`(?:images?|vision|multi.?modal)[\w ]{0,30}(?:not supported|unsupported|not enabled|not available)|` +
        String.raw`(?:not|n't) (?:support|accept|have|process) (?:any )?(?:images?|vision|multi.?modal)|` +
        String.raw`no (?:support for |)(?:images?|vision)|not a (?:vision|multi.?modal) model|` +
        String.raw`missing data required for image input|unknown variant .?image_url|support image input`,
      'i'
    ),
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

/** What an answer was asked for without, because the server of the model does not take it. */
export function leftOut (refused: RefusedParts, { prompt, tools = [] }: LanguageModelV4CallOptions): Array<'tools' | 'pictures'> {
  const isPicture = (part: { type: string, mediaType?: string }) => part.type === 'file' && part.mediaType?.startsWith('image/') === true
  const hasPictures = prompt.some(({ role, content }) => role === 'user' && content.some(isPicture))
  return [
    ...tools.length > 0 && refused.has('tools') ? ['tools' as const] : [],
    ...hasPictures && (refused.has(PICTURES) || refused.has('images of tools')) ? ['pictures' as const] : []
  ]
}

const NO_TOOLS = {
  role: 'system',
  content: 'This model takes no tools, so nothing can be looked up or done here. Say so where the request needs it; another model can.'
}

function withoutTools ({ tools: _tools, tool_choice: _choice, ...body }: Body): Body {
  return { ...body, messages: [...body.messages.map(inWords), NO_TOOLS] }
}

/** Returns a message without calls: a call and its result as text. */
function inWords ({ tool_calls: calls, role, content, ...message }: Body): Body {
  if (role === 'tool') return { role: 'user', content: `Result of a call:\n${JSON.stringify(content)}` }
  if (calls === undefined) return { role, content, ...message }
  const made = calls.map(({ function: { name, arguments: input } }: Body) => `[call of ${name}: ${input}]`)
  return { ...message, role, content: [content, ...made].filter(Boolean).join('\n') }
}

const isToolImages = ({ role, content }: Body) => role === 'user' && Array.isArray(content) && content[0]?.text === TOOL_IMAGES_OPENING

/** Keys of the request parts that the server of a model has refused. */
export type RefusedParts = Set<string>

/** Returns the body of a request without the parts that the server has refused before. */
function withoutRefused (body: Body, refused: RefusedParts): Body {
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
