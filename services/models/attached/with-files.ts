import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  SharedV4ProviderOptions
} from '@ai-sdk/provider'
import { type AttachedFiles, digestIn } from '../../contracts/attached-file.ts'
import { mediaTypeOf, OCTETS, textKindOf } from '../../lib/media-type.ts'
import { fileLeftOut, fileExcerpt } from '../prompts/file-excerpt.ts'
import { withWarnings } from '../providers/part-batches.ts'
import { type FileApi, formOf, mostBytes, mostBytesOfCall } from './file-forms.ts'
import { MOST_TOKENS, tokensIn } from '../token-estimate.ts'

/** Facts about a model, and the files that it refused. */
interface TakingModel {
  id: string
  api: FileApi
  files: AttachedFiles
  /** The files that this model has refused since the service started, as keys from `nameOf`. */
  refused: Set<string>
}

type Options = LanguageModelV4CallOptions
type FilePart = LanguageModelV4FilePart
type Part = FilePart | LanguageModelV4TextPart

/**
 * A file that can be sent unchanged. `key` is from `nameOf`, `size` is in bytes, and `message` is the index of its message in the prompt.
 */
interface Planned {
  part: FilePart
  key: string
  size: number
  message: number
}

const isFile = (part: { type: string }): part is FilePart => part.type === 'file'
const hasFiles = ({ role, content }: LanguageModelV4Message) =>
  role === 'tool' ? content.some((part) => filesOfResult(part).length > 0) : role !== 'system' && content.some(isFile)

type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number]

/** The files in the result of a tool, such as pictures of the screen. */
const filesOfResult = (part: ToolPart): FilePart[] =>
  part.type === 'tool-result' && part.output.type === 'content'
    ? part.output.value.filter((each): each is typeof each & FilePart => each.type === 'file')
    : []

/** HTTP statuses with which a provider refuses a call because of its content, and a pattern for error messages about a file. */
const REFUSAL_STATUS = [400, 413, 415, 422]
export const BLAMES_FILE = new RegExp(
  String.raw`\b(?:image|picture|photo|vision|media|mime|file|document|pdf|audio|video)(?:s|type|_\w+)?\b|` +
    String.raw`\b(?:input_(?:image|file)|base64|inline_?data|payload|request entity|too large|multi.?modal)|` +
    String.raw`content.{0,40}(?:type|part|string)`,
  'i'
)
/** Matches error messages about something other than a file. A message that matches neither pattern might be about the files. */
const BLAMES_OTHERS =
  /\bkey\b|credit|quota|billing|\bmodel\b|\btools?\b|function|schema|role|system|reasoning|thinking|parameter|max_tokens/i
const BLAMES_LENGTH = /context|\btokens?\b|too long/i

/**
 * Returns the files that might be the reason of a refusal: after the first refusal (`isFirst`) the files of the newest message with files,
 * after later refusals all files.
 */
function blamed (error: unknown, given: readonly Planned[], isFirst: boolean): readonly Planned[] {
  const { name, statusCode = 0, message, responseBody } = error as Record<string, any>
  const isUnsent = /^AI_(?:UnsupportedFunctionality|InvalidDataContent|NoSuchProviderReference)Error$/.test(name)
  const words = `${message} ${responseBody ?? ''}`
  // Some servers fail with a file that they cannot read.
  if (!isUnsent && !REFUSAL_STATUS.includes(statusCode) && !(statusCode >= 500 && BLAMES_FILE.test(words))) return []
  if (BLAMES_OTHERS.test(words) && !BLAMES_FILE.test(words)) return []
  // If a document is too long, only the beginning of its text is sent the next time.
  if (BLAMES_LENGTH.test(words)) return given.filter(({ part }) => textKindOf(part.mediaType) !== undefined)
  return isFirst ? given.filter(({ message: at }) => at === given.at(-1)!.message) : given
}

