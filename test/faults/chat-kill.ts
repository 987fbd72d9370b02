import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { append, effects } from '../harness/effects.ts'
import { parseEvents, postEvents, type Sent, textOf } from '../harness/sse.ts'
import { prepareDirectory, startDying, writesIn } from './dying-service.ts'

const STEPS = [['a', 'b'], ['c'], ['d', 'e']]
const WANTED = STEPS.flat().join('')
const TEXTS = [...STEPS.map((_, n) => `This is step ${n} of them all. `), 'All of it is done.']

/** A chat whose steps each look at the folder and append to a file, unasked; `chunkMs` paces the text of each step. */
export const prepare = (t: Test, chunkMs = 0): Promise<string> =>
  prepareDirectory(
    t,
    [
      ...STEPS.map((texts, n) => ({
        text: TEXTS[n],
        chunkMs,
        toolCalls: [{ toolName: 'listDirectory', input: {} }, ...texts.map(append)]
      })),
      { text: TEXTS.at(-1), chunkMs }
    ],
    { permissions: { runCommand: 'allow' }, analysis: false }
  )

/** Where to kill: at a durable write (see kill-at-write.ts), or so many milliseconds after the request. */
export type Moment = { write: string } | { afterMs: number }

const outcomes = (events: Sent[]) =>
  events.filter(({ type }) => type === 'tool-output-available' || type === 'tool-output-error').map(({ toolCallId, type }) => ({
    toolCallId,
    isDone: type === 'tool-output-available'
  }))

/** Lives through one chat and one death, and compares the thread, and the run that goes on for its reader, with what was told before. */
export async function survives (t: Test, prepared: string, moment: Moment, { resumable }: { resumable: boolean }) {
  const lives = await startDying(t, prepared, 'write' in moment ? moment.write : 'count')
  let service = lives.first
  // It died before it listened.
  if (lives.deaths > 0) return service.stop()
  const asked = postEvents(`${service.url}/run`, { id: 'chat', messages: [{ role: 'user', content: 'go' }], resumable })
    .catch(() => ({ events: [] as Sent[] }))
  if ('afterMs' in moment) {
    await wait(moment.afterMs)
    await service.stop('SIGKILL')
  }
  const { events } = await asked
  const writes = writesIn(service.log())
  if ('write' in moment && moment.write === 'count') {
    await service.stop()
    t.equal(effects(lives.cwd), WANTED)
    return writes
  }
  const isWhole = events.at(-1)?.type === 'finish'
  // The answer may be whole before the write at which the service is to die.
  await (isWhole ? service.stop('SIGKILL') : service.exited)
  service = await lives.revive()
  const told = outcomes(events)
  const response = await fetch(`${service.url}/threads/chat`)
  const { messages = [], status } = await response.json() as any
  const kept: any[] = messages.flatMap(({ content }: any) => Array.isArray(content) ? content : [])
  const results = kept.filter(({ type }) => type === 'tool-result')
  const isUnknown = ({ output }: any) => output.type === 'error-text' && /Outcome unknown/.test(output.value)
  const happened = effects(lives.cwd)

  if (events.some(({ type }) => type === 'start')) t.match(messages[0], { role: 'user' }, 'what the user said is there')
  t.ok(WANTED.startsWith(happened), `${happened} happened, nothing twice`)
  const done = new Set(results.filter(({ output }) => output.type === 'json').map(({ toolCallId }) => toolCallId))
  const ofCommands = new Set(
    events.filter(({ type, toolName }) => type === 'tool-input-available' && toolName === 'runCommand').map(({ toolCallId }) => toolCallId)
  )
  const lost = told.filter(({ toolCallId }) => ofCommands.has(toolCallId) && !done.has(toolCallId))
  t.same(lost, [], 'every effect that was told is in the thread')
  const commands = kept.filter(({ type, toolName }) => type === 'tool-call' && toolName === 'runCommand')
  const known = commands.filter(({ toolCallId }) => done.has(toolCallId)).map(({ input }) => /printf (\w)/.exec(input.command)![1]).join('')
  const inDoubt = results.filter(isUnknown).length
  t.ok(inDoubt <= 1, 'only what was under way is in doubt')
  t.ok(happened === known || (inDoubt === 1 && happened.startsWith(known) && happened.length === known.length + 1), `${known} is known`)

  t.equal(effects(lives.cwd), happened, 'nothing goes on by itself')
  const back = await fetch(`${service.url}/run/chat/stream`)
  const again = back.status === 200 ? parseEvents(await back.text()) : []
  if (messages.length > 0) t.equal(status, 'idle')
  if (isWhole) t.equal(back.status, 204, 'an answer that came to its end does not go on')
  if (again.length > 0) {
    t.equal(again[0].type, 'start')
    t.same([again.at(-1)!.type, again.filter(({ type }) => type === 'error')], ['finish', []], 'for its reader the run goes on to its end')
    t.equal(textOf(again), TEXTS.join(''), 'the reader gets all of it')
    const ended = new Set(outcomes(again).map(({ toolCallId }) => toolCallId))
    for (const toolCallId of done) t.ok(ended.has(toolCallId), 'what was done is told again')
    const all = effects(lives.cwd)
    t.equal(new Set(all).size, all.length, `${all} happened, nothing twice`)
    t.ok(WANTED.length - all.length <= inDoubt, 'only what was in doubt may be missing')
  } else if (messages.length > 1) {
    t.match(kept.at(-1), { type: 'text', text: TEXTS.at(-1) }, 'what does not go on is whole')
  }
  const { runs } = await (await fetch(`${service.url}/runs?threadId=chat`)).json() as any
  if (messages.length > 0) t.match(runs, [{ status: 'completed' }])
  await service.stop()
  return writes
}
