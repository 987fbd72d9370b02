import { createError } from '@fastify/error'
import type { Static, TSchema } from '@sinclair/typebox'
import type { Extraction } from '../../schemas/brain.ts'
import { createKeyedLock } from '../locks.ts'
import type { ThreadMessage, Threads } from '../threads/threads.ts'
import { ThreadNotFound } from '../threads/errors.ts'
import { textOf } from '../threads/message.ts'
import type { BrainService, Heard, Unsaid } from './brain.ts'
import { inEarnest, untells } from './earnest.ts'
import { INSTRUCTIONS, PointersSchema, readByRules, readDenials, readPointers, type Found } from './reading.ts'

const ModelFailed = createError('ERR_UPSTREAM', 'The model of role "fast" could not be asked for facts: its answer %s. Try again, or test it with POST /providers/test.', 502)

/** A message of the user in a thread. */
interface Said { text: string, at: number, said: number, id?: string, [field: string]: unknown }

export interface ExtractionParts {
  threads: Threads
  brain: Pick<BrainService, 'hear' | 'from'>
  /** Asks the model of role `fast`; undefined when that is the offline one, whose place rules take. */
  ask: (<S extends TSchema>(question: { name: string, schema: S, instructions: string, text: string, signal: AbortSignal }) => Promise<{ value: Static<S> } | { problem: string }>)
  isOffline: () => boolean
}

export type Extractor = ReturnType<typeof createExtraction>

/** Characters that one question to the model holds, and how many questions a thread is worth. */
const QUESTION = 12_000
const QUESTIONS = 10
/** Messages of the user that are looked at, the newest. */
const MESSAGES = 500

/** Learns what the user says of themselves in threads: their own words, and nothing else that stands there. */
export function createExtraction ({ threads, brain, ask, isOffline }: ExtractionParts) {
  /** One at a time: what one finds, the next knows. */
  const locked = createKeyedLock()

  /** The user's messages that are meant, from the `n`-th on, and which of all of them the next one calls untrue. */
  async function messagesOf (id: string, n: number): Promise<{ meant: Said[], untrue: Array<{ untrue: Said, by: Said }> }> {
    const turns = await threads.turns(id)
    const said: Said[] = []
    for (const { at, said: time, id: messageId } of turns.slice(-MESSAGES)) {
      const [message] = await threads.messages(id, { from: at, limit: 1 })
      said.push({ text: message === undefined ? '' : wordsOf(message), at, said: time, ...(messageId !== undefined && { id: messageId }) })
    }
    const isMeant = inEarnest(said.map(({ text }) => text))
    const first = Math.max(0, n - (turns.length - said.length))
    return {
      meant: said.filter((_message, n) => n >= first && isMeant[n]),
      untrue: said.flatMap((by, n) => n >= Math.max(first, 1) && untells(by.text) ? [{ untrue: said[n - 1], by }] : [])
    }
  }

  async function read (messages: Said[], signal: AbortSignal): Promise<Array<Found<Said>>> {
    if (isOffline()) return readByRules(messages)
    const found: Array<Found<Said>> = []
    for (const shown of batches(messages.filter(({ text }) => text.trim() !== '')).slice(-QUESTIONS)) {
      const text = shown.map(({ text }, n) => `[${n + 1}] ${text}`).join('\n\n')
      const answer = await ask({ name: 'facts', schema: PointersSchema, instructions: INSTRUCTIONS, text, signal })
      if ('problem' in answer) throw new ModelFailed(answer.problem)
      found.push(...readPointers(shown, answer.value))
    }
    return found
  }

  return {
    /**
     * Looks through a thread for what is not known yet: all of it, or only what was said since it was last looked
     * through. Throws ThreadNotFound (404) and ModelFailed (502).
     */
    extract: (id: string, { signal = new AbortController().signal, since = 'start' }: { signal?: AbortSignal, since?: 'start' | 'last' } = {}): Promise<Extraction> => locked('', async () => {
      if (await threads.get(id) === undefined) throw new ThreadNotFound(id)
      const state = await threads.unread(id)
      const { meant, untrue } = await messagesOf(id, since === 'last' ? state.read : 0)
      const heard: Heard[] = (await read(meant, signal)).map(({ text, span, words, ...statement }) => ({
        ...statement,
        fact: span,
        said: words.said,
        source: { threadId: id, message: words.at, ...(words.id !== undefined && { messageId: words.id }), span }
      }))
      const unsaid = [
        ...readDenials(meant).map(({ statement, words }): Unsaid => ({ statement, said: words.said, source: { threadId: id, message: words.at } })),
        ...untrue.map(({ untrue, by }): Unsaid => ({ message: untrue.at, text: untrue.text, said: by.said, source: { threadId: id, message: by.at } }))
      ]
      const added = heard.length + unsaid.length > 0 ? await brain.hear(heard, unsaid) : 0
      await threads.markRead(id, state)
      return { ...await brain.from(id), added }
    })
  }
}

/** What a message says in words, its parts apart: a sentence does not go on in another part. */
const wordsOf = (message: ThreadMessage) => textOf(message, '\n')

/** Messages in order, as many together as one question holds; longer ones are shown by their beginning. */
function batches (messages: Said[]): Said[][] {
  const all: Said[][] = [[]]
  let room = QUESTION
  for (const message of messages) {
    const shown = { ...message, text: message.text.slice(0, QUESTION) }
    if (shown.text.length > room) {
      all.push([])
      room = QUESTION
    }
    all.at(-1)!.push(shown)
    room -= shown.text.length
  }
  return all.filter(({ length }) => length > 0)
}