/**
 * Wraps a model so that files in a conversation do not make its calls fail. Each file is sent unchanged, as the beginning of its text, or
 * as a line that says what was left out, whichever the model accepts. If the files are too large together, the older ones are left out. If
 * the provider refuses a call because of its files, the call is repeated with fewer files, and the removed files are not sent to that model
 * again.
 */
export function withFiles (model: LanguageModelV4, taking: TakingModel): LanguageModelV4 {
  async function call<T> (options: Options, ask: (options: Options) => PromiseLike<T>, left: (result: T) => T): Promise<T> {
    if (!options.prompt.some(hasFiles)) return ask(options)
    const blamedNow: string[] = []
    for (let tries = 0; ; tries++) {
      const { prompt, given } = await prepare(options.prompt, taking)
      try {
        const result = await ask({ ...options, prompt })
        return tries === 0 ? result : left(result)
      } catch (error) {
        const files = blamed(error, given, tries === 0)
        if (files.length === 0 || options.abortSignal?.aborted) {
          // The call fails without these files, too: they are not the cause.
          for (const key of blamedNow) taking.refused.delete(key)
          throw error
        }
        for (const { key } of files) taking.refused.add(key)
        blamedNow.push(...files.map(({ key }) => key))
      }
    }
  }
  const { specificationVersion, provider, modelId, supportedUrls } = model
  return {
    ...{ specificationVersion, provider, modelId, supportedUrls },
    doGenerate: (options) => call(options, (prepared) => model.doGenerate(prepared), (result) => result),
    doStream: (options) => call(options, (prepared) => model.doStream(prepared), (result) => withWarnings(result, ['a file']))
  }
}

/** Returns the prompt with its files in the form that the model takes, and the files that are sent unchanged. */
async function prepare (prompt: LanguageModelV4Prompt, taking: TakingModel): Promise<{
  prompt: LanguageModelV4Prompt,
  given: Planned[]
}> {
  const { api, refused } = taking
  const planned: Planned[] = []
  for (const [message, { role, content }] of prompt.entries()) {
    if (role === 'system') continue
    for (const part of role === 'tool' ? content.flatMap(filesOfResult) : (content as Part[]).filter(isFile)) {
      if (!mayGet(part, role, api)) continue
      const key = nameOf(part)
      const size = await sizeOf(part, taking.files)
      if (size !== undefined && size <= mostBytes(api, part.mediaType) && !refused.has(key)) planned.push({ part, key, size, message })
    }
  }
  const given = planned.slice(leftOut(planned, mostBytesOfCall(api)))
  const isGiven = new Set(given.map(({ part }) => part))
  const isPlanned = new Set(planned.map(({ part }) => part))
  const changed: LanguageModelV4Prompt = []
  for (const message of prompt) {
    if (!hasFiles(message)) {
      changed.push(message)
      continue
    }
    if (message.role === 'tool') {
      changed.push({ ...message, content: message.content.map((part) => withReadableFiles(part, isGiven, taking)) })
      continue
    }
    const content = message.content as Array<Part | { type: 'other' }>
    const texts = await excerptsOf(content.filter((part): part is FilePart => isFile(part) && !isGiven.has(part)), asText(taking))
    const parts = await Promise.all(content.map(async (part) => {
      if (!isFile(part)) return part
      const bare = withoutAgent(part)
      if (isGiven.has(part)) return await loaded(bare, taking.files) ?? textPart(fileLeftOut(bare, 'it is not stored any more'))
      return textPart(texts.get(part) ?? fileLeftOut(bare, whyLeftOut(part, taking, isPlanned.has(part))))
    }))
    changed.push({ ...message, content: parts } as LanguageModelV4Message)
  }
  return { prompt: changed, given }
}

