import assert from 'node:assert/strict'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Test } from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { createDirectProvider } from '../../services/models/providers/direct.ts'
import { createAnswerParts } from '../../services/models/answer-parts.ts'
import { failureOf, isFailure } from '../../services/models/providers/check-part.ts'
import { batchesOf } from '../../services/models/providers/part-batches.ts'
import { createRegistry } from '../../services/models/providers/registry.ts'
import type { Answer } from '../suites/gateway-reader.ts'
import { send, serve } from './event-streams.ts'

export const ID = 'my-server/model'
/** A setting that the model does not support makes the SDK add a warning. */
export const ask = { prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }], topK: 3 }

export type Part = LanguageModelV4StreamPart

/** Opens the provider at an address. */
export function openAt (url: string) {
  const settings = () => ({ kind: 'openai-compatible' as const, baseURL: url })
  const provider = createDirectProvider({ name: 'my-server', settings, variables: {} })
  return createRegistry({ providers: () => [provider], settings: () => ({}), clock: systemClock })
}

/** Reads an answer to its end, as a model call does. Returns its parts, and the error as a user is told it. */
export async function read (registry: ReturnType<typeof openAt>) {
  const parts: Part[] = []
  const { mend } = createAnswerParts()
  try {
    const result = await (await registry.model(ID)).model.doStream(ask)
    assert.match(JSON.stringify(result.request?.body), /"stream":true/)
    const batches = batchesOf(result)
    for (let batch; (batch = await batches.read()) !== undefined;) {
      for (const part of batch) {
        if (isFailure(part)) throw failureOf(part)
        parts.push(...mend([part]))
      }
    }
    return { parts }
  } catch (error) {
    return { parts, failure: registry.describeFailure(error, ID) }
  }
}

/** Starts a server, and returns a function that reads its answer. */
export async function chatReader (t: Test) {
  let answer: Answer
  const { url } = await serve(t, (response) => send(response, answer))
  const registry = openAt(url)
  t.teardown(() => registry.close())
  return (given: Answer) => {
    answer = given
    return read(registry)
  }
}

/** Returns some events as the bytes of a stream. */
export const events = (...chunks: unknown[]) => [Buffer.from(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''))]
