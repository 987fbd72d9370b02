import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Finding } from '../../../schemas/providers.ts'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { objectsIn } from '../../lib/nearly-json.ts'
import { isBudgetError, type Meter, type Reported } from '../../usage/index.ts'
import { type Need, withNeeds } from '../request/request-needs.ts'
import { createAnswerText } from '../text-calls/answer-text.ts'
import { offeredTools } from '../text-calls/dialect.ts'
import { tokensOf } from '../token-estimate.ts'
import { failureOf, isFailure } from './check-part.ts'
import type { LearnedNeeds } from './learned-limits.ts'

/** The observed answer to a small request. */
interface Answer {
  text: string
  reasoning: string
  /** The number of pieces of text or reasoning in which the answer arrived. */
  pieces: number
  calls: string[]
  callsAsText: string[]
  /** True if some text is meant as a call and cannot be parsed. */
  isBroken: boolean
  /** The parts of the request that were left out. */
  leftOut: string[]
  inputTokens: number
}

interface Probe {
  about: Finding['about']
  options: Omit<LanguageModelV4CallOptions, 'abortSignal'>
  /** Interprets the answer; `ok` if all is well. */
  read: (answer: Answer, sent: LanguageModelV4Prompt) => Omit<Finding, 'about'>
  /** The need (see `Need`) to try if the answer is wrong although nothing was refused. It is tried only for servers of the user's own. */
  otherwise?: Need
}

interface Examination {
  id: string
  load(id: string): Promise<{ model: LanguageModelV4 }>
  /** Returns a sentence about why a call failed. */
  describe(error: unknown, id: string): { message: string }
  /** The known needs of the model, if its provider keeps them. */
  needs: LearnedNeeds | undefined
  /** True for a server of the user's own: it might be slow, and its templates might be wrong. */
  isOwn: boolean
  /**
   * Returns the context window of a server that has cut a prompt to its window, and remembers this window. `sent` and `read` are in tokens.
   */
  windowOfCut(id: string, prompt: { sent: number, read: number }, signal: AbortSignal): Promise<number | undefined>
  clock: Clock
  meter: Meter
  signal: AbortSignal
}

/** The time limit of an answer, milliseconds. */
const LIMIT_MS = 90_000
const OWN_LIMIT_MS = 5 * 60_000
const MOST_TOKENS = 400

const user = (text: string): LanguageModelV4Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] })
const TOOL = {
  type: 'function' as const,
  name: 'readNote',
  description: 'Returns the text of a note of the user.',
  inputSchema: { type: 'object' as const, properties: { name: { type: 'string' as const } }, required: ['name'] }
}
const called = (...names: string[]): LanguageModelV4Prompt => [
  {
    role: 'assistant',
    content: names.map((name, n) => ({ type: 'tool-call', toolCallId: `note${n}`, toolName: TOOL.name, input: { name } }))
  },
  {
    role: 'tool',
    content: names.map((name, n) => ({
      type: 'tool-result',
      toolCallId: `note${n}`,
      toolName: TOOL.name,
      output: { type: 'text', value: `The ${name} note says: buy ${name === 'garden' ? 'tulips' : 'milk'}.` }
    }))
  }
]
/** A purple square of 32 by 32 pixels: a model that does not see it guesses red or blue. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NMQkAAAwDsEqv9KnoMQjkT5pORSAQCAQCgUAgEHwJDnfvAD3VkOoHAAAAAElFTkSuQmCC'
const WORD = 'marmalade'
/** About six thousand tokens. */
const FILLING = 'The river runs past the mill, and the mill turns all day long. '.repeat(380)
const LONG = `Remember the password ${WORD}.\n\n${FILLING}\n\nWhich password?`

const good = (text: string) => ({ ok: true, text })
const bad = (text: string) => ({ ok: false, text })

