import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import { isObject, jsonBytes } from '../lib/json.ts'
import { isDamagedPicture } from '../lib/media-type.ts'
import type { Tool, ToolOutput } from '../contracts/tool.ts'
import { isDeepStrictEqual } from 'node:util'

/**
 * An image block in the `content` of a tool's output, in MCP's form. Readers of the run get it unchanged; models that accept
 * images get it as an image.
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
 * The image formats that every provider accepts, by the first characters of their base64. A provider would refuse a request with any
 * other format, and every later request of that conversation.
 */
const IMAGE_SIGNATURES: Array<[mimeType: string, begins: RegExp]> = [
  ['image/png', /^iVBORw0KGgo/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGODdh|^R0lGODlh/],
  ['image/webp', /^UklGR[\w+/]{6}XRUJQ/]
]
const BASE64 = /^[A-Za-z0-9+/=\s]+$/
const DATA_URL = /^\s*data:[\w.+-]+\/[\w.+-]+(?:;[\w.=-]+)*;base64,/i

/** Returns the base64 of a text, without the prefix of a `data:` URL. */
export const base64In = (text: string): string => text.slice(0, 200).includes('data:') ? text.replace(DATA_URL, '') : text

/** Returns the type of a picture by its bytes, of those that every provider accepts; undefined for other bytes. */
const pictureType = (base64: string): string | undefined => {
  const begins = base64.slice(0, 64).trimStart()
  return IMAGE_SIGNATURES.find(([, signature]) => signature.test(begins))?.[0]
}

/** Returns the picture that base64 or a `data:` URL holds, whatever it is called; undefined for other texts. */
export function pictureIn (text: string): ImageBlock | undefined {
  const data = base64In(text)
  const mimeType = pictureType(data)
  return mimeType !== undefined && BASE64.test(data) ? { type: 'image', mimeType, data } : undefined
}

export function isImage (block: unknown): block is ImageBlock {
  const { type, mimeType, data } = (block ?? {}) as Block
  return type === 'image' && typeof mimeType === 'string' && IMAGE_TYPE.test(mimeType) && typeof data === 'string' && BASE64.test(data)
}

/** Returns the image in a block of MCP: an image block, or an embedded resource whose bytes are an image. */
export function imageOf (block: unknown): ImageBlock | undefined {
  if (isImage(block)) return block
  const { type, resource } = (block ?? {}) as Block
  const picture = type === 'resource' && typeof resource?.blob === 'string' ? pictureIn(resource.blob) : undefined
  if (picture !== undefined) return picture
  const embedded = type === 'resource' && { type: 'image', mimeType: resource?.mimeType, data: resource?.blob }
  return isImage(embedded) ? embedded : undefined
}

/** Caches conversions: each step sends all outputs of its run again, and truncating a large output takes time. */
const modelOutputs = new WeakMap<ToolOutput, LanguageModelV4ToolResultOutput>()

/**
 * Converts a tool's output to the form that models get: its JSON, truncated to 64 KiB, and its images as images. Statements that an output
 * in MCP's form repeats are sent once, see `saidOnce`. Audio and files are replaced by a note, because a model cannot read their base64.
 * `view` is the tool's own conversion, see `output` of a tool. Returns the same value for the same object, because outputs do not change.
 */
export function toModelOutput (output: ToolOutput, view?: Tool['model']['output']): LanguageModelV4ToolResultOutput {
  let shown = modelOutputs.get(output)
  if (shown === undefined) modelOutputs.set(output, shown = makeModelOutput(view === undefined ? output : view(output)))
  return shown
}

