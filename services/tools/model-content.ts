import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import type { Tool, ToolOutput } from '../contracts/tool.ts'
import { forModel } from './model-output.ts'
import { saidOnce } from './said-once.ts'

/**
 * An image block in the `content` of a tool's output, in MCP's form. Readers of the run get it unchanged; models that accept
 * images get it as an image.
 */
export interface ImageBlock {
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
const IMAGE_SIGNATURES: Array<[mimeType: string, begins: RegExp]> = [['image/png', /^iVBORw0KGgo/], ['image/jpeg', /^\/9j\//], [
  'image/gif',
  /^R0lGODdh|^R0lGODlh/
], ['image/webp', /^UklGR[\w+/]{6}XRUJQ/]]
const BASE64 = /^[A-Za-z0-9+/=\s]+$/

export function isImage (block: unknown): block is ImageBlock {
  const { type, mimeType, data } = (block ?? {}) as Block
  return type === 'image' && typeof mimeType === 'string' && IMAGE_TYPE.test(mimeType) && typeof data === 'string' && BASE64.test(data)
}

/** Returns the image in a block of MCP: an image block, or an embedded resource whose bytes are an image. */
export function imageOf (block: unknown): ImageBlock | undefined {
  if (isImage(block)) return block
  const { type, resource } = (block ?? {}) as Block
  const embedded = type === 'resource' && { type: 'image', mimeType: resource?.mimeType, data: resource?.blob }
  return isImage(embedded) ? embedded : undefined
}

/** Caches conversions: each step sends all outputs of its run again, and truncating a large output takes time. */
const modelOutputs = new WeakMap<ToolOutput, LanguageModelV4ToolResultOutput>()

/**
 * Converts a tool's output to the form that models get: its JSON, truncated to 64 KiB, and its images as images. What an output in MCP's
 * form says twice is sent once, see `saidOnce`. Audio and files are replaced by a note, because a model cannot read their base64. `view`
 * is the tool's own conversion, see `Tool.forModel`. Returns the same value for the same object, because outputs do not change.
 */
export function toModelOutput (output: ToolOutput, view?: Tool['forModel']): LanguageModelV4ToolResultOutput {
  let shown = modelOutputs.get(output)
  if (shown === undefined) modelOutputs.set(output, shown = makeModelOutput(view === undefined ? output : view(output)))
  return shown
}

function makeModelOutput (output: ToolOutput): LanguageModelV4ToolResultOutput {
  if (!Array.isArray(output.content)) return { type: 'json', value: forModel(output) as never }
  const images = new Map<string, { mimeType: string, label: string }>()

  /** Replaces the bytes in MCP's blocks, wherever they are: images by the names of the images beside the text, the rest by notes. */
  function describe (value: unknown): unknown {
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

  function addImage ({ mimeType: named, data: given }: ImageBlock): string {
    const data = given.trimStart()
    const mimeType = IMAGE_SIGNATURES.find(([, begins]) => begins.test(data))?.[0]
    if (mimeType === undefined) return `[image: ${named}, ${data.length} characters of base64, not shown: no PNG, JPEG, GIF or WebP]`
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
