import { createToldMemory, RECALLED_TOKENS } from '../../services/brain/recall/told-memory.ts'
import { emptyMemory, type Entry, type Memory } from '../../services/brain/memory.ts'
import { PREVIEW_TOKENS } from '../../services/brain/context-preview.ts'
import { tokensIn } from '../../services/models/index.ts'
import { manyEntries } from '../../test/harness/brain.ts'
import type { Row } from '../compare.ts'
import { median } from '../stats.ts'
import type { Context } from './context.ts'

/** The time that the memory may add to a request, in milliseconds. */
const BAR = 5
const MESSAGES = [
  'What could we have for dinner tonight? Something quick, my brother is coming.',
  'The violin and the saddle: who were they for, and in which place did I polish the lamp?',
  `Please shorten this text. ${'The sea has many voices, many gods and many voices, and the salt is on the briar rose. '.repeat(80)}`
]

/**
 * Measures the time that the memory adds to a request, with 2,000 entries: for its part of the system prompt, and for the entries that fit
 * the message.
 */
export async function recall ({ times }: Context): Promise<Row[]> {
  const allergy: Partial<Entry> = { id: 'nuts', fact: 'I have an allergy to hazelnuts.', topics: ['food', 'dinner', 'cooking'] }
  const entries = manyEntries(2_000).map((entry, n) => n === 3 ? { ...entry, ...allergy, kind: 'fact' as const } : entry)
  const memory: Memory = { ...emptyMemory(), entries }
  const told = createToldMemory({ load: async () => memory, store: { get: async () => undefined, digest: (text) => text } })
  const ask = (text: string) => told.ofThread('bench', [{ role: 'user', content: [{ type: 'text', text }] }], { isNew: true })
  const begun = performance.now()
  const { system, recalled } = await ask(MESSAGES[0])
  const first = performance.now() - begun
  const [dinner] = (await recalled()).values()
  if (!dinner.includes('hazelnuts')) throw new Error('the allergy is not in the prompt')
  const took: number[] = []
  for (let n = 0; n < times(300); n++) {
    const started = performance.now()
    await ask(MESSAGES[n % MESSAGES.length])
    took.push(performance.now() - started)
  }
  const slowest = took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)]
  const row = (what: string, unit: string, service: number, bar?: number): Row =>
    ({ what, unit, service, ...bar !== undefined && { bar, pass: service <= bar } }) as Row
  return [
    row('what 2,000 entries take of a request', 'ms', median(took), BAR),
    row('the slowest of a hundred', 'ms', slowest),
    row('the first after the start, which makes the index', 'ms', first),
    row('the memory in the system prompt', 'tokens', tokensIn(system.text), PREVIEW_TOKENS),
    row('the memory in a message about dinner', 'tokens', tokensIn(dinner), RECALLED_TOKENS)
  ]
}
