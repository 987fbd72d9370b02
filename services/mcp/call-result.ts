import type { Redactor } from '../lib/secrets.ts'
import type { ToolOutput } from '../contracts/tool.ts'
import { isObject } from '../lib/json.ts'
import { base64In, forModel, imageOf, isForUser, isImage, pictureIn, ToolFailed } from '../tools/index.ts'

const MIB = 1024 * 1024
/** The largest JSON of a result without its images, in bytes. */
const LARGEST_RESULT = MIB
/** The largest size of all images of one result together, in characters of base64. */
const LARGEST_IMAGES = 5 * MIB
const LONGEST_ERROR = 16 * 1024

/**
 * Converts the result of `tools/call` to `{content, structuredContent?, note?}`: keeps the server's blocks, converts pictures to MCP's
 * form, and redacts secrets. A result beyond the limits is cut, and `note` says so. It is not an error, because the call has had its
 * effect. Throws ToolFailed if the server marks the result as an error.
 */
export function readResult (result: Record<string, unknown>, secrets: Redactor): ToolOutput {
  const { content, structuredContent, toolResult, isError } = result
  const blocks = blocksOf(content ?? toolResult)
  const structured = structuredContent === null ? undefined : structuredContent
  if (isError === true || isError === 'true' || isError === 1) {
    const words = textOf(blocks) || (structured === undefined ? '' : textOf([structured]))
    throw new ToolFailed(secrets.redact(words) || 'The tool failed and did not say why.')
  }
  const whole = {
    content: blocks,
    // MCP 2025-11-25 allows only objects here; newer servers can answer with a list or a text.
    ...structured !== undefined && { structuredContent: typeof structured === 'object' ? structured : { result: structured } }
  }
  const fitting = withinLimits(whole)
  return secrets.isIn(withoutImages(fitting)) ? redactStrings(fitting, secrets.redact) as ToolOutput : fitting
}

/** Returns the blocks of a result's content, which can be a list of blocks, a single block, or a text. */
function blocksOf (content: unknown): unknown[] {
  const all = Array.isArray(content) ? content : content === undefined || content === null ? [] : [content]
  return all.flatMap((block) => {
    if (block === null) return []
    if (isObject(block)) return [typeof block.type === 'string' || typeof block.text === 'string' ? readBlock(block) : jsonBlock(block)]
    return [typeof block === 'string' ? readBlock({ type: 'text', text: block }) : jsonBlock(block)]
  })
}

const jsonBlock = (value: unknown) => ({ type: 'text', text: JSON.stringify(value) })

/**
 * Converts a picture to an image block of MCP, whatever form its server uses. Returns any other block unchanged, but without the prefix of
 * a `data:` URL.
 */
function readBlock (block: Record<string, unknown>): unknown {
  const { type, text } = block
  const bytes = bytesOf(block)
  if (bytes !== undefined) {
    const picture = type === 'audio' ? undefined : pictureIn(bytes)
    if (picture === undefined) return typeof block.data === 'string' ? { ...block, data: base64In(block.data) } : block
    return isImage(block) && block.mimeType === picture.mimeType ? block : { ...block, ...picture }
  }
  return typeof text === 'string' && /^\s*data:image\//i.test(text) ? pictureIn(text) ?? block : block
}

/** The types of blocks that hold bytes: the types of MCP, and the types of pictures in the AI SDK and the API of OpenAI. */
const WITH_BYTES = ['image', 'audio', 'media', 'image-data', 'file-data', 'image_url', 'input_image']

/**
 * Returns the base64 or the `data:` URL of a block in a form of MCP, the AI SDK, Anthropic or OpenAI; undefined for a block without bytes.
 */
function bytesOf ({ type, data, image, source, image_url: url }: Record<string, unknown>): string | undefined {
  if (!WITH_BYTES.includes(type as string)) return undefined
  const inSource = isObject(source) ? source.data : undefined
  const inUrl = isObject(url) ? url.url : url
  return [data, image, inSource, inUrl].find((value) => typeof value === 'string')
}