function makeModelOutput (output: ToolOutput): LanguageModelV4ToolResultOutput {
  if (!Array.isArray(output.content)) return { type: 'json', value: forModel(output) as never }
  const images = new Map<string, { mimeType: string, label: string }>()

  /**
   * Replaces bytes in MCP's blocks, wherever they are: images by the names of the images that are sent beside the text, other bytes by
   * notes.
   */
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

  /** Replaces a text that consists of a picture. */
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

/** Replaces a block that a tool server addresses to the user alone. */
const FOR_USER = '[shown to the user only]'
/** Replaces bytes in `structuredContent` that are also in `content`. */
const IN_CONTENT = '[see content]'

/**
 * Reduces an output in MCP's form, `{content, structuredContent?}`, to what a model is to read: each statement once, and nothing that
 * the server addresses to the user alone (`annotations.audience`). `structuredContent` replaces the texts of `content`, unless it only
 * wraps them; pictures, sounds, links and resources of `content` stay. Returns any other output unchanged.
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

/** Whether the structured form has one property, which repeats the content: its text, its blocks or its only block. */
function onlyWraps (structured: Block, content: Block[]): boolean {
  const values = Object.values(structured)
  if (values.length !== 1) return false
  const [value] = values
  if (typeof value !== 'string') return isDeepStrictEqual(value, content) || (content.length === 1 && isDeepStrictEqual(value, content[0]))
  return content.every((block) => block?.type === 'text') && value === content.map(({ text }) => text).join('\n')
}

/** Removes the blocks for the user alone, and the notes to clients from the other blocks. */
function withoutNotes (content: unknown[]): unknown[] {
  const shown = content.map((block) => {
    if (!isObject(block)) return block
    if (isForUser(block)) return FOR_USER
    const { annotations, _meta, ...rest } = block
    return rest
  })
  return shown.filter((block, at) => block !== FOR_USER || shown.indexOf(FOR_USER) === at)
}

/** Returns the strings of `content` that `structuredContent` may repeat, with the text that models get in their place. */
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

/** True if the server names an audience for the block that does not include the model. MCP's roles are `user` and `assistant`. */
export function isForUser ({ annotations }: Block): boolean {
  const audience: unknown = annotations?.audience
  return Array.isArray(audience) && audience.includes('user') && !audience.includes('assistant')
}

/** The most bytes of JSON that a model gets of one output. */
const MODEL_BYTES = 64 * 1024
/** Characters to which strings are shortened before lists are shortened. */
const SHORTEST_STRING = 200

/**
 * Truncates a tool's output until its JSON fits in 64 KiB, or in `most` bytes: first long strings are cut in the middle, then long lists at
 * the end. Returns the output itself when it fits; never mutates it.
 */
export function forModel (output: ToolOutput, most = MODEL_BYTES): ToolOutput {
  if (jsonBytes(output) <= most) return output
  const strings = largestThatFits({ smallest: SHORTEST_STRING, most }, (chars) => shorten(output, chars, Infinity))
  if (strings !== undefined) return strings
  const lists = largestThatFits({ smallest: 0, most }, (items) => shorten(output, SHORTEST_STRING, items))
  if (lists !== undefined) return lists
  // Only deep nesting remains: return the JSON as text. Escaping may double its length, and double it again in this JSON.
  return { truncated: true, json: cut(JSON.stringify(output), most / 8) }
}

/** Returns the result for the largest limit that fits, by binary search; undefined when not even the smallest fits. */
function largestThatFits (
  { smallest, most }: { smallest: number, most: number },
  attempt: (limit: number) => ToolOutput
): ToolOutput | undefined {
  let best = attempt(smallest)
  if (jsonBytes(best) > most) return undefined
  // With large outputs each attempt takes milliseconds, and the last thousandth is not worth them.
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

/** Returns the head and the tail of a text with a marker between them. Surrogate pairs are not split. */
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

/** Bytes of JSON that one text of an answer may have. The whole answer then stays below the limit for model output. */
export const FITTING_BYTES = 48 * 1024

/**
 * Returns the end of the part of a text that begins at `from` and has at most `chars` characters and FITTING_BYTES bytes. The part ends
 * with a line where that costs little, and never within a surrogate pair.
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
