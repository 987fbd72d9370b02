import OpenAI from 'openai'
import type { App } from '../../app.ts'
import { listen } from './raw.ts'

/**
 * Returns the OpenAI client for a listening service. It is untyped, because tests send requests that the types forbid. It does not retry
 * unless `options` say so.
 */
export const openaiOf = async (app: App, options: object = {}): Promise<any> =>
  new OpenAI({ baseURL: `http://127.0.0.1:${await listen(app)}/v1`, apiKey: 'none', maxRetries: 0, ...options })

/** Reads a streamed answer. */
export async function readChunks (stream: AsyncIterable<any>): Promise<any[]> {
  const chunks: any[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

export const textOf = (chunks: any[]): string => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
