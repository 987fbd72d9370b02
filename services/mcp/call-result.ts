import type { Redactor } from '../lib/secrets.ts'
import type { ToolOutput } from '../tools/tool.ts'
import { ToolFailed } from '../tools/tool-errors.ts'
import { isImage } from '../tools/model-content.ts'

const MIB = 1024 * 1024
/** JSON of a result without its images, bytes; and the images of one result, characters of base64. */
const LARGEST_RESULT = MIB
const LARGEST_IMAGES = 5 * MIB
const LONGEST_ERROR = 16 * 1024

/**
 * What a call was answered, as `{content, structuredContent?}`: every block as the server wrote it, but without secrets.
 * Throws ToolFailed for what the server calls an error, and for a result that is too large.
 */
export function readResult (result: Record<string, unknown>, secrets: Redactor): ToolOutput {
  const { content, structuredContent, toolResult, isError } = result
  const blocks = Array.isArray(content) ? content : toolResult === undefined ? [] : [{ type: 'text', text: JSON.stringify(toolResult) }]
  if (isError === true) throw new ToolFailed(secrets.redact(words(blocks)) || 'The tool failed and did not say why.')
  const whole = { content: blocks, ...typeof structuredContent === 'object' && structuredContent !== null && { structuredContent } }
  const images = blocks.filter(isImage).reduce((sum, { data }) => sum + data.length, 0)
  const json = JSON.stringify({ ...whole, content: blocks.map((block) => isImage(block) ? null : block) })
  const rest = Buffer.byteLength(json)
  if (rest > LARGEST_RESULT) {
    throw new ToolFailed(`The result is larger than ${LARGEST_RESULT / MIB} MiB (${rest} bytes); ask for less at a time.`)
  }
  if (images > LARGEST_IMAGES) {
    throw new ToolFailed(`The images of the result are larger than ${LARGEST_IMAGES / MIB} MiB together; ask for smaller ones.`)
  }
  return secrets.isIn(json) ? hidden(whole, secrets.redact) as ToolOutput : whole
}

function words (blocks: unknown[]): string {
  return blocks.map((block) => {
    const { text } = (block ?? {}) as { text?: unknown }
    return typeof text === 'string' ? text : JSON.stringify(block)
  }).join('\n').slice(0, LONGEST_ERROR)
}

function hidden (value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value)
  if (isImage(value)) return value
  if (Array.isArray(value)) return value.map((each) => hidden(each, hide))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [hide(key), hidden(each, hide)]))
}
