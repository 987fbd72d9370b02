import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { jsonOfFixed } from '../lib/json.ts'
import { textKindOf } from '../lib/media-type.ts'

/** Tokens that providers count for an image of usual size. This is also the lowest estimate for any file. */
const FILE_TOKENS = 1_600
/** Characters of base64 per token, for files that are not images: a page of a PDF has about 100 KiB and 3,000 tokens. */
const FILE_CHARACTERS = 40
/** The most tokens of text from attached files in one message. The tool readAttachment reads the rest. */
export const MOST_TOKENS = 4_000
/** Tokens of a message apart from its content. */
const MESSAGE_TOKENS = 4

/**
 * Estimates the tokens of a text: one for every four letters of English, one for each Chinese character, and a value between the two for
 * other scripts. Tokenizers differ from each other by more than the estimate's error. Compaction leaves room in the context window for this
 * error.
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

/** Characters of encrypted reasoning (base64) per token. The readable text of such reasoning can be a summary or missing. */
const ATTACHED_CHARACTERS = 6
const tokensAttached = (options: object | undefined) =>
  options === undefined ? 0 : Math.ceil(JSON.stringify(options).length / ATTACHED_CHARACTERS)
/** Tokens of the text with which compaction replaces the output of a tool. */
const LEFT_OUT_TOKENS = 130

/**
 * Estimates the tokens of a part of a stored message, in any client's format, that remain when compaction has replaced the output of a
 * tool.
 */
export function itemTokens (part: Record<string, any> | null): number {
  if (typeof part?.text === 'string') return MESSAGE_TOKENS + tokensIn(part.text)
  if (part?.type === 'file' || part?.type === 'image' || part?.type === 'reasoning-file') return FILE_TOKENS
  const { output, errorText, input } = part ?? {}
  const inputTokens = input === undefined ? 0 : tokensIn(JSON.stringify(input))
  return MESSAGE_TOKENS + inputTokens + Math.min(LEFT_OUT_TOKENS, tokensIn(JSON.stringify(output ?? errorText ?? '')))
}

/**
 * Estimates the tokens of a file. An attachment has its address in `data` and its size in `providerOptions.agent.bytes`. A file that is
 * read as text counts at most MOST_TOKENS, because only the beginning of the text is sent.
 */
function tokensOfFile ({ mediaType, data, providerOptions }: Record<string, any>): number {
  if (data?.type === 'text') return Math.min(MOST_TOKENS, tokensIn(data.text))
  const characters: number = data?.type === 'data' ? data.data.length : (providerOptions?.agent?.bytes ?? 0) * 4 / 3
  const kind = textKindOf(mediaType)
  if (kind === 'plain' || kind === 'office') return Math.min(MOST_TOKENS, characters === 0 ? MOST_TOKENS : Math.ceil(characters / 3))
  if (mediaType.startsWith('image')) return FILE_TOKENS
  return Math.max(FILE_TOKENS, Math.ceil(characters / FILE_CHARACTERS))
}
