import { once } from 'node:events'
import type { Test } from 'tap'
import type { ToolItem } from '../../services/contracts/approval-record.ts'
import { answer, asked, say } from '../harness/agent.ts'
import { effects } from '../harness/effects.ts'
import { openRun } from '../harness/reader.ts'
import { withGateway } from '../harness/with-gateway.ts'

/** Numbers from 0 to `below`, the same ones for a seed (mulberry32). */
function random (seed: number) {
  return (below: number) => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * below)
  }
}

/** What an answer, a message or a stop may be told while others do the same. */
const TOLD = new Set([200, 404, 409])

/**
 * Rounds of one question or two, and then everything a hurried user and a bad connection do at once: answers both ways,
 * also by clients that hang up, a stop, a new message. Whatever wins, no call runs twice, none runs unapproved, the ledger
 * says what happened, and the conversation goes on.
 */
export async function race (t: Test, rounds: number, seed: number) {
  let calls = 0
  const { app } = await withGateway(t, ({ body }) => {
    // The list of denied calls may follow what the user said last.
    const answered = body.prompt.findLastIndex(({ role }: { role: string }) => role === 'assistant' || role === 'tool')
    const isNew = /ask (\d)/.exec(JSON.stringify(body.prompt.slice(answered + 1).filter(({ role }: { role: string }) => role === 'user')))
    if (!isNew) return { text: 'ok' }
    return {
      toolCalls: Array.from(
        { length: Number(isNew[1]) },
        () => ({ toolName: 'runCommand', input: { command: `echo ${++calls} >> effects.log; sleep 0.0${calls % 5}` } })
      )
    }
  })
  const pick = random(seed)
  const approvedOnce = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    const id = `chat ${pick(2)}`
    const ids = asked((await say(app, `ask ${1 + pick(2)}`, { id })).events)
    t.ok(ids.length > 0, `round ${round} asks`)
    const some = (): Record<string, boolean> =>
      Object.fromEntries(ids.filter(() => pick(3) > 0).map((approvalId) => [approvalId, pick(3) > 0]))
    const said = (decisions: Record<string, boolean>) => {
      for (const [approvalId, approved] of Object.entries(decisions)) if (approved) approvedOnce.add(approvalId)
      return decisions
    }
    const acts = [
      async () => {
        const decisions = said(some())
        return Object.keys(decisions).length === 0 ? 200 : (await answer(app, decisions)).status
      },
      async () => (await answer(app, said({ [ids[0]]: pick(2) > 0 }), { id })).status,
      async () => {
        const content = ids.map((approvalId) => ({ type: 'tool-approval-response', approvalId, approved: true }))
        said(Object.fromEntries(ids.map((approvalId) => [approvalId, true])))
        const reader = await openRun(app, { messages: [{ role: 'tool', content }] }, '/run/approve')
        const leaveAt = pick(4)
        if (leaveAt > 0) await Promise.race([once(reader.response, 'grown'), reader.ended])
        if (leaveAt > 1) await new Promise(setImmediate)
        reader.hangUp()
        return reader.response.statusCode!
      },
      async () => (await app.inject({ method: 'POST', url: `/run/${encodeURIComponent(id)}/stop` })).statusCode,
      async () => (await say(app, 'never mind', { id })).status
    ]
    const told = await Promise.all(Array.from({ length: 2 + pick(6) }, async () => {
      const act = acts[pick(acts.length)]
      for (let turns = pick(20); turns > 0; turns--) await new Promise(setImmediate)
      return act()
    }))
    t.same(told.filter((status) => !TOLD.has(status)), [], `round ${round}: ${told}`)
    while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))

    const happened = effects(app.cwd).split('\n').filter(Boolean)
    t.equal(new Set(happened).size, happened.length, `round ${round}: nothing happened twice`)
    for (const approvalId of ids) {
      const { state, input, approved } = (await app.store.get<ToolItem>(`approval/${approvalId}`))!
      const [, number] = /echo (\d+)/.exec((input as { command: string }).command)!
      const ran = happened.includes(number)
      if (ran) t.ok(approved === true && approvedOnce.has(approvalId), `round ${round}: only what was approved ran`)
      t.ok(ran ? ['done', 'unknown'].includes(state) : state !== 'done', `round ${round}: ${state}, and it ${ran ? 'ran' : 'did not run'}`)
    }
    t.match(
      (await say(app, 'are you there?', { id })).events.at(-1),
      { type: 'finish', finishReason: 'stop' },
      `round ${round}: the conversation goes on`
    )
  }
}
