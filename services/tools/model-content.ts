import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import type { Tool, ToolOutput } from './tool.ts'
import { forModel } from './model-output.ts'

/**
 * A picture in a tool's output: one of the blocks of its `content`, as MCP writes them. Readers of the run get it as
 * it is, models that take pictures see it.
 */
export interface ImageBlock {
  type: 'image'
  mimeType: string
  data: string
}

type Block = Record<string, any>
type Parts = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value']

const IMAGE_TYPE = /^image\/[\w.+-]+$/
/** What every provider takes, by how its base64 begins. A call with any other picture would be refused, and every later one that carries it. */
const SHOWN: Array<[mimeType: string, begins: RegExp]> = [['image/png', /^iVBORw0KGgo/], ['image/jpeg', /^\/9j\//], [
  'image/gif',
  /^R0lGODdh|^R0lGODlh/
], ['image/webp', /^UklGR[\w+/]{6}XRUJQ/]]
const BASE64 = /^[A-Za-z0-9+/=\s]+$/

export function isImage (block: unknown): block is ImageBlock {
  const { type, mimeType, data } = (block ?? {}) as Block
  return type === 'image' && typeof mimeType === 'string' && IMAGE_TYPE.test(mimeType) && typeof data === 'string' && BASE64.test(data)
}

/** Each step tells the model all outputs of its run again, and to shorten a large one takes a while. */
const known = new WeakMap<ToolOutput, LanguageModelV4ToolResultOutput>()

/**
 * A tool's output as a model gets it: its JSON, at most 64 KiB of it, and the pictures of its `content` as pictures.
 * Sounds and files are only named: as base64 they would be noise. `view` is the tool's own, see `Tool.forModel`. The same
 * for the same object: an output does not change.
 */
export function toModelOutput (output: ToolOutput, view?: Tool['forModel']): LanguageModelV4ToolResultOutput {
  let shown = known.get(output)
  if (shown === undefined) known.set(output, shown = makeModelOutput(view === undefined ? output : view(output)))
  return shown
}

function makeModelOutput (output: ToolOutput): LanguageModelV4ToolResultOutput {
  if (!Array.isArray(output.content)) return { type: 'json', value: forModel(output) as never }
  const images: Array<{ mimeType: string, data: string }> = []
  const content = output.content.map((block: unknown) => {
    if (!isImage(block)) return withoutBytes(block)
    const data = block.data.trimStart()
    const mimeType = SHOWN.find(([, begins]) => begins.test(data))?.[0]
    if (mimeType === undefined) {
      return `[image: ${block.mimeType}, ${data.length} characters of base64, not shown: no PNG, JPEG, GIF or WebP]`
    }
    images.push({ mimeType, data })
    return `[image ${images.length}: ${mimeType}]`
  })
  const rest = forModel({ ...output, content })
  if (images.length === 0) return { type: 'json', value: rest as never }
  return {
    type: 'content',
    value: [
      { type: 'text', text: JSON.stringify(rest) },
      ...images.map(({ mimeType, data }): Parts[number] => ({ type: 'file', mediaType: mimeType, data: { type: 'data', data } }))
    ]
  }
}

/** The bytes that MCP's other blocks carry: `{type: 'audio', data}`, `{type: 'resource', resource: {blob}}`. */
function withoutBytes (block: unknown): unknown {
  const { type, data, mimeType, resource } = (block ?? {}) as Block
  if (type === 'audio' && typeof data === 'string') return `[${type}: ${mimeType}, ${data.length} characters of base64]`
  if (typeof resource?.blob !== 'string') return block
  return { ...block as Block, resource: { ...resource, blob: `[${resource.blob.length} characters of base64]` } }
}
