import type { LanguageModelV4FilePart } from '@ai-sdk/provider'
import { fileExcerpt, fileLeftOut } from '../prompts/file-excerpt.ts'
import { MOST_TOKENS, tokensIn } from '../token-estimate.ts'

/** Characters of which the tokens of a long text are estimated. */
const SAMPLE = 16_000

/** The text of a file, with its digest where the rest can be read by a tool; or why it has none. */
export type FileText = { text: string, digest?: string } | { unreadable: string }

/** Returns how many characters of a text have so many tokens. */
function charactersFor (text: string, tokens: number): number {
  const sample = text.slice(0, SAMPLE)
  return Math.floor(sample.length * tokens / Math.max(tokensIn(sample), 1))
}

/**
 * Returns the texts of the files of one message, as the model gets them: together at most MOST_TOKENS. What a short one does not use, the
 * longer ones share. Files that `read` returns nothing for are not among them.
 */
export async function excerptsOf (
  parts: readonly LanguageModelV4FilePart[],
  read: (part: LanguageModelV4FilePart) => Promise<FileText | undefined>
): Promise<Map<LanguageModelV4FilePart, string>> {
  const excerpts = new Map<LanguageModelV4FilePart, string>()
  const texts: Array<{ part: LanguageModelV4FilePart, text: string, digest?: string }> = []
  for (const part of parts) {
    const found = await read(part)
    if (found === undefined) continue
    if ('text' in found) texts.push({ part, ...found })
    else excerpts.set(part, fileLeftOut(part, found.unreadable))
  }
  let left = MOST_TOKENS
  const inOrder = texts.toSorted((a, b) => a.text.length - b.text.length)
  for (const [n, { part, text, digest }] of inOrder.entries()) {
    const share = Math.floor(left / (texts.length - n))
    const shown = Math.min(text.length, charactersFor(text, share))
    const excerpt = text.slice(0, shown).toWellFormed()
    left -= Math.min(share, tokensIn(excerpt))
    excerpts.set(part, fileExcerpt(part, { excerpt, length: text.length, digest }))
  }
  return excerpts
}
