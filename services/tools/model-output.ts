import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import { isObject, jsonBytes } from '../lib/json.ts'
import { isDamagedPicture } from '../lib/media-type.ts'
import type { Tool, ToolOutput } from '../contracts/tool.ts'
import { isDeepStrictEqual } from 'node:util'

/**
 * An image block in the `content` of a tool's output, in MCP's form. Readers of the run get the block unchanged. Models that accept images
 * get an image.
 */
interface ImageBlock {
  type: 'image'
  mimeType: string
  data: string
}

type Block = Record<string, any>
type Parts = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value']

const IMAGE_TYPE = /^image\/[\w.+-]+$/
/**
 * Patterns for the first characters of base64 in the image formats that every provider accepts. A provider would refuse a request with any
 * other format, and every later request of the conversation.
 */
const IMAGE_SIGNATURES: Array<[mimeType: string, begins: RegExp]> = [
  ['image/png', /^iVBORw0KGgo/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGODdh|^R0lGODlh/],
  ['image/webp', /^UklGR[\w+/]{6}XRUJQ/]
]
const BASE64 = /^[A-Za-z0-9+/=\s]+$/
const DATA_URL = /^\s*data:[\w.+-]+\/[\w.+-]+(?:;[\w.=-]+)*;base64,/i

/** Returns the base64 in a text, without the prefix of a `data:` URL. */
export const base64In = (text: string): string => text.slice(0, 200).includes('data:') ? text.replace(DATA_URL, '') : text

/** Returns the image type of base64, judged by its bytes; undefined for types that some provider does not accept, and for other bytes. */
const pictureType = (base64: string): string | undefined => {
  const begins = base64.slice(0, 64).trimStart()
  return IMAGE_SIGNATURES.find(([, signature]) => signature.test(begins))?.[0]
}

/** Returns the picture in base64 or in a `data:` URL, whatever type the URL states; undefined for any other text. */
export function pictureIn (text: string): ImageBlock | undefined {
  const data = base64In(text)
  const mimeType = pictureType(data)
  return mimeType !== undefined && BASE64.test(data) ? { type: 'image', mimeType, data } : undefined
}

export function isImage (block: unknown): block is ImageBlock {
  const { type, mimeType, data } = (block ?? {}) as Block
  return type === 'image' && typeof mimeType === 'string' && IMAGE_TYPE.test(mimeType) && typeof data === 'string' && BASE64.test(data)
}

/** Returns the image in an MCP block: an image block, or an embedded resource whose bytes are an image; undefined for other blocks. */
export function imageOf (block: unknown): ImageBlock | undefined {
  if (isImage(block)) return block
  const { type, resource } = (block ?? {}) as Block
  const picture = type === 'resource' && typeof resource?.blob === 'string' ? pictureIn(resource.blob) : undefined
  if (picture !== undefined) return picture
  const embedded = type === 'resource' && { type: 'image', mimeType: resource?.mimeType, data: resource?.blob }
  return isImage(embedded) ? embedded : undefined
}

/** Caches conversions, because each step sends all outputs of its run again, and truncating a large output takes time. */
const modelOutputs = new WeakMap<ToolOutput, LanguageModelV4ToolResultOutput>()

/**
 * Converts a tool's output to the form that models get: its JSON, truncated to 64 KiB, and its images as images. Repeated statements in an
 * MCP output are sent once, see `saidOnce`. Audio and files are replaced by a note, because a model cannot read their base64. `view` is the
 * tool's own conversion, see `output` of a tool. The result is cached by the object, because outputs do not change.
 */
export function toModelOutput (output: ToolOutput, view?: Tool['model']['output']): LanguageModelV4ToolResultOutput {
  let shown = modelOutputs.get(output)
  if (shown === undefined) modelOutputs.set(output, shown = makeModelOutput(view === undefined ? output : view(output)))
  return shown
}

