import t, { type Test } from 'tap'
import type { Sidecar } from '../harness/sidecar.ts'
import { postEvents, type Sent } from '../harness/sse.ts'
import { insistentClient, prepareDirectory, startDying, writesIn } from './dying-service.ts'

const script = [1, 2].map((limit): object => ({ toolCalls: [{ toolName: 'listDirectory', input: { path: '.', limit } }] }))
  .concat({ text: 'done' })
const options = { budget: { tokens: 1 } }

interface Seen {
  /** The ids of the questions about the budget, each with the calls of models when it was asked, and when it was answered. */
  asked: Map<string, { before: number, after: number }>
  calls: number
  died: boolean
  open: number
  writes: number
}

/** Starts a service that dies once, with a count of the calls of models over its lives. */
async function countingLives (t: Test, prepared: string, killAt: string) {
  const lives = await startDying(t, prepared, killAt)
  const logs = [lives.first]
  return {
    lives: {
      ...lives,
      get deaths () {
        return lives.deaths
      },
      async revive () {
        const next = await lives.revive()
        logs.push(next)
        return next
      }
    },
    calls: () => logs.map((service) => service.log().split('"msg":"model call"').length - 1).reduce((sum, count) => sum + count)
  }
}

/** The last writes may come after all is seen: then it died while it was stopped. */
const hasDied = (lives: { died (service: Sidecar): boolean }, service: Sidecar): boolean =>
  lives.died(service) || service.child.signalCode === 'SIGKILL'

/** Says yes to each question of a conversation, and no to the one after `yes` of them, through one death of the service. */
async function chat (t: Test, prepared: string, killAt: string, yes: number): Promise<Seen & { end: Sent | undefined }> {
  const { lives, calls } = await countingLives(t, prepared, killAt)
  let service = lives.first
  const asked: Seen['asked'] = new Map()
  const send = async (path: string, body: object, headers = {}): Promise<Sent[]> => {
    for (let tries = 0; tries < 3; tries++) {
      const { events } = await postEvents(`${service.url}${path}`, { id: 'chat', ...body }, headers).catch(() => ({ events: [] as Sent[] }))
      for (const { type, approvalId } of events) {
        if (type === 'question-request' && !asked.has(approvalId)) asked.set(approvalId, { before: calls(), after: -1 })
      }
      if (events.at(-1)?.type === 'finish') return events
      await service.exited
      service = await lives.revive()
    }
    throw new Error('it died more than once')
  }
  const question = (events: Sent[]) => events.find(({ type }) => type === 'question-request')
  let events = await send('/run', { messages: [{ role: 'user', content: 'go' }], options }, { 'idempotency-key': 'go' })
  for (let nth = 0; ; nth++) {
    const open = question(events)
    if (open === undefined) break
    asked.get(open.approvalId)!.after = calls()
    const content = [{ type: 'tool-approval-response', approvalId: open.approvalId, approved: nth < yes }]
    events = await send('/run/approve', { messages: [{ role: 'tool', content }] })
  }
  const { approvals } = await (await fetch(`${service.url}/approvals`)).json() as { approvals: object[] }
  await service.stop()
  return {
    asked,
    calls: calls(),
    died: hasDied(lives, service),
    open: approvals.length,
    writes: writesIn(service.log()),
    end: events.find(({ type }) => type === 'error') ?? events.at(-1)
  }
}

/** The same for a task, whose questions are answered by their ids. */
async function task (t: Test, prepared: string, killAt: string, yes: number): Promise<Seen & { status: string }> {
  const { lives, calls } = await countingLives(t, prepared, killAt)
  const client = insistentClient(t, lives)
  const asked: Seen['asked'] = new Map()
  const id: string = await client.insist(async (tasks) => {
    const [known] = (await tasks.get('')).tasks
    const made = known ?? await tasks.create('go', { approval: { mode: 'changes' }, plan: { phases: [{ description: 'go' }] }, options })
    if (made.status === 'planned') await tasks.post(`/${made.id}/start`)
    return made.id
  })
  for (;;) {
    const state = await client.insist((tasks) => tasks.get(`/${id}`))
    const [open] = state.waitingFor ?? []
    if (open?.kind === 'question' && !asked.has(open.id)) asked.set(open.id, { before: calls(), after: -1 })
    if (open !== undefined) {
      if (asked.has(open.id)) asked.get(open.id)!.after = calls()
      // What waits for anything else is the result.
      const approved = open.kind !== 'question' || [...asked.keys()].indexOf(open.id) < yes
      await client.insist(async ({ url }) => {
        const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ approved }) }
        await (await fetch(`${url}/approvals/${open.id}`, init)).json()
      })
    } else if (!['running', 'planned', 'pending_approval'].includes(state.status)) {
      const [{ status }] = (await client.insist((tasks) => tasks.get(`/${id}/runs`))).runs
      await client.service.stop()
      return { asked, status, calls: calls(), died: hasDied(lives, client.service), open: 0, writes: writesIn(client.service.log()) }
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

for (const [name, live] of [['a conversation', chat], ['a task', task]] as const) {
  for (const yes of [2, 1]) {
    t.test(`${name} with ${yes} times yes, killed at any write, asks once and spends nothing past the answer`, async (t) => {
      const prepared = await prepareDirectory(t, script, { analysis: false, threads: { titles: false } })
      const calm = await live(t, prepared, 'count', yes)
      t.comment(`${calm.writes} durable writes, ${calm.calls} calls, ${calm.asked.size} questions`)
      for (let n = 0; n < calm.writes; n++) {
        for (const when of ['before', 'after']) {
          await t.test(`${when} write ${n}`, async (t) => {
            const seen = await live(t, prepared, `${n} ${when}`, yes)
            t.ok(seen.died, 'the service died once')
            t.equal(seen.asked.size, calm.asked.size, 'each question was asked once')
            for (const { before, after } of seen.asked.values()) t.equal(after, before, 'nothing was called while it waited')
            t.ok(seen.calls >= calm.calls && seen.calls <= calm.calls + 1, `${seen.calls} calls: the one that was cut may be made again`)
            t.equal(seen.open, 0)
            if ('end' in seen && 'end' in calm) t.match(seen.end, { type: calm.end!.type })
            if ('status' in seen && 'status' in calm) t.equal(seen.status, calm.status)
          })
        }
      }
    })
  }
}
