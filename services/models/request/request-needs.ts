import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart
} from '@ai-sdk/provider'
import { isPortableId, withPortableIds } from './call-ids.ts'
import { withToolsInWords } from './plain-form.ts'

/**
 * A need: something that a model, its server or its chat template requires of a request, while others do not.
 * - `portable-ids`: portable ids for all calls, even for those whose ids the model made
 * - `no-thoughts`, `thoughts`: no thoughts in earlier answers, or thoughts in each of them
 * - `no-tool-pictures`: a sentence in place of each picture in the result of a tool
 * - `no-pictures`: a sentence in place of each picture
 * - `no-system`: the system prompt at the beginning of the user's first message
 * - `one-call`: one call in a message, followed by its result
 * - `tools-in-words`: tools, calls and results as text
 */
export type Need = keyof typeof NEEDS

type Options = LanguageModelV4CallOptions

interface NeedRule {
  /** Matches the message of a refusal that does not happen if the need is met. */
  refusal: RegExp
  isMet: (options: Options) => boolean
  apply: (options: Options) => Options
}

const withPrompt = (change: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt) => (options: Options): Options =>
  ({ ...options, prompt: change(options.prompt) })

/** Matches the message of a server that cannot read one of the images, because of its source or format. The other images might be fine. */
const REFUSES_ONE_IMAGE = String.raw`image\.source|process (?:the |this |input )?image\b(?! input)|` +
  String.raw`\bimages? (?:(?:media|mime|file) )?(?:format|type|size)`

/** Returns a regular expression that matches `words` unless the message is about a single image. */
const ofAllImages = (words: string) => new RegExp(`^(?![^]*(?:${REFUSES_ONE_IMAGE}))[^]*(?:${words})`, 'i')

const NO_IMAGES = String.raw`(?:images?|vision|multi.?modal)[\w ]{0,30}(?:not supported|unsupported|not enabled|not available)|` +
  String.raw`(?:not|n't) (?:support|accept|have|process) (?:any )?(?:images?|vision|multi.?modal)|` +
  String.raw`no (?:support for |)(?:images?|vision)|not a (?:vision|multi.?modal) model|` +
  String.raw`missing data required for image input|unknown variant .?image_url|support image input`

/** Matches the message of a server (llama.cpp, Ollama, vLLM, OpenRouter) whose model cannot read images at all. */
export const TAKES_NO_IMAGES = ofAllImages(NO_IMAGES)

/**
 * The rules of all needs (see Need): how a refusal is recognised, and how a request is changed so that the model takes it. If a request has
 * to meet several needs, they are applied in this order.
 */
