import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'

/** The maximum number of images from tools in one model call, and their maximum total size, characters of base64. */
const MAX_IMAGES = 10
const MAX_CHARACTERS = 10 * 1024 * 1024
const LEFT_OUT = '[an older image was here]'

type Content = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>

/** Returns the prompt with the newest images from tools; each older image is replaced by a short text. */
export function withRecentImages (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  let images = 0
  let characters = 0
  const fits = (part: Content['value'][number]): boolean => {
    if (part.type !== 'file' || part.data.type !== 'data') return true
    characters += part.data.data.length
    return ++images <= MAX_IMAGES && characters <= MAX_CHARACTERS
  }
  return prompt.toReversed().map((message) => {
    if (message.role !== 'tool') return message
    const content = message.content.toReversed().map((result) =>
      result.type === 'tool-result' && result.output.type === 'content'
        ? {
            ...result,
            output: {
              ...result.output,
              value: result.output.value.toReversed().map((part) => fits(part) ? part : { type: 'text' as const, text: LEFT_OUT }).reverse()
            }
          }
        : result
    )
    return { ...message, content: content.reverse() }
  }).reverse()
}
