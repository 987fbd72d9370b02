import type { LanguageModelV4Message } from '@ai-sdk/provider'

/** What providers count for a picture of usual size, and at least for any file. */
const FILE_TOKENS = 1_600
/** Characters of base64 a token, for files that are not pictures: a page of a PDF is some 100 KiB and 3,000 tokens. */
const FILE_CHARACTERS = 40
/** What a message costs beside its content. */
const MESSAGE_TOKENS = 4

/**
 * About how many tokens a text is: one for four letters of English, one for each Chinese character, something between
 * for what lies between. Tokenizers differ by more than that; see `fit` for what makes up for it.
 */
export const tokensIn = (text: string): number => Math.ceil((text.length + 1.5 * (Buffer.byteLength(text) - text.length)) / 4)

/** About how many tokens a message is for a model. */
export function tokensOf ({ content }: LanguageModelV4Message): number {
  if (typeof content === 'string') return MESSAGE_TOKENS + tokensIn(content)
  return content.reduce((sum, part) => sum + tokensOfPart(part), MESSAGE_TOKENS)
}

function tokensOfPart (part: Record<string, any>): number {
  if (part.type === 'text') return tokensIn(part.text)
  if (part.type === 'reasoning') return Math.max(tokensIn(part.text), tokensAttached(part.providerOptions))
  if (part.type === 'file' || part.type === 'reasoning-file') return tokensOfFile(part)
  if (part.type === 'tool-result' && part.output.type === 'content') {
    return part.output.value.reduce((sum: number, inner: object) => sum + tokensOfPart(inner), MESSAGE_TOKENS)
  }
  return tokensIn(JSON.stringify(part))
}

/** Characters of encrypted thinking, base64, a token: its readable text may be a summary, or missing. */
const ATTACHED_CHARACTERS = 6
const tokensAttached = (options: object | undefined) =>
  options === undefined ? 0 : Math.ceil(JSON.stringify(options).length / ATTACHED_CHARACTERS)
/** What is shown of an output that was left out. */
const LEFT_OUT_TOKENS = 130

/** At least how many tokens a part of a stored message is, in whatever shape its client keeps it, once old outputs were left out. */
export function itemTokens (part: Record<string, any> | null): number {
  if (typeof part?.text === 'string') return MESSAGE_TOKENS + tokensIn(part.text)
  if (part?.type === 'file' || part?.type === 'image' || part?.type === 'reasoning-file') return FILE_TOKENS
  const { output, errorText, input } = part ?? {}
  const said = input === undefined ? 0 : tokensIn(JSON.stringify(input))
  return MESSAGE_TOKENS + said + Math.min(LEFT_OUT_TOKENS, tokensIn(JSON.stringify(output ?? errorText ?? '')))
}

function tokensOfFile ({ mediaType, data }: Record<string, any>): number {
  if (data?.type === 'text') return tokensIn(data.text)
  if (data?.type !== 'data' || mediaType.startsWith('image')) return FILE_TOKENS
  if (mediaType.startsWith('text/')) return tokensIn(data.data)
  return Math.max(FILE_TOKENS, Math.ceil(data.data.length / FILE_CHARACTERS))
}