export const NEEDS = {
  'portable-ids': {
    refusal: /(?:\bids?\b|\bid`)[^.]{0,80}(?:alphanumeric|length|pattern|characters|a-z|invalid)|invalid[^.]{0,40}\b(?:call|use).?id/i,
    isMet: ({ prompt }) => prompt.flatMap(callsIn).every(({ toolCallId }) => isPortableId(toolCallId)),
    apply: withPrompt((prompt) => withPortableIds(prompt))
  },
  'no-thoughts': {
    refusal: new RegExp(
      String.raw`reasoning_content\b[^.]{0,60}(?:unsupported|not (?:supported|permitted|allowed)|unknown|unexpected|extra)|` +
        String.raw`(?:unsupported|unknown|unexpected|unrecognized|extra)[^.]{0,60}\breasoning_content`,
      'i'
    ),
    isMet: ({ prompt }) => !prompt.some((message) => thoughtsIn(message)),
    apply: withPrompt((prompt) => prompt.map(withoutThoughts))
  },
  thoughts: {
    refusal: /reasoning_content[^.]{0,60}(?:passed|missing|required|must)|(?:missing|requires?|must)[^.]{0,60}reasoning_content/i,
    isMet: ({ prompt }) => prompt.every((message) => message.role !== 'assistant' || thoughtsIn(message)),
    apply: withPrompt((prompt) => prompt.map(withThoughts))
  },
  'no-tool-pictures': {
    refusal: ofAllImages(String.raw`${NO_IMAGES}|content.{0,40}(?:type|part|string)|roles? must alternate`),
    isMet: ({ prompt }) => !prompt.some((message) => message.role === 'tool' && message.content.some(hasToolPicture)),
    apply: withPrompt((prompt) => prompt.map(withoutToolPictures))
  },
  'no-pictures': {
    refusal: TAKES_NO_IMAGES,
    isMet: ({ prompt }) => !prompt.some(hasPicture),
    apply: withPrompt((prompt) => prompt.map(withoutPictures))
  },
  'tools-in-words': {
    refusal: new RegExp(
      String.raw`does(?: not|n't) support (?:tools|tool (?:use|calling|calls)|functions?)|` +
        String.raw`tools? (?:use |calling |calls? |role )?(?:is |are )?not supported|` +
        String.raw`(?:unknown|unsupported|invalid|unexpected) role\W{1,4}tool|roles? must alternate|only user and assistant roles`,
      'i'
    ),
    isMet: ({ prompt, tools = [] }) => tools.length === 0 && prompt.every((message) => callsIn(message).length === 0),
    apply: withToolsInWords
  },
  'one-call': {
    refusal: /single tool.?calls?|one tool.?call|(?:parallel|multiple) tool.?calls?[^.]{0,40}(?:not|n't|un)/i,
    isMet: ({ prompt }) => prompt.every((message) => callsIn(message).length < 2),
    apply: withPrompt((prompt) => prompt.flatMap(splitCalls))
  },
  'no-system': {
    refusal: new RegExp(
      String.raw`system (?:role|message|prompt|instruction)s?\b[^.]{0,40}(?:not|n't|un)|` +
        String.raw`(?:not|n't) (?:support|allow|accept)[^.]{0,20}system|` +
        String.raw`developer instruction is not enabled|roles? must alternate|only user and assistant roles`,
      'i'
    ),
    isMet: ({ prompt }) => !prompt.some(({ role }) => role === 'system'),
    apply: withPrompt(withoutSystem)
  }
} satisfies Record<string, NeedRule>

/** Needs whose changes take nothing from the request. They are tried after a refusal whose message matches no need. */
export const MILD_NEEDS: readonly Need[] = ['portable-ids', 'one-call']
/** The needs (see Need) of the strictest chat templates, which accept only text, in turns of user and assistant. */
export const PLAIN_FORM: readonly Need[] = ['no-thoughts', 'no-tool-pictures', 'tools-in-words', 'no-system']

const ORDER = Object.keys(NEEDS) as Need[]

/** Returns the options, changed so that they meet the needs. */
export const withNeeds = (options: Options, needs: ReadonlySet<Need>): Options =>
  ORDER.reduce((changed, need) => needs.has(need) && !NEEDS[need].isMet(changed) ? NEEDS[need].apply(changed) : changed, options)

/** Returns the first need that the message of a refusal names and that the refused options do not meet. */
export const readNeed = (words: string, sent: Options): Need | undefined =>
  ORDER.find((need) => NEEDS[need].refusal.test(words) && !NEEDS[need].isMet(sent))

const callsIn = (message: LanguageModelV4Message): LanguageModelV4ToolCallPart[] =>
  message.role === 'assistant' ? message.content.filter((part) => part.type === 'tool-call') : []

const thoughtsIn = ({ role, content }: LanguageModelV4Message): boolean =>
  role === 'assistant' && content.some(({ type }) => type === 'reasoning')

const withoutThoughts = (message: LanguageModelV4Message): LanguageModelV4Message =>
  message.role !== 'assistant' ? message : { ...message, content: message.content.filter(({ type }) => type !== 'reasoning') }

/** The text in place of the thoughts of another model, which are not sent. Servers treat empty thoughts like missing ones. */
const OTHER_THOUGHTS = 'I go on with what follows.'

const withThoughts = (message: LanguageModelV4Message): LanguageModelV4Message =>
  message.role !== 'assistant' || thoughtsIn(message)
    ? message
    : { ...message, content: [{ type: 'reasoning', text: OTHER_THOUGHTS }, ...message.content] }

type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number]
const LEFT_OUT = '(a picture was left out: this model takes no images of tools)'

export const hasToolPicture = (part: ToolPart) =>
  part.type === 'tool-result' && part.output.type === 'content' && part.output.value.some(({ type }) => type === 'file')

function withoutToolPictures (message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== 'tool') return message
  const content = message.content.map((part): ToolPart => {
    if (part.type !== 'tool-result' || part.output.type !== 'content') return part
    const value = part.output.value.map((each) => each.type === 'file' ? { type: 'text' as const, text: LEFT_OUT } : each)
    return { ...part, output: { ...part.output, value } }
  })
  return { ...message, content }
}

const PICTURE_LEFT_OUT = '(a picture was left out: this model takes none)'
const isPicture = ({ type, mediaType }: { type: string, mediaType?: string }) => type === 'file' && mediaType?.startsWith('image/') === true
/** Whether a message of the user or of a tool holds a picture. */
export const hasPicture = ({ role, content }: LanguageModelV4Message): boolean =>
  role === 'user' ? content.some(isPicture) : role === 'tool' && content.some(hasToolPicture)

function withoutPictures (message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== 'user') return withoutToolPictures(message)
  return { ...message, content: message.content.map((part) => isPicture(part) ? { type: 'text', text: PICTURE_LEFT_OUT } : part) }
}

/** Splits a message with several calls into messages with one call, each followed by its result. */
function splitCalls (message: LanguageModelV4Message, at: number, prompt: LanguageModelV4Prompt): LanguageModelV4Message[] {
  const before = prompt[at - 1]
  if (message.role === 'tool') return before !== undefined && callsIn(before).length > 1 ? [] : [message]
  if (message.role !== 'assistant' || callsIn(message).length < 2) return [message]
  const after = prompt[at + 1]
  const results = after?.role === 'tool' ? after.content : []
  const [first, ...others] = callsIn(message)
  const answered = (call: LanguageModelV4ToolCallPart): LanguageModelV4Message => ({
    role: 'tool',
    content: results.filter((part) => part.type === 'tool-result' && part.toolCallId === call.toolCallId)
  })
  const begins = { ...message, content: message.content.filter((part) => part.type !== 'tool-call' || part === first) }
  return [
    ...[begins, answered(first)],
    ...others.flatMap((call): LanguageModelV4Message[] => [{ ...message, content: [call] }, answered(call)])
  ]
}

function withoutSystem (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const text = prompt.flatMap((message) => message.role === 'system' ? [message.content] : []).join('\n\n')
  return [
    { role: 'user', content: [{ type: 'text', text }] },
    ...prompt.filter(({ role }) => role !== 'system')
  ]
}