function makeModelOutput (output: ToolOutput): LanguageModelV4ToolResultOutput {
  if (!Array.isArray(output.content)) return { type: 'json', value: forModel(output) as never }
  const images = new Map<string, { mimeType: string, label: string }>()

  /** Replaces bytes in MCP blocks, at any depth: an image by the label under which it is sent beside the text, other bytes by a note. */
  function describe (value: unknown): unknown {
    if (typeof value === 'string') return describeUrl(value)
    if (Array.isArray(value)) return value.map(describe)
    if (typeof value !== 'object' || value === null) return value
    const { type, mimeType, data, resource } = value as Block
    if (isImage(value)) return addImage(value)
    if (type === 'audio' && typeof data === 'string') return `[${type}: ${mimeType}, ${data.length} characters of base64]`
    if (type === 'resource' && typeof resource?.blob === 'string') {
      const image = imageOf(value)
      const blob = image === undefined ? `[${resource.blob.length} characters of base64]` : addImage(image)
      return { ...value, resource: { ...resource, blob } }
    }
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, describe(each)]))
  }

  /** Replaces a string by a label if the whole string is a picture. */
  function describeUrl (text: string): string {
    const picture = DATA_URL.test(text.slice(0, 200)) ? pictureIn(text) : undefined
    return picture === undefined ? text : addImage(picture)
  }

  function addImage ({ mimeType: named, data: given }: ImageBlock): string {
    const data = given.trimStart()
    const mimeType = pictureType(data)
    const about = `[image: ${named}, ${data.length} characters of base64, not shown:`
    if (mimeType === undefined) return `${about} no PNG, JPEG, GIF or WebP]`
    if (!images.has(data) && isDamagedPicture(Buffer.from(data, 'base64'), mimeType)) return `${about} it is damaged or cut off]`
    const label = images.get(data)?.label ?? `[image ${images.size + 1}: ${mimeType}]`
    images.set(data, { mimeType, label })
    return label
  }

  const rest = forModel(describe(saidOnce(output)) as ToolOutput)
  if (images.size === 0) return { type: 'json', value: rest as never }
  return {
    type: 'content',
    value: [
      { type: 'text', text: JSON.stringify(rest) },
      ...[...images].map(([data, { mimeType }]): Parts[number] => ({ type: 'file', mediaType: mimeType, data: { type: 'data', data } }))
    ]
  }
}

/** Stands in place of a block that a tool server addresses to the user alone. */
const FOR_USER = '[shown to the user only]'
/** Stands in place of bytes in `structuredContent` that are also in `content`. */
const IN_CONTENT = '[see content]'

/**
 * Reduces an output in MCP's form, `{content, structuredContent?}`, to what a model should read: each statement once, and nothing that the
 * server addresses to the user alone (`annotations.audience`). `structuredContent` replaces the texts of `content`, unless it only wraps
 * these texts. Pictures, sounds, links and resources in `content` stay. Returns any other output unchanged.
 */
export function saidOnce (output: ToolOutput): ToolOutput {
  const { content, structuredContent, ...rest } = output
  if (!Array.isArray(content)) return output
  if (!isObject(structuredContent) || onlyWraps(structuredContent, content)) {
    return { ...rest, content: withoutNotes(content) }
  }
  const others = content.filter((block) => block?.type !== 'text')
  return {
    ...rest,
    structuredContent: replaceStrings(structuredContent, textsOf(content)),
    ...others.length > 0 && { content: withoutNotes(others) }
  }
}

/** True if `structured` has a single property that repeats the content: its joined text, its list of blocks, or its only block. */
function onlyWraps (structured: Block, content: Block[]): boolean {
  const values = Object.values(structured)
  if (values.length !== 1) return false
  const [value] = values
  if (typeof value !== 'string') return isDeepStrictEqual(value, content) || (content.length === 1 && isDeepStrictEqual(value, content[0]))
  return content.every((block) => block?.type === 'text') && value === content.map(({ text }) => text).join('\n')
}

/** Replaces the blocks for the user alone by one note, and removes the fields of other blocks that are meant for clients. */
function withoutNotes (content: unknown[]): unknown[] {
  const shown = content.map((block) => {
    if (!isObject(block)) return block
    if (isForUser(block)) return FOR_USER
    const { annotations, _meta, ...rest } = block
    return rest
  })
  return shown.filter((block, at) => block !== FOR_USER || shown.indexOf(FOR_USER) === at)
}

/** Returns the strings of `content` that `structuredContent` might repeat. Each maps to the text that models get in its place. */
function textsOf (content: unknown[]): Map<unknown, string> {
  const strings = new Map<unknown, string>()
  for (const block of content) {
    if (!isObject(block)) continue
    const { text, data, resource } = block
    for (const bytes of [data, resource?.blob]) strings.set(bytes, IN_CONTENT)
    if (isForUser(block)) for (const own of [text, data, resource?.text, resource?.blob]) strings.set(own, FOR_USER)
  }
  for (const empty of ['', undefined]) strings.delete(empty)
  return strings
}

function replaceStrings (value: unknown, strings: Map<unknown, string>): unknown {
  if (strings.size === 0) return value
  if (typeof value === 'string') return strings.get(value) ?? value
  if (Array.isArray(value)) return value.map((each) => replaceStrings(each, strings))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaceStrings(each, strings)]))
}

