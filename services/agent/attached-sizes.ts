import type { LanguageModelV4FilePart, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Attachments } from '../attachments/index.ts'
import { digestIn } from '../contracts/attached-file.ts'

/** Returns the attachments that user messages of a prompt name, each part with its digest. */
export const attachedIn = (prompt: LanguageModelV4Prompt): Array<{ part: LanguageModelV4FilePart, digest: string }> =>
  prompt.flatMap(({ role, content }) =>
    role !== 'user' && role !== 'assistant'
      ? []
      : content.flatMap((part) => {
        const digest = part.type === 'file' && part.data.type === 'url' ? digestIn(part.data.url) : undefined
        return digest === undefined ? [] : [{ part: part as LanguageModelV4FilePart, digest }]
      })
  )

/** Notes the sizes of attachments in the parts that name them, so that their tokens can be estimated before their content is read. */
export async function noteSizes (prompt: LanguageModelV4Prompt, attachments: Pick<Attachments, 'find'>): Promise<void> {
  for (const { part, digest } of attachedIn(prompt)) {
    const found = await attachments.find(digest)
    if (found !== undefined) part.providerOptions = { ...part.providerOptions, agent: { bytes: found.bytes } }
  }
}
