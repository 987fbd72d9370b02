import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'

/** Pictures from tools that one call of a model carries, the newest ones: number, and characters of base64 in all. */
const MOST_IMAGES = 10
const MOST_CHARACTERS = 10 * 1024 * 1024
const LEFT_OUT = '[an older image was here]'

type Content = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>

/** The prompt with the newest pictures that tools gave, and a word in the place of each older one. */
export function withRecentImages (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  let images = 0
  let characters = 0
  const fits = (part: Content['value'][number]): boolean => {
    if (part.type !== 'file' || part.data.type !== 'data') return true
    characters += part.data.data.length
    return ++images <= MOST_IMAGES && characters <= MOST_CHARACTERS
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