/** The small requests of an examination, in their order. */
const PROBES: readonly Probe[] = [
  {
    about: 'stream',
    options: { prompt: [user('Count from 1 to 20, in words.')] },
    read ({ text, reasoning, pieces }) {
      if (text === '' && reasoning === '') return bad('It answered nothing.')
      if (text === '') return bad('It answered with thoughts alone: give it a larger output limit, or less effort.')
      if (pieces > 1) return good('Its answers stream.')
      return bad('Its answer came in one piece: its server does not stream, so a run shows nothing until the end.')
    }
  },
  {
    about: 'system',
    options: { prompt: [{ role: 'system', content: 'Your name is Quill. Say your name in each answer.' }, user('What is your name?')] },
    read: ({ text }) => /quill/i.test(text) ? good('It reads the system prompt.') : bad('It did not follow the system prompt.'),
    otherwise: 'no-system'
  },
  {
    about: 'tool-call',
    options: { prompt: [user('Read my note "shopping" with the tool.')], tools: [TOOL], toolChoice: { type: 'auto' } },
    read ({ calls, callsAsText, isBroken, leftOut }) {
      if (calls.includes(TOOL.name)) return good('It calls tools.')
      if (callsAsText.length > 0) return good('It writes its calls as text, which is read; such a call asks when it changes something.')
      if (isBroken) return bad('It writes calls as text that cannot be read: check the chat template of its server.')
      if (!leftOut.includes('tools')) return bad('It did not call the tool that it was asked to call.')
      return bad('It was told of a tool in words, and did not call it: choose another model for work with tools.')
    },
    otherwise: 'tools-in-words'
  },
  {
    about: 'call-without-text',
    options: { prompt: [user('Read my note "shopping".'), ...called('shopping'), user('What shall I buy?')], tools: [TOOL] },
    read: ({ text }) => /milk/i.test(text) ? good('It uses results of calls.') : bad('It did not use the result of a call.')
  },
  {
    about: 'two-calls',
    options: { prompt: [user('Read my notes.'), ...called('shopping', 'garden'), user('What shall I buy? Name all.')], tools: [TOOL] },
    read: ({ text }) =>
      /milk/i.test(text) && /tulip/i.test(text)
        ? good('It uses the results of two calls at once.')
        : bad('It did not use the results of two calls at once.')
  },
  {
    about: 'two-messages',
    options: { prompt: [user('My dog is called Rex.'), user('What is my dog called?')] },
    read: ({ text }) =>
      /rex/i.test(text) ? good('It reads two messages in a row.') : bad('It did not read the first of two messages in a row.')
  },
  {
    about: 'json',
    options: {
      prompt: [user('Give the city of the Eiffel tower as a JSON object with the property "city".')],
      responseFormat: {
        type: 'json',
        name: 'city',
        schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
      }
    },
    read ({ text }) {
      const fits = objectsIn(text).some(({ city }) => typeof city === 'string')
      if (!fits) return bad('It gave no JSON that fits a schema: a structured answer may fail.')
      return good(text.trim().startsWith('{') ? 'It answers in JSON.' : 'It answers in JSON with words around it, which are left out.')
    }
  },
  {
    about: 'picture',
    options: {
      prompt: [{
        role: 'user',
        content: [
          { type: 'text', text: 'Which colour has this picture? One word.' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: Buffer.from(PICTURE, 'base64') } }
        ]
      }]
    },
    read ({ text, leftOut }) {
      if (leftOut.length > 0) return bad('It takes no pictures: they are left out.')
      return /purple|violet|magenta/i.test(text) ? good('It sees pictures.') : bad('It did not see the colour of a picture.')
    }
  },
  {
    about: 'long-prompt',
    options: { prompt: [user(LONG)] },
    read ({ text, inputTokens }, sent) {
      const tokens = sent.reduce((sum, message) => sum + tokensOf(message), 0)
      if (inputTokens > 0 && inputTokens < tokens / 2) {
        return bad(`Its server read ${inputTokens} of about ${tokens} tokens: give it a larger context window.`)
      }
      const knows = text.toLowerCase().includes(WORD)
      return knows ? good(`It reads a prompt of ${tokens} tokens.`) : bad('It did not know the beginning of a long prompt.')
    }
  }
]

