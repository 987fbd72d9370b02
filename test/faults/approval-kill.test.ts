import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { startService, type Sidecar } from '../sidecar.ts'
import { postEvents, told, type Sent } from '../sse.ts'

const PRELOAD = new URL('./kill-at-write.ts', import.meta.url).href
const REQUEST = { messages: [{ role: 'user', content: 'run `printf x >> effects.log`' }], id: 'chat' }
const decision = (approvalId: string, approved: boolean) => ({
  messages: [...REQUEST.messages, { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved }] }]
})

type Stream = { events: Sent[], isWhole: boolean }

/** Posts to a service that may die meanwhile: the events that came, and whether the stream came to its end. */
async function post (url: string, body: object): Promise<Stream> {
  const { events } = await postEvents(url, body).catch(() => ({ events: [] as Sent[] }))
  return { events, isWhole: events.at(-1)?.type === 'finish' }
}

const questionIn = ({ events }: Stream): string | undefined => events.find(({ type }) => type === 'tool-approval-request')?.approvalId

/**
 * One conversation with one approval, through one death of the service at a durable write: the client does what a
 * client would, asks again when it got no question and repeats its answer when the stream broke off.
 */
async function liveThrough (t: Parameters<typeof startService>[0], dir: string, killAt: string, approved: boolean) {
  const home = `${dir}/home`
  const cwd = `${dir}/work`
  mkdirSync(cwd, { recursive: true })
  const prepared = await startService(t, { home, cwd })
  await prepared.stop()

  let service: Sidecar = await startService(t, { home, cwd, preload: [PRELOAD], env: { KILL_AT: killAt } })
  let deaths = 0
  const attempt = async (path: string, body: object): Promise<Stream> => {
    const stream = await post(`${service.url}${path}`, body)
    if (!stream.isWhole) {
      await service.exited
      deaths++
      service = await startService(t, { home, cwd })
    }
    return stream
  }
  const insist = async (path: string, body: object): Promise<Stream> => {
    const stream = await attempt(path, body)
    return stream.isWhole ? stream : attempt(path, body)
  }

  let asked = await attempt('/run', REQUEST)
  if (questionIn(asked) === undefined) asked = await attempt('/run', REQUEST)
  const answer = decision(questionIn(asked)!, approved)
  const answered = await insist('/run/approve', answer)
  const replayed = await insist('/run/approve', answer)
  const next = await insist('/run', { ...REQUEST, messages: [{ role: 'user', content: 'list the files here' }] })
  const open = await (await fetch(`${service.url}/approvals`)).json() as { approvals: object[] }
  await service.stop()
  return {
    answered,
    replayed,
    next,
    deaths,
    open: open.approvals,
    writes: service.log().split('\n').filter((line) => line.startsWith('write ')).length,
    effects: existsSync(`${cwd}/effects.log`) ? readFileSync(`${cwd}/effects.log`, 'utf8') : ''
  }
}

for (const approved of [true, false]) {
  t.test(`killed at any durable write of a run that is ${approved ? 'approved' : 'denied'}, no effect is doubled and the conversation goes on`, async (t) => {
    const { writes, ...calm } = await liveThrough(t, t.testdir(), 'count', approved)
    t.equal(calm.effects, approved ? 'x' : '')
    t.ok(writes >= (approved ? 5 : 4), `${writes} durable writes`)

    for (let n = 0; n < writes; n++) {
      for (const when of ['before', 'after']) {
        await t.test(`${when} write ${n}`, async (t) => {
          const { answered, replayed, next, deaths, open, effects } = await liveThrough(t, t.testdir(), `${n} ${when}`, approved)
          t.equal(deaths, 1, 'the service died once')
          t.ok(answered.isWhole, 'the answer leads to an end')
          t.match(answered.events.at(-1), { finishReason: 'stop' })
          t.same(told(replayed.events), told(answered.events), 'the same answer again tells the same')
          t.match(next.events.at(-1), { finishReason: 'stop' }, 'the conversation goes on')
          t.same(open, [], 'no question is left behind')
          const isUnknown = answered.events.some(({ errorText }) => /outcome unknown/i.test(errorText))
          if (isUnknown) t.match(effects, /^x?$/, 'an unknown outcome is one effect or none')
          else t.equal(effects, approved ? 'x' : '')
        })
      }
    }
  })
}
