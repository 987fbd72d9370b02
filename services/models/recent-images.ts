import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'

interface Amount {
  images: number
  /** The total size of the images, in characters of base64. */
  characters: number
}

/** The most images from tools in one model call; when there are more, the oldest are left out until no more than KEPT remain. */
const MOST: Amount = { images: 10, characters: 10 * 1024 * 1024 }
const KEPT: Amount = { images: 5, characters: 5 * 1024 * 1024 }
const LEFT_OUT = '[an older image was here]'

type Part = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number]

/**
 * Returns the prompt with only the newest images from tools. Each older image is replaced by a short text. Several images are left out at
 * once, and the choice depends on the images alone. So successive prompts begin with the same text until images are left out again, as
 * providers' caches need it.
 */
export function withRecentImages (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  let left = leftOut(prompt.flatMap(outputParts).flatMap((part) => isImage(part) ? part.data.data.length : []))
  if (left === 0) return prompt
  const withoutOldImages = (part: Part): Part => {
    if (!isImage(part) || left === 0) return part
    left--
    return { type: 'text', text: LEFT_OUT }
  }
  return prompt.map((message) => {
    if (message.role !== 'tool') return message
    const content = message.content.map((result) =>
      result.type === 'tool-result' && result.output.type === 'content'
        ? { ...result, output: { ...result.output, value: result.output.value.map(withoutOldImages) } }
        : result
    )
    return { ...message, content }
  })
}

/**
 * Returns how many of the oldest images are left out. `sizes` has the characters of base64 of each image, oldest first. Images that were
 * left out before stay left out.
 */
function leftOut (sizes: readonly number[]): number {
  let first = 0
  let characters = 0
  for (const [at, size] of sizes.entries()) {
    characters += size
    if (at + 1 - first <= MOST.images && characters <= MOST.characters) continue
    for (; first < at && (at + 1 - first > KEPT.images || characters > KEPT.characters); first++) characters -= sizes[first]
    // An image that is too large by itself is left out, too.
    if (characters > MOST.characters) {
      first = at + 1
      characters = 0
    }
  }
  return first
}

const outputParts = (message: LanguageModelV4Prompt[number]): Part[] =>
  message.role !== 'tool'
    ? []
    : message.content.flatMap((result) => result.type === 'tool-result' && result.output.type === 'content' ? result.output.value : [])

const isImage = (part: Part): part is Part & { type: 'file', data: { type: 'data', data: string } } =>
  part.type === 'file' && part.data.type === 'data' && typeof part.data.data === 'string'