/** Returns the result of a tool with a sentence instead of each file that the model does not get. */
function withReadableFiles (part: ToolPart, isGiven: ReadonlySet<FilePart>, taking: TakingModel): ToolPart {
  if (part.type !== 'tool-result' || part.output.type !== 'content' || filesOfResult(part).length === 0) return part
  const value = part.output.value.map((each) => {
    if (each.type !== 'file') return each
    const file = each as typeof each & FilePart
    if (isGiven.has(file)) return { ...each, mediaType: typeByBytes(file) }
    const why = isUnreadable(file) ? 'it cannot be read' : whyLeftOut(file, taking, !taking.refused.has(nameOf(file)))
    return { type: 'text' as const, text: `(A file of type ${each.mediaType} was left out here: ${why}.)` }
  })
  return { ...part, output: { ...part.output, value } }
}

/** The length of the beginning of a file from which its type is detected, in bytes or in characters of base64. */
const LOOKED_AT = 2_048
const beginningOf = ({ data }: FilePart): Buffer | undefined =>
  data.type !== 'data'
    ? undefined
    : typeof data.data === 'string' ? Buffer.from(data.data.slice(0, LOOKED_AT), 'base64') : Buffer.from(data.data.subarray(0, LOOKED_AT))

/**
 * Returns the media type of a file from a tool. For images it is detected from the bytes: providers refuse a JPEG that is declared as PNG.
 */
function typeByBytes (part: FilePart): string {
  const bytes = beginningOf(part)
  return bytes === undefined || !part.mediaType.startsWith('image/') ? part.mediaType : mediaTypeOf(bytes, { declared: part.mediaType })
}

/** True if a tool declares a file as a picture, but the bytes are no picture. */
const isUnreadable = (part: FilePart): boolean => typeByBytes(part) === OCTETS

const textPart = (text: string): LanguageModelV4TextPart => ({ type: 'text', text })

/** True if a model of the API can get the file unchanged. */
function mayGet (part: FilePart, role: string, api: FileApi): boolean {
  if (part.data.type === 'reference') return true
  if (role === 'tool') return api !== 'offline' && formOf(api, typeByBytes(part)) === 'file' && !isUnreadable(part)
  if (part.data.type === 'text' || formOf(api, part.mediaType) !== 'file') return false
  // A file in an answer was made by a model. Most APIs do not accept files in answers.
  return role === 'user' || (api === 'google' && (part.data.type === 'data' || digestOf(part) !== undefined))
}

const digestOf = ({ data }: FilePart) => data.type === 'url' ? digestIn(data.url) : undefined

/** Returns the key under which the refusal of a file is remembered. */
function nameOf (part: FilePart): string {
  const { data } = part
  if (data.type === 'url') return data.url.href
  if (data.type === 'data') return `${data.data.length} ${String(data.data.slice(-64))}`
  return JSON.stringify(data)
}

async function sizeOf (part: FilePart, files: AttachedFiles): Promise<number | undefined> {
  const digest = digestOf(part)
  if (digest !== undefined) return files.size(digest)
  const { data } = part
  if (data.type !== 'data') return 0
  return typeof data.data === 'string' ? Math.floor(data.data.length * 3 / 4) : data.data.length
}

/**
 * When older files have to be left out, so many are left out that the rest fills at most this share of the limit. Leaving out several files
 * at once keeps the beginnings of successive prompts equal, which providers' caches need.
 */
const KEPT = 0.5

/**
 * Returns how many of the oldest files are left out, so that the others fit into `limit` bytes. Files that were left out before stay left
 * out. The newest message keeps its files if they fit.
 */
function leftOut (planned: readonly Planned[], limit: number): number {
  let first = 0
  let total = 0
  for (const [at, { size, message }] of planned.entries()) {
    total += size
    if (total <= limit) continue
    const isOlder = () => planned[first].message !== message
    for (; first < at && (total > limit || (total > limit * KEPT && isOlder())); first++) total -= planned[first].size
  }
  return first
}

