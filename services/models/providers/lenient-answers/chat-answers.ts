import { type Chunk, type Delta, readChunk } from '../compatible-stream/read-chunk.ts'
import { unreadable } from '../bounded-fetch.ts'
import type { AnswerForm, Fields } from './lenient-fetch.ts'

function chunkOf (value: Fields): Chunk {
  const chunk = readChunk(value)
  if (chunk instanceof Error) throw chunk
  return chunk
}

const textIn = (deltas: Delta[], block: 'text' | 'reasoning') =>
  deltas.flatMap(({ pieces }) => pieces.filter((piece) => piece.block === block).map(({ text }) => text)).join('')

/** Returns one completion in the form that the SDK accepts, from a whole completion or from the chunks of a stream. */
function completionOf (chunks: Chunk[]): Fields {
  const deltas = chunks.flatMap((chunk) => chunk.deltas)
  if (deltas.length === 0) throw unreadable()
  // Further choices would be other answers.
  const first = deltas.filter(({ choice }) => choice === deltas[0].choice)
  const usage = chunks.findLast((chunk) => chunk.usage)?.usage
  return {
    id: chunks[0]?.id,
    created: chunks[0]?.created,
    model: chunks[0]?.model,
    choices: [{
      message: {
        role: 'assistant',
        content: textIn(first, 'text'),
        reasoning_content: textIn(first, 'reasoning') || undefined,
        tool_calls: deltas.flatMap(({ calls }) => calls).flatMap(({ id, name, input }) =>
          name === undefined ? [] : [{ id, type: 'function', function: { name, arguments: input || '{}' } }])
      },
      finish_reason: deltas.findLast(({ finishReason }) => finishReason !== undefined)?.finishReason ?? 'stop'
    }],
    usage: usage && {
      prompt_tokens: usage.prompt,
      completion_tokens: usage.completion,
      prompt_tokens_details: { cached_tokens: usage.cached },
      completion_tokens_details: { reasoning_tokens: usage.reasoning }
    }
  }
}

/** OpenAI's chat completions. Streams of them are read by compatible-stream/. */
export const CHAT_ANSWERS: AnswerForm = {
  readWhole: (value) => completionOf([chunkOf(value)]),
  join: (values) => completionOf(values.map(chunkOf))
}