/** The sentences for needs that requests meet from now on. */
const NEED_SENTENCES: Record<Need, string> = {
  'portable-ids': 'It refuses ids of calls that are not nine letters and digits: they are sent so.',
  'no-thoughts': 'It refuses thoughts of earlier answers: they are not sent.',
  thoughts: 'It wants thoughts in each answer: a sentence stands for those of other models.',
  'no-pictures': 'It takes no pictures: a sentence stands for each.',
  'no-tool-pictures': 'It refuses pictures of tools: a sentence stands for them.',
  'no-system': 'It has no system role: the system prompt stands at the beginning of the first message.',
  'one-call': 'It takes one call a message: several are sent one after the other.',
  'tools-in-words': 'It knows no tools: it is told of them in words, and its calls are read from its text.'
}

/**
 * Tests a model with small requests. Returns a finding for each request, and one for each need that later requests to the model will meet.
 * The needs that were learned before are forgotten first, because the server might have another chat template now.
 */
export async function examineModel (parts: Examination): Promise<Finding[]> {
  const { needs, isOwn } = parts
  needs?.forget()
  const findings: Finding[] = []
  for (const probe of PROBES) {
    const { about, options, otherwise } = probe
    let found = await tryOne(probe, parts)
    if (!found.ok && isOwn && otherwise !== undefined && needs?.read().has(otherwise) === false) {
      const again = await tryOne({ ...probe, options: withNeeds(options, new Set([otherwise])) }, parts)
      if (again.ok) {
        found = again
        needs.note([otherwise])
      }
    }
    findings.push({ about, ...found })
  }
  return [...findings, ...[...needs?.read() ?? []].map((need) => ({ about: need, ok: true, text: NEED_SENTENCES[need] }))]
}

async function tryOne ({ options, read }: Probe, { id, load, describe, isOwn, windowOfCut, clock, meter, signal }: Examination) {
  const begun = clock.awake()
  const sent = options.prompt.reduce((sum, message) => sum + tokensOf(message), 0)
  try {
    const { answer, reported } = await withDeadline({ clock, ms: isOwn ? OWN_LIMIT_MS : LIMIT_MS, signal }, async (abortSignal) => {
      const { model } = await load(id)
      await meter.admit(id)
      const { stream } = await model.doStream({ ...options, maxOutputTokens: MOST_TOKENS, abortSignal })
      return readAnswer(stream)
    })
    const estimate = () => ({ inputTokens: sent, outputTokens: 0 })
    await meter.count({ model: id, role: 'capable', reported, estimate, ms: clock.awake() - begun })
    await windowOfCut(id, { sent, read: answer.inputTokens }, signal)
    return read(answer, options.prompt)
  } catch (error) {
    signal.throwIfAborted()
    return bad(isBudgetError(error) ? error.message : describe(error, id).message)
  }
}

async function readAnswer (stream: AsyncIterable<LanguageModelV4StreamPart>): Promise<{ answer: Answer, reported: Reported }> {
  const answer: Answer = { text: '', reasoning: '', pieces: 0, calls: [], callsAsText: [], isBroken: false, leftOut: [], inputTokens: 0 }
  const reader = createAnswerText(offeredTools({ tools: [TOOL] }, (name) => name === TOOL.name ? name : undefined))
  const take = (pieces: ReturnType<typeof reader.take>) => {
    for (const piece of pieces) {
      if (piece.kind === 'text' || piece.kind === 'reasoning') answer[piece.kind] += piece.delta
      if (piece.kind === 'call') answer.callsAsText.push(piece.name)
      if (piece.kind === 'broken') answer.isBroken = true
      if (piece.kind === 'was-thought') [answer.text, answer.reasoning] = ['', answer.reasoning + answer.text]
    }
  }
  for await (const part of stream) {
    if (isFailure(part)) throw failureOf(part)
    if (part.type === 'stream-start') for (const each of part.warnings) if (each.type === 'unsupported') answer.leftOut.push(each.feature)
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') answer.pieces++
    if (part.type === 'text-delta') take(reader.take(part.delta))
    if (part.type === 'reasoning-delta') answer.reasoning += part.delta
    if (part.type === 'tool-call') answer.calls.push(part.toolName)
    if (part.type !== 'finish') continue
    take(reader.end())
    answer.inputTokens = part.usage?.inputTokens?.total ?? 0
    return { answer, reported: part }
  }
  throw new Error('The answer broke off before it was finished.')
}
