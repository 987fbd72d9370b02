import type { Test } from 'tap'
import { append, effects } from '../harness/effects.ts'
import { asking } from '../harness/questions.ts'
import { postEvents, type Sent } from '../harness/sse.ts'
import { prepareDirectory, startDying, writesIn } from './dying-service.ts'

const USER = { role: 'user', content: 'go' }
const ANSWERS = { answers: { format: 'md' } }

/** A directory for a conversation whose model asks, then acts by the answer. */
export const prepare = (t: Test): Promise<string> =>
  prepareDirectory(t, [asking(), { toolCalls: [append('a')] }, { text: 'done' }], { permissions: { runCommand: 'allow' } })

/**
 * Goes through one death of the service at a durable write (see kill-at-write.ts): the client looks into the inbox when its stream broke
 * off before a question, and repeats its answer until it was taken and the run has ended.
 */
async function liveThrough (t: Test, prepared: string, killAt: string) {
  const lives = await startDying(t, prepared, killAt)
  let service = lives.first
  const writes = () => writesIn(service.log())
  /** Repeats what the service died at. */
  async function insist<T> (act: () => Promise<T>, isDone: (result: T) => boolean = () => true): Promise<T> {
    const result = await act().catch(() => undefined)
    if (result !== undefined && isDone(result)) return result
    await service.exited
    service = await lives.revive()
    return insist(act, isDone)
  }
  const json = async (path: string, body?: object): Promise<{ status: number, body: any }> => {
    const init = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`${service.url}${path}`, init)
    return { status: response.status, body: await response.json() }
  }
  const isWhole = (events: Sent[]) => events.at(-1)?.type === 'finish'

  async function ask (): Promise<string> {
    const { body: { approvals: [waiting] } } = await json('/approvals?kind=question')
    if (waiting !== undefined) return waiting.approvalId
    const { events } = await postEvents(`${service.url}/run`, { id: 'chat', messages: [USER], options: { interactive: true } })
    if (!isWhole(events)) throw new Error('cut')
    return events.find(({ type }) => type === 'question-request')!.approvalId
  }
  const approvalId = await insist(ask)
  const writesBefore = writes()
  const taken = await insist(() => json(`/approvals/${approvalId}`, ANSWERS))
  const other = await insist(() => json(`/approvals/${approvalId}`, { answers: { format: 'pdf' } }))
  const content = [{ type: 'tool-approval-response', approvalId, ...ANSWERS }]
  const read = async () => (await postEvents(`${service.url}/run/approve`, { messages: [{ role: 'tool', content }] })).events
  const events = await insist(read, isWhole)
  const open = await insist(() => json('/approvals'))
  const said = await insist(() => json('/threads/chat'))
  const all = writes()
  await service.stop()
  return {
    taken,
    other,
    events,
    open,
    said,
    deaths: lives.deaths,
    died: lives.died(service),
    effects: effects(lives.cwd),
    writesBefore,
    writes: all
  }
}

/** How many durable writes there are until the question waits, and in all. */
export async function countWrites (t: Test, prepared: string) {
  const { effects, deaths, writesBefore, writes } = await liveThrough(t, prepared, 'count')
  t.same([effects, deaths], ['a', 0])
  return { writesBefore, writes }
}

/** Kills at that write: the question waits or is asked again, an answer that was taken is the one that the model gets, once. */
export async function survives (t: Test, prepared: string, killAt: string) {
  const { taken, other, events, open, said, died, effects } = await liveThrough(t, prepared, killAt)
  t.ok(died, 'the service died once')
  t.match(taken, { status: 200, body: { state: 'answered' } })
  t.match(other, { status: 409, body: { code: 'ERR_APPROVAL_DECIDED' } }, 'the first answer is kept')
  t.match(events.at(-1), { type: 'finish', finishReason: 'stop' }, 'the run comes to its end')
  const outputs = JSON.stringify(said.body.messages).match(/"answers":\{"format":"\w+"\}/g)
  t.same(outputs, ['"answers":{"format":"md"}'], 'the thread holds the answer, once')
  t.same(open.body.approvals, [], 'nothing is left behind')
  const isInDoubt = /outcome unknown/i.test(JSON.stringify(events))
  t.ok(effects === 'a' || (isInDoubt && effects === ''), `what the answer let happen, happened once: "${effects}"`)
}
