import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { jsonOfFixed } from '../lib/json.ts'
import { textKindOf } from '../lib/media-type.ts'

/** Tokens that providers count for an image of usual size, and the least for any file. */
const FILE_TOKENS = 1_600
/** Characters of base64 per token, for files that are not images: a page of a PDF has about 100 KiB and 3,000 tokens. */
const FILE_CHARACTERS = 40
/** The most tokens of the texts of files in one message; readAttachment reads the rest. */
export const MOST_TOKENS = 4_000
/** Tokens of a message apart from its content. */
const MESSAGE_TOKENS = 4

/**
 * Estimates the tokens of a text: one for four letters of English, one for each Chinese character, and between for other
 * scripts. Tokenizers differ by more than the error; the compactor's shares of the window allow for it.
 */
export const tokensIn = (text: string): number => Math.ceil((text.length + 1.5 * (Buffer.byteLength(text) - text.length)) / 4)

let newest = { text: '', tokens: 0 }

/** Estimates the tokens of a long text that is mostly the same as in the previous call, such as the descriptions of tools. */
export function tokensInSame (text: string): number {
  if (text !== newest.text) newest = { text, tokens: tokensIn(text) }
  return newest.tokens
}

/** Estimates the tokens of the definitions of tools. */
export const toolTokens = (tools: readonly object[] = []): number => tools.length === 0 ? 0 : tokensInSame(jsonOfFixed(tools))

/** Estimates the tokens of a message. */
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

/** Characters of encrypted reasoning (base64) per token. Its readable text may be a summary or missing. */
const ATTACHED_CHARACTERS = 6
const tokensAttached = (options: object | undefined) =>
  options === undefined ? 0 : Math.ceil(JSON.stringify(options).length / ATTACHED_CHARACTERS)
/** Tokens of the text that replaces an output. */
const LEFT_OUT_TOKENS = 130

/**
 * Estimates the least tokens of a part of a stored message, in any client's format: those that stay when compaction has left out its
 * output.
 */
export function itemTokens (part: Record<string, any> | null): number {
  if (typeof part?.text === 'string') return MESSAGE_TOKENS + tokensIn(part.text)
  if (part?.type === 'file' || part?.type === 'image' || part?.type === 'reasoning-file') return FILE_TOKENS
  const { output, errorText, input } = part ?? {}
  const inputTokens = input === undefined ? 0 : tokensIn(JSON.stringify(input))
  return MESSAGE_TOKENS + inputTokens + Math.min(LEFT_OUT_TOKENS, tokensIn(JSON.stringify(output ?? errorText ?? '')))
}

/**
 * Estimates the tokens of a file. An attachment is named by its address, with its size beside it. Only a part of a file that is read as
 * text is sent.
 */
function tokensOfFile ({ mediaType, data, providerOptions }: Record<string, any>): number {
  if (data?.type === 'text') return Math.min(MOST_TOKENS, tokensIn(data.text))
  const characters: number = data?.type === 'data' ? data.data.length : (providerOptions?.agent?.bytes ?? 0) * 4 / 3
  const kind = textKindOf(mediaType)
  if (kind === 'plain' || kind === 'office') return Math.min(MOST_TOKENS, characters === 0 ? MOST_TOKENS : Math.ceil(characters / 3))
  if (mediaType.startsWith('image')) return FILE_TOKENS
  return Math.max(FILE_TOKENS, Math.ceil(characters / FILE_CHARACTERS))
}
