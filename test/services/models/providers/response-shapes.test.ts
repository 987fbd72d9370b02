import t, { type Test } from 'tap'
import { chatReader, type Part } from '../../../harness/chat-reader.ts'
import type { ResponseShape } from '../cases/response-shape.ts'
import { responseShapesHeld } from '../cases/response-shapes-held.ts'
import { responseShapesOpen } from '../cases/response-shapes-open.ts'

const textIn = (parts: Part[]) => parts.map((part) => part.type === 'text-delta' ? part.delta : '').join('')
const callsIn = (parts: Part[]) =>
  parts.flatMap((part) => part.type === 'tool-call' ? [{ name: part.toolName, input: JSON.parse(part.input) }] : [])

/** Returns what came of an answer, in the words of the cases. */
function outcomeOf ({ parts, failure }: Awaited<ReturnType<Awaited<ReturnType<typeof chatReader>>>>): Record<string, unknown> {
  if (failure !== undefined) return { end: failure.code === 'ERR_PROVIDER_CONNECTION' ? 'cut' : 'error', words: failure.message }
  const end = parts.find((part) => part.type === 'finish')?.finishReason.unified
  const calls = callsIn(parts)
  return { end: end === 'stop' && calls.length > 0 ? 'tool-calls' : end, text: textIn(parts), calls }
}

async function checkShapes (t: Test, shapes: readonly ResponseShape[]) {
  const answered = await chatReader(t)
  let right = 0
  for (const { name, status, contentType, body, expect } of shapes) {
    const bytes = Buffer.from(body)
    for (const size of [bytes.length, 7]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
      const outcome = outcomeOf(await answered({ pieces, status, headers: { 'content-type': contentType } }))
      const { end, text, calls = [], words } = expect
      const isGood = end === outcome.end &&
        (words === undefined || String(outcome.words).includes(words.replace(/[.\s]+$/, ''))) &&
        (text === undefined || text === outcome.text) &&
        (end === 'cut' || end === 'error' || JSON.stringify(calls) === JSON.stringify(outcome.calls))
      if (isGood && size === 7) right++
      t.ok(isGood, `${name}, in pieces of ${size}`, isGood ? {} : { expect, outcome })
    }
  }
  t.comment(`${right} of ${shapes.length} are right`)
}

t.test('answers of chat completions as servers send them', (t) => checkShapes(t, responseShapesOpen))
t.test('answers that somebody else wrote down', (t) => checkShapes(t, responseShapesHeld as readonly ResponseShape[]))
