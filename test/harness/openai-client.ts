import OpenAI from 'openai'
import type { App } from '../../app.ts'
import { listen } from './raw.ts'

/** The client of a service that listens, without types: tests send what these forbid. It tries nothing again unless `options` say so. */
export const openaiOf = async (app: App, options: object = {}): Promise<any> =>
  new OpenAI({ baseURL: `http://127.0.0.1:${await listen(app)}/v1`, apiKey: 'none', maxRetries: 0, ...options })

/** Reads a streamed answer. */
export async function readChunks (stream: AsyncIterable<any>): Promise<any[]> {
  const chunks: any[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

export const textOf = (chunks: any[]): string => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