/** Returns the JSON of a result with null in place of its images, and adds the base64 of each image to `images`. */
const withoutImages = (whole: unknown, images = new Set<string>()): string =>
  JSON.stringify(whole, (_key, value) => {
    const image = typeof value === 'string' ? urlImage(value) : imageOf(value)
    if (image === undefined) return value
    images.add(image.data)
    return image === value || typeof value === 'string' ? null : { ...value, resource: { ...value.resource, blob: null } }
  })

const urlImage = (text: string) => text.startsWith('data:image/') ? pictureIn(text) : undefined

interface Whole { content: unknown[], structuredContent?: object }

/** Cuts a result to the limits. A text or image counts once, even if `structuredContent` repeats it. */
function withinLimits (whole: Whole): ToolOutput {
  const { content, structuredContent } = whole
  const images = new Set<string>()
  const bytes = (value: unknown) => Buffer.byteLength(withoutImages(value, images))
  const isText = (block: unknown) => isObject(block) && block.type === 'text'
  const texts = content.filter(isText)
  const others = bytes(content.filter((block) => !isText(block)))
  const size = others + Math.max(bytes(texts), structuredContent === undefined ? 0 : bytes(structuredContent))
  const notes: string[] = []
  let fitting: Whole = whole
  if ([...images].reduce((sum, { length }) => sum + length, 0) > LARGEST_IMAGES) {
    fitting = withoutLargeImages(whole, { data: new Set(), room: LARGEST_IMAGES }) as Whole
    notes.push(`The images of the result were larger than ${LARGEST_IMAGES / MIB} MiB together, and some were left out.`)
  }
  if (size > LARGEST_RESULT) {
    fitting = cutTexts(fitting)
    notes.push(`The result was larger than ${LARGEST_RESULT / MIB} MiB (${size} bytes) and was cut.`)
  }
  return notes.length === 0 ? { ...fitting } : { ...fitting, note: `${notes.join(' ')} The call was made; ask for less at a time.` }
}

/** Cuts all blocks but the images, and puts the images behind the cut text. */
function cutTexts ({ content, structuredContent }: Whole): Whole {
  const images = content.filter((block) => imageOf(block) !== undefined)
  const rest = forModel({ content: content.filter((block) => imageOf(block) === undefined) }, LARGEST_RESULT).content
  return {
    content: [...Array.isArray(rest) ? rest : [{ type: 'text', text: JSON.stringify(rest) }], ...images],
    ...structuredContent && { structuredContent: forModel(structuredContent as ToolOutput, LARGEST_RESULT) }
  }
}

/** Replaces each image that exceeds the room left by a note, at any depth. An image that occurs twice counts once. */
function withoutLargeImages (value: unknown, kept: { data: Set<string>, room: number }): unknown {
  const image = typeof value === 'string' ? urlImage(value) : imageOf(value)
  if (image !== undefined) {
    const isKept = kept.data.has(image.data) || image.data.length <= kept.room
    if (!isKept) {
      const note = `[an image of ${image.data.length} characters of base64 is left out]`
      return typeof value === 'string' ? note : { type: 'text', text: note }
    }
    if (!kept.data.has(image.data)) kept.room -= image.data.length
    kept.data.add(image.data)
    return value
  }
  if (Array.isArray(value)) return value.map((each) => withoutLargeImages(each, kept))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutLargeImages(each, kept)]))
}

/** Returns the result of a request other than `tools/call`, with secrets redacted. */
export const withoutSecrets = (result: Record<string, unknown>, secrets: Redactor): Record<string, unknown> =>
  secrets.isIn(JSON.stringify(result)) ? redactStrings(result, secrets.redact) as Record<string, unknown> : result

/** Returns the text of an error for the model. Blocks that are meant for the user alone are left out. */
function textOf (blocks: unknown[]): string {
  return blocks.flatMap((block) => {
    const { text, type, annotations } = (block ?? {}) as { text?: unknown, type?: unknown, annotations?: unknown }
    if (isForUser({ annotations })) return []
    return [typeof text === 'string' ? text : type === 'image' || type === 'audio' ? `[${type}]` : JSON.stringify(block)]
  }).join('\n').slice(0, LONGEST_ERROR)
}

function redactStrings (value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (isImage(value)) return value
  if (Array.isArray(value)) return value.map((each) => redactStrings(each, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [redact(key), redactStrings(each, redact)]))
}
