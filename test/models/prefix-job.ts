import { ok } from 'node:assert/strict'
import { configOf, startEngine } from './engine.ts'
import { startOnModel } from './service.ts'

/** Tokens that may be read anew at each turn beside what is new. */
const ALLOWED = 64
const TURNS = [
  'Hi!', 'My boat is called Petrel.', 'Read notes.txt.', 'Whom should I call?', 'Say it in one word.', 'Are you still there?',
  'What is my boat called?', 'List this folder.', 'Write a haiku.', 'Thanks.'
]
/** The turns before which the memory learns its first fact, another one, and the service is started anew. */
const FIRST_LEARNS = 2
const LEARNS = 4
const RESTARTS = 6

/** A chat of ten turns: what the server read before, the request and its answer, comes from its cache at the next turn. */
export async function prefixJob (): Promise<void> {
  const engine = await startEngine()
  const config = { ...configOf(`${engine.origin}/v1`, 40), analysis: false, threads: { titles: false } }
  let service = await startOnModel(config)
  const learn = (fact: string) => service.send('POST', '/memory/brain/fact', { fact })
  let known = 0
  for (const [turn, content] of TURNS.entries()) {
    if (turn === FIRST_LEARNS) await learn('I live in Tartu.')
    if (turn === LEARNS) await learn('My sister plays the cello.')
    if (turn === RESTARTS) {
      await service.stop()
      service = await startOnModel(config, service)
    }
    const events = await service.say(content)
    const steps = events.filter(({ type }) => type === 'finish')
    const { inputTokens, outputTokens, cachedInputTokens = 0 } = steps.at(-1)!.usage
    console.log(`turn ${turn + 1}: ${cachedInputTokens} of ${known} known tokens from the cache, ${inputTokens} in all`)
    if (turn > 0) ok(cachedInputTokens >= known * 0.98 - ALLOWED, 'the beginning stays')
    known = inputTokens + outputTokens
  }
  await service.stop()
  engine.stop()
}
