import { readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { postEvents, type Sent } from '../harness/sse.ts'
import { prepareDirectory, startDying, writesIn } from './dying-service.ts'

const USER = { role: 'user', content: 'go' }
const MARK = { toolCalls: [{ toolName: 'editFile', input: { path: 'marks.txt', edits: [{ oldText: 'end', newText: 'x end' }] } }] }

/** A service that, told anything, adds the same mark to a file three times, in a step each. */
export const prepareMarks = async (t: Test): Promise<string> => {
  const dir = await prepareDirectory(t, [MARK, MARK, MARK, { text: 'done' }], { analysis: false })
  writeFileSync(`${dir}/work/marks.txt`, 'end')
  return dir
}

/** Approves the first mark and grants the next ones, through one death of the service; whoever is not answered asks again. */
async function liveThrough (t: Test, prepared: string, killAt: string) {
  const lives = await startDying(t, prepared, killAt)
  let service = lives.first
  const seen: Sent[] = []
  const send = async (path: string, body: object): Promise<Sent[]> => {
    for (let tries = 0; tries < 3; tries++) {
      const { events } = await postEvents(`${service.url}${path}`, { id: 'chat', ...body }).catch(() => ({ events: [] as Sent[] }))
      seen.push(...events)
      if (events.at(-1)?.type === 'finish') return events
      await service.exited
      service = await lives.revive()
    }
    throw new Error('it died more than once')
  }
  let events = await send('/run', { messages: [USER] })
  for (;;) {
    const open = events.filter(({ type }) => type === 'tool-approval-request')
    if (open.length === 0) break
    const granted = { approved: true, scope: 'exact', until: { uses: 2 } }
    const content = open.map(({ approvalId }) => ({ type: 'tool-approval-response', approvalId, ...granted }))
    events = await send('/run/approve', { messages: [USER, { role: 'tool', content }] })
  }
  const { grants } = await (await fetch(`${service.url}/grants`)).json() as { grants: Array<{ uses: number }> }
  await service.stop()
  const doubted = seen.filter(({ errorText }) => /outcome unknown/i.test(errorText)).map(({ toolCallId }) => toolCallId)
  return {
    died: lives.died(service),
    uses: grants.map(({ uses }) => uses),
    marks: readFileSync(`${lives.cwd}/marks.txt`, 'utf8').split('x').length - 1,
    doubted: new Set(doubted).size,
    questions: new Set(seen.filter(({ type }) => type === 'tool-approval-request').map(({ approvalId }) => approvalId)).size,
    writes: writesIn(service.log())
  }
}

/** The number of durable writes when nothing happens. */
export async function countMarkWrites (t: Test, prepared: string): Promise<number> {
  const { writes, ...calm } = await liveThrough(t, prepared, 'count')
  t.same(calm, { died: false, uses: [2], marks: 3, doubted: 0, questions: 1 })
  return writes
}

/** Kills at that write: one grant for one answer, each use of it counted once, no mark made twice, and none missing without a word. */
export async function survivesGrant (t: Test, prepared: string, killAt: string): Promise<void> {
  const { died, uses, marks, doubted, questions } = await liveThrough(t, prepared, killAt)
  t.ok(died, 'the service died once')
  t.same(uses, [2], 'each use was counted once')
  t.equal(questions, 1)
  t.ok(doubted <= 1 && marks <= 3 && marks >= 3 - doubted, `${marks} marks, ${doubted} in doubt`)
}
