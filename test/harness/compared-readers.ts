import assert from 'node:assert/strict'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Test } from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { createDirectProvider } from '../../services/models/providers/direct.ts'
import { batchesOf } from '../../services/models/providers/part-batches.ts'
import { createRegistry } from '../../services/models/providers/registry.ts'
import type { Answer } from '../suites/gateway-reader.ts'
import { send, serve } from './event-streams.ts'

export const ID = 'my-server/model'
/** A setting that the model does not have makes a warning. */
export const ask = { prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }], topK: 3 }

export type Part = LanguageModelV4StreamPart

/** Opens the provider at an address. With a `fetch` it has the SDK's reader. */
export function openAt (url: string, fetch?: typeof globalThis.fetch) {
  const settings = () => ({ kind: 'openai-compatible' as const, baseURL: url })
  const provider = createDirectProvider({ name: 'my-server', settings, variables: {}, fetch })
  return createRegistry({ providers: () => [provider], settings: () => ({}), clock: systemClock })
}

/** Gives each made-up id of a call a name of its own, so that two readings can be compared. */
function withoutRandomIds (parts: Part[]): Part[] {
  const names = new Map<string, string>()
  const nameOf = (id: string) => {
    if (id.length < 16) return id
    if (!names.has(id)) names.set(id, `made up ${names.size}`)
    return names.get(id)!
  }
  return parts.map((part) =>
    part.type === 'tool-call'
      ? { ...part, toolCallId: nameOf(part.toolCallId) }
      : 'id' in part && part.id !== undefined ? { ...part, id: nameOf(part.id) } : part)
}

/** Reads an answer to its end. The errors in it, and the failure that ends it, are those that a user is told. */
export async function read (registry: ReturnType<typeof openAt>) {
  const parts: Part[] = []
  const told = (error: unknown) => registry.describeFailure(error, ID)
  try {
    const result = await (await registry.model(ID)).model.doStream(ask)
    assert.match(JSON.stringify(result.request?.body), /"stream":true/)
    const batches = batchesOf(result)
    for (let batch; (batch = await batches.read()) !== undefined;) {
      for (const part of batch) parts.push(part.type === 'error' ? { ...part, error: told(part.error) } : part)
    }
    return { parts: withoutRandomIds(parts) }
  } catch (error) {
    return { parts: withoutRandomIds(parts), failure: told(error) }
  }
}

/** Starts a server, and returns a function that reads an answer of it with both readers; they have to read the same. */
export async function compared (t: Test) {
  let answer: Answer
  const { url } = await serve(t, (response) => send(response, answer))
  const [own, sdk] = [openAt(url), openAt(url, globalThis.fetch)]
  t.teardown(() => own.close())
  return async (given: Answer) => {
    answer = given
    const found = await read(own)
    const expected = await read(sdk)
    assert.deepStrictEqual(found.failure, expected.failure)
    // What web streams hold when they fail is lost with them.
    const common = found.failure === undefined ? found.parts : found.parts.slice(0, expected.parts.length)
    assert.deepStrictEqual(common, expected.parts)
    return found
  }
}

/** Returns the bytes of some events. */
export const events = (...chunks: unknown[]) => [Buffer.from(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''))]
