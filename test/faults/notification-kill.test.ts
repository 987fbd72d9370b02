import t, { type Test } from 'tap'
import { effects, append } from '../harness/effects.ts'
import { prepareDirectory, startDying, writesIn } from './dying-service.ts'

/** Takes a task through a call and a result that wait, and one death of the service at a durable write (see kill-at-write.ts). */
async function liveThrough (t: Test, prepared: string, killAt: string) {
  const lives = await startDying(t, prepared, killAt)
  let service = lives.first
  /** Asks, and asks again when the service died meanwhile. */
  async function ask (path: string, body?: object): Promise<any> {
    for (;;) {
      const answer = await fetch(`${service.url}${path}`, {
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
        headers: { ...(body && { 'content-type': 'application/json' }), 'idempotency-key': path }
      }).then((response) => response.json()).catch(() => undefined)
      if (answer !== undefined) return answer
      await service.exited
      if (lives.deaths > 0) throw new Error(`it died again: ${service.log()}`)
      service = await lives.revive()
    }
  }
  const { id } = await ask('/tasks', { goal: 'go', approval: { mode: 'always' } })
  const { runId } = await ask(`/tasks/${id}/run`, {})
  const shown: Array<{ kinds: string[], firsts: number, again: boolean }> = []
  while (shown.length < 2) {
    const { status } = await ask(`/runs/${runId}?waitMs=1000`)
    if (status !== 'pending_approval') continue
    const { approvals: [{ approvalId, kind }] } = await ask('/approvals')
    const open = (await ask('/notifications')).notifications.filter(({ waitsFor }: any) => waitsFor[0].approvalId === approvalId)
    const answers = [await ask(`/notifications/${open[0].notificationId}`, { shown: true })]
    answers.push(await ask(`/notifications/${open[0].notificationId}`, { shown: true }))
    shown.push({ kinds: open.map(() => kind), firsts: answers.filter(({ first }) => first).length, again: answers[1].first })
    await ask(`/approvals/${approvalId}`, { approved: true })
  }
  while ((await ask(`/runs/${runId}?waitMs=1000`)).status !== 'completed') continue
  const { notifications, count } = await ask('/notifications')
  await service.stop()
  return { died: lives.died(service), writes: writesIn(service.log()), shown, left: [notifications, count], effects: effects(lives.cwd) }
}

t.test('killed at any write, the service tells of each thing that waits once, and of nothing that is decided', async (t) => {
  const prepared = await prepareDirectory(t, [{ toolCalls: [append('a')] }, { text: 'done' }])
  const calm = await liveThrough(t, prepared, 'count')
  t.match(calm, { died: false, shown: [{ kinds: ['tool'], firsts: 1 }, { kinds: ['result'], firsts: 1 }], left: [[], 0], effects: 'a' })
  // The question with its notification, that it is shown, and the answer. All of them: ALL_WRITES=1.
  const inCI = [8, 9, 10]
  const all = Array.from({ length: calm.writes }, (_, n) => n)
  for (const n of process.env.ALL_WRITES ? all : inCI) {
    for (const when of process.env.ALL_WRITES ? ['before', 'after'] : [n % 2 === 0 ? 'before' : 'after']) {
      const { died, shown, left } = await liveThrough(t, prepared, `${n} ${when}`)
      t.ok(died, `it died ${when} write ${n} of ${calm.writes}`)
      t.same(shown.map(({ kinds }) => kinds), [['tool'], ['result']], 'each is told once')
      // An answer that was lost with the service was the first one.
      t.ok(shown.every(({ firsts, again }) => firsts <= 1 && !again), 'nobody shows again what is shown')
      t.same(left, [[], 0], 'what is decided is over')
    }
  }
})
