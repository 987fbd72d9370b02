import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import t from 'tap'
import { systemClock } from '../../../../../services/lib/clock.ts'
import { createOfflineProvider } from '../../../../../services/models/providers/offline/index.ts'
import type { ScriptedTurn } from '../../../../../services/models/providers/offline/index.ts'

const user = { role: 'user' as const, content: [{ type: 'text' as const, text: 'go' }] }
const assistant = { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'went' }] }
const scripted = (script?: ScriptedTurn[]) => createOfflineProvider({ clock: systemClock, script: () => script }).languageModel('scripted')
const answer = async (script: ScriptedTurn[] | undefined, prompt: LanguageModelV4Prompt) =>
  (await (await scripted(script)).doGenerate({ prompt })).content

t.test('the turns are replayed in order, counted in the prompt, so that a restart changes nothing', async (t) => {
  const script = [{ text: 'one' }, { toolCalls: [{ toolName: 'readFile', input: { path: 'a' } }] }, { text: 'three' }]
  t.match(await answer(script, [user]), [{ type: 'text', text: 'one' }])
  t.match(await answer(script, [user, assistant, user]), [{ type: 'tool-call', toolName: 'readFile', input: '{"path":"a"}' }])
  t.match(await answer(script, [user, assistant, user, assistant]), [{ type: 'text', text: 'three' }])
})

t.test('past its end the script says so, again and again', async (t) => {
  t.match(await answer([{ text: 'one' }], [user, assistant, user]), [{ text: 'End of the script: it has 1 turn.' }])
  t.match(await answer([{ text: 'one' }], [user, assistant, user, assistant, user]), [{ text: 'End of the script: it has 1 turn.' }])
  t.match(await answer(undefined, [user]), [{ text: /offline\.script/ }])
})

t.test('an error fails the call, after the text when there is one', async (t) => {
  const model = await scripted([{ error: 'out of order' }, { text: 'so far', error: 'out of order' }])
  await t.rejects(async () => model.doStream({ prompt: [user] }), { message: 'out of order' })
  const types: string[] = []
  for await (const part of (await model.doStream({ prompt: [user, assistant] })).stream) types.push(part.type)
  t.strictSame(types, ['stream-start', 'response-metadata', 'text-start', 'text-delta', 'text-delta', 'text-end', 'error', 'finish'])
})

t.test('its delays end with the signal', async (t) => {
  const model = await scripted([{ text: 'late', delayMs: 60_000 }])
  const stop = new AbortController()
  setTimeout(() => stop.abort(new Error('enough')), 20)
  await t.rejects(async () => model.doStream({ prompt: [user], abortSignal: stop.signal }), { message: 'enough' })
})

t.test('a structured call on it is answered by rules and takes no turn', async (t) => {
  const model = await scripted([{ text: 'one' }])
  const { content } = await model.doGenerate({ prompt: [user], responseFormat: { type: 'json', name: 'analysis' } })
  t.match(JSON.parse((content[0] as { text: string }).text), { complexity: /./, thinking: /./ })
})