/** True if the block's `audience` contains the user but not the model. MCP calls these roles `user` and `assistant`. */
export function isForUser ({ annotations }: Block): boolean {
  const audience: unknown = annotations?.audience
  return Array.isArray(audience) && audience.includes('user') && !audience.includes('assistant')
}

/** The most bytes of JSON of one output that a model gets. */
const MODEL_BYTES = 64 * 1024
/** The length in characters to which strings are cut before lists are shortened. */
const SHORTEST_STRING = 200

/**
 * Truncates a tool's output until its JSON fits into 64 KiB, or into `most` bytes: first long strings are cut in the middle, then long
 * lists at the end. Returns the output itself if it fits, and never mutates it.
 */
export function forModel (output: ToolOutput, most = MODEL_BYTES): ToolOutput {
  if (jsonBytes(output) <= most) return output
  const strings = largestThatFits({ smallest: SHORTEST_STRING, most }, (chars) => shorten(output, chars, Infinity))
  if (strings !== undefined) return strings
  const lists = largestThatFits({ smallest: 0, most }, (items) => shorten(output, SHORTEST_STRING, items))
  if (lists !== undefined) return lists
  // Only deep nesting is left to cut, so the JSON is returned as text. Escaping can double its length, and again in the JSON of this
  // result.
  return { truncated: true, json: cut(JSON.stringify(output), most / 8) }
}

/** Finds the largest limit whose result fits, by binary search, and returns the result; undefined if not even the smallest limit fits. */
function largestThatFits (
  { smallest, most }: { smallest: number, most: number },
  attempt: (limit: number) => ToolOutput
): ToolOutput | undefined {
  let best = attempt(smallest)
  if (jsonBytes(best) > most) return undefined
  // For large outputs each attempt takes milliseconds, so the search stops early, at a precision of about a thousandth.
  const precision = Math.max(1, Math.floor((most - MODEL_BYTES) / 1_000))
  for (let low = smallest, high = most; high - low > precision;) {
    const middle = Math.floor((low + high) / 2)
    const result = attempt(middle)
    if (jsonBytes(result) <= most) [best, low] = [result, middle]
    else high = middle
  }
  return best
}

function shorten<T> (value: T, chars: number, items: number): T
function shorten (value: unknown, chars: number, items: number): unknown {
  if (typeof value === 'string') return cut(value, chars)
  if (Array.isArray(value)) {
    const kept = value.slice(0, items).map((item) => shorten(item, chars, items))
    return kept.length < value.length ? [...kept, `[… ${value.length - kept.length} more left out …]`] : kept
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const kept = entries.slice(0, Math.max(items, 1)).map(([key, item]) => [cut(key, chars), shorten(item, chars, items)])
  if (kept.length < entries.length) kept.push(['…', `[… ${entries.length - kept.length} more left out …]`])
  return Object.fromEntries(kept)
}

/**
 * Returns the head and the tail of a text, with a note between them about the number of characters left out. Surrogate pairs are not split.
 */
function cut (text: string, chars: number): string {
  if (text.length <= chars) return text
  let head = Math.ceil(chars / 2)
  let tail = text.length - Math.floor(chars / 2)
  if (isHigh(text, head - 1)) head -= 1
  if (isHigh(text, tail - 1)) tail += 1
  return `${text.slice(0, head)}\n[… ${tail - head} characters left out …]\n${text.slice(tail)}`
}

function isHigh (text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdbff
}

/** The most bytes of JSON of one text in an answer. The whole answer then stays below the limit for model output. */
export const FITTING_BYTES = 48 * 1024

/**
 * Returns the end of the part of a text that begins at `from` and has at most `chars` characters and FITTING_BYTES bytes of JSON. The part
 * ends with a whole line if that costs at most a fifth of it, and never inside a surrogate pair.
 */
export function fittingEnd (text: string, from: number, chars: number): number {
  let end = Math.min(from + chars, text.length)
  for (let bytes = jsonBytes(text.slice(from, end)); bytes > FITTING_BYTES; bytes = jsonBytes(text.slice(from, end))) {
    end = from + Math.max(1, Math.floor((end - from) * Math.min(FITTING_BYTES / bytes, 0.99)))
  }
  if (end >= text.length) return end
  const line = text.lastIndexOf('\n', end - 1) + 1
  if (line > from + (end - from) * 0.8) return line
  const unit = text.charCodeAt(end - 1)
  return unit >= 0xd800 && unit <= 0xdbff && end - 1 > from ? end - 1 : end
}