function withoutAgent (part: FilePart): FilePart {
  if (part.providerOptions?.agent === undefined) return part
  const { providerOptions: { agent: _agent, ...others }, ...rest } = part as FilePart & { providerOptions: SharedV4ProviderOptions }
  return { ...rest, ...(Object.keys(others).length > 0 && { providerOptions: others }) }
}

async function loaded (part: FilePart, files: AttachedFiles): Promise<FilePart | undefined> {
  const digest = digestOf(part)
  if (digest === undefined) return part
  const bytes = await files.bytes(digest)
  return bytes && { ...part, data: { type: 'data', data: bytes.toString('base64') } }
}

/** Returns the function that reads the text of a file. That function returns undefined for a file that is not sent as text. */
const asText = ({ files }: TakingModel) => async (part: FilePart): Promise<FileText | undefined> => {
  if (part.data.type === 'text') return { text: part.data.text }
  const source = sourceOf(part)
  if (source === undefined || textKindOf(part.mediaType) === undefined) return undefined
  try {
    const text = await files.text({ ...source, mediaType: part.mediaType, name: part.filename })
    return { text, ...('digest' in source && { digest: source.digest }) }
  } catch (error) {
    return { unreadable: (error as Error).message }
  }
}

function sourceOf (part: FilePart): { digest: string } | { bytes: Uint8Array } | undefined {
  const digest = digestOf(part)
  if (digest !== undefined) return { digest }
  const { data } = part
  if (data.type !== 'data') return undefined
  return { bytes: typeof data.data === 'string' ? Buffer.from(data.data, 'base64') : data.data }
}

function whyLeftOut (part: FilePart, { id, api, refused }: TakingModel, isPlanned: boolean): string {
  if (isPlanned) return `newer files took the room that a call of ${id} has`
  if (refused.has(nameOf(part))) return `${id} refused it`
  const isElsewhere = part.data.type === 'url' && digestOf(part) === undefined
  if (isElsewhere && formOf(api, part.mediaType) === 'text') return 'its address is not fetched'
  if (formOf(api, part.mediaType) !== 'file') return `${id} takes no files of this type`
  return `it is gone, or larger than ${id} takes`
}

/** The number of characters at the beginning of a long text from which its tokens are estimated. */
const SAMPLE = 16_000

/** The text of a file, with the file's digest if a tool can read the rest; or the reason why the text cannot be read. */
type FileText = { text: string, digest?: string } | { unreadable: string }

/** Returns the estimated number of characters of the text that make up this number of tokens. */
function charactersFor (text: string, tokens: number): number {
  const sample = text.slice(0, SAMPLE)
  return Math.floor(sample.length * tokens / Math.max(tokensIn(sample), 1))
}

/**
 * Returns the texts that the model gets for the files of one message: together at most MOST_TOKENS tokens. Longer texts share the room that
 * shorter texts leave. Files for which `read` returns undefined are not in the result.
 */
async function excerptsOf (
  parts: readonly LanguageModelV4FilePart[],
  read: (part: LanguageModelV4FilePart) => Promise<FileText | undefined>
): Promise<Map<LanguageModelV4FilePart, string>> {
  const excerpts = new Map<LanguageModelV4FilePart, string>()
  const texts: Array<{ part: LanguageModelV4FilePart, text: string, digest?: string }> = []
  for (const part of parts) {
    const found = await read(part)
    if (found === undefined) continue
    if ('text' in found) texts.push({ part, ...found })
    else excerpts.set(part, fileLeftOut(part, found.unreadable))
  }
  let left = MOST_TOKENS
  const inOrder = texts.toSorted((a, b) => a.text.length - b.text.length)
  for (const [n, { part, text, digest }] of inOrder.entries()) {
    const share = Math.floor(left / (texts.length - n))
    const shown = Math.min(text.length, charactersFor(text, share))
    const excerpt = text.slice(0, shown).toWellFormed()
    left -= Math.min(share, tokensIn(excerpt))
    excerpts.set(part, fileExcerpt(part, { excerpt, length: text.length, digest }))
  }
  return excerpts
}
