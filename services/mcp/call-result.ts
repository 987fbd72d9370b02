import type { Redactor } from '../lib/secrets.ts'
import type { ToolOutput } from '../contracts/tool.ts'
import { imageOf, isForUser, isImage, ToolFailed } from '../tools/index.ts'

const MIB = 1024 * 1024
/** Bytes of a result's JSON without its images. */
const LARGEST_RESULT = MIB
/** All images of one result, in characters of base64. */
const LARGEST_IMAGES = 5 * MIB
const LONGEST_ERROR = 16 * 1024

/**
 * Converts the result of `tools/call` to `{content, structuredContent?}`: every block as the server wrote it, with secrets redacted.
 * Throws ToolFailed when the server marks the result as an error, and when the result is larger than the limits.
 */
export function readResult (result: Record<string, unknown>, secrets: Redactor): ToolOutput {
  const { content, structuredContent, toolResult, isError } = result
  const blocks = Array.isArray(content) ? content : toolResult === undefined ? [] : [{ type: 'text', text: JSON.stringify(toolResult) }]
  if (isError === true) throw new ToolFailed(secrets.redact(textOf(blocks)) || 'The tool failed and did not say why.')
  const whole = { content: blocks, ...typeof structuredContent === 'object' && structuredContent !== null && { structuredContent } }
  /** Data of images. Servers repeat them in `structuredContent`. */
  const images = new Set<string>()
  const json = JSON.stringify(whole, (_key, value) => {
    const image = imageOf(value)
    if (image === undefined) return value
    images.add(image.data)
    return image === value ? null : { ...value, resource: { ...value.resource, blob: null } }
  })
  const rest = Buffer.byteLength(json)
  if (rest > LARGEST_RESULT) {
    throw new ToolFailed(`The result is larger than ${LARGEST_RESULT / MIB} MiB (${rest} bytes); ask for less at a time.`)
  }
  if ([...images].reduce((sum, { length }) => sum + length, 0) > LARGEST_IMAGES) {
    throw new ToolFailed(`The images of the result are larger than ${LARGEST_IMAGES / MIB} MiB together; ask for smaller ones.`)
  }
  return secrets.isIn(json) ? redactStrings(whole, secrets.redact) as ToolOutput : whole
}

/** Returns any other result of a server with secrets redacted. */
export const withoutSecrets = (result: Record<string, unknown>, secrets: Redactor): Record<string, unknown> =>
  secrets.isIn(JSON.stringify(result)) ? redactStrings(result, secrets.redact) as Record<string, unknown> : result

/** Returns the text of an error. Models get it, so it holds nothing that is for the user alone. */
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
