import type { LanguageModelV4CallOptions, LanguageModelV4FilePart, LanguageModelV4Prompt } from '@ai-sdk/provider'

/** Begins the message that shows what a tool's text cannot: what a model refuses is left out by it. */
export const SHOWN = 'Images from the results of the tools above, in their order:'

/**
 * OpenAI's chat completions take pictures from users only: those in results of tools follow as a message of the user,
 * and the results keep their text.
 */
export function withImagesApart<T extends LanguageModelV4CallOptions> (options: T): T {
  return { ...options, prompt: options.prompt.flatMap(apart) }
}

function apart (message: LanguageModelV4Prompt[number]): LanguageModelV4Prompt {
  if (message.role !== 'tool') return [message]
  const files: LanguageModelV4FilePart[] = []
  const content = message.content.map((part) => {
    if (part.type !== 'tool-result' || part.output.type !== 'content') return part
    const texts = part.output.value.flatMap((each) => {
      if (each.type === 'file') files.push({ type: 'file', mediaType: each.mediaType, data: each.data })
      return each.type === 'text' ? [each.text] : []
    })
    return { ...part, output: { type: 'text' as const, value: texts.join('\n') } }
  })
  return [
    { ...message, content },
    ...files.length > 0 ? [{ role: 'user' as const, content: [{ type: 'text' as const, text: SHOWN }, ...files] }] : []
  ]
}
