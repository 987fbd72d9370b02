import type { Test } from 'tap'
import { append, effects } from '../harness/effects.ts'
import { layFolders } from '../harness/folders.ts'
import { postEvents, told, type Sent } from '../harness/sse.ts'
import { prepareDirectory, startDying, writesIn } from './dying-service.ts'

const USER = { role: 'user', content: 'go' }

/** A conversation with approvals: what the model does, and what the user says to it. */
export interface Scenario {
  name: string
  /** What each step calls; every call appends its text. */
  steps: string[][]
  approved: boolean
  /** The questions of a step are answered in a request each. */
  oneByOne?: true
  /** Each is decided at POST /approvals/:id; only then does a client ask for what follows. */
  byId?: true
  /** The appending calls need no approval; a file is written first, which needs one. */
  permitted?: true
  /** The run works in a link, which leads to another folder by the time of the first answer. */
  moves?: true
}

export const SCENARIOS: Scenario[] = [
  { name: 'one call, approved', steps: [['a']], approved: true },
  { name: 'one call, denied', steps: [['a']], approved: false },
  { name: 'two calls of one step', steps: [['a', 'b']], approved: true },
  { name: 'two calls of one step, answered one by one', steps: [['a', 'b']], approved: true, oneByOne: true },
  { name: 'a chain of two calls', steps: [['a'], ['b']], approved: true },
  { name: 'two calls of one step, decided by their ids', steps: [['a', 'b']], approved: true, byId: true },
  { name: 'two permitted calls after an approved one', steps: [['a', 'b']], approved: true, permitted: true },
  { name: 'two calls whose folder has changed when they are approved', steps: [['a', 'b']], approved: true, moves: true }
]

type Stream = { events: Sent[], isWhole: boolean }

/** Posts to a service that may die meanwhile: the events that came, and whether the stream came to its end. */
async function post (url: string, body: object): Promise<Stream> {
  const { events } = await postEvents(url, body).catch(() => ({ events: [] as Sent[] }))
  return { events, isWhole: events.at(-1)?.type === 'finish' }
}

const questionsIn = ({ events }: Stream) => events.filter(({ type }) => type === 'tool-approval-request')

/** A directory for it, see `prepareDirectory`. */
export const prepare = (t: Test, { steps, permitted }: Scenario): Promise<string> =>
  prepareDirectory(
    t,
    [
      ...permitted ? [{ toolCalls: [{ toolName: 'writeFile', input: { path: 'x.txt', content: 'x' } }] }] : [],
      ...steps.map((texts) => ({ toolCalls: texts.map(append) })),
      { text: 'done' }
    ],
    permitted && { permissions: { runCommand: 'allow' } }
  )

/**
 * Goes through a scenario and one death of the service at a durable write (see kill-at-write.ts): the client does what
 * a client would, asks again when it got no question and repeats its answer when the stream broke off.
 */
async function liveThrough (t: Test, prepared: string, { approved, oneByOne, byId, moves }: Scenario, killAt: string) {
  const lives = await startDying(t, prepared, killAt)
  const { a, b, link, retarget } = layFolders(lives.cwd)
  let service = lives.first
  const seen: Sent[] = []
  const attempt = async (path: string, body: object): Promise<Stream> => {
    const stream = await post(`${service.url}${path}`, { id: 'chat', ...(moves && { context: { cwd: link } }), ...body })
    seen.push(...stream.events)
    if (!stream.isWhole) {
      await service.exited
      service = await lives.revive()
    }
    return stream
  }
  const insist = async (path: string, body: object): Promise<Stream> => {
    const stream = await attempt(path, body)
    return stream.isWhole ? stream : attempt(path, body)
  }

  const decide = async (id: string): Promise<unknown> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ approved }) }
    return fetch(`${service.url}/approvals/${id}`, init).then((response) => response.json()).catch(async () => {
      await service.exited
      service = await lives.revive()
      return decide(id)
    })
  }

  let answered = await attempt('/run', { messages: [USER] })
  if (questionsIn(answered).length === 0) answered = await attempt('/run', { messages: [USER] })
  if (moves) retarget(b)
  let answers: object = {}
  for (let open = questionsIn(answered); open.length > 0; open = questionsIn(answered)) {
    const content = open.slice(0, oneByOne ? 1 : open.length).map(({ approvalId }) => ({
      type: 'tool-approval-response',
      approvalId,
      approved
    }))
    answers = { messages: [USER, { role: 'tool', content }] }
    if (byId) for (const { approvalId } of content) await decide(approvalId)
    answered = await insist('/run/approve', answers)
  }
  const replayed = await insist('/run/approve', answers)
  const next = await insist('/run', { message: { role: 'user', content: 'and now?' } })
  const open = await (await fetch(`${service.url}/approvals`)).json() as { approvals: object[] }
  await service.stop()
  return {
    answered,
    replayed,
    next,
    deaths: lives.deaths,
    died: lives.died(service),
    open: open.approvals,
    writes: writesIn(service.log()),
    effects: effects(moves ? b : lives.cwd),
    elsewhere: effects(a),
    unknown: seen.filter(({ errorText }) => /outcome unknown/i.test(errorText)).map(({ toolCallId }) => toolCallId),
    /** The text that the call appends; '' for a call of another tool. */
    textOf: (toolCallId: string): string =>
      /printf (\w)/.exec(seen.find((event) => event.toolCallId === toolCallId && event.input)!.input.command)?.[1] ?? ''
  }
}

const wanted = ({ steps, approved }: Scenario) => approved ? steps.flat().join('') : ''

/** How many durable writes a scenario takes when nothing happens. */
export async function countWrites (t: Test, prepared: string, scenario: Scenario): Promise<number> {
  const calm = await liveThrough(t, prepared, scenario, 'count')
  t.equal(calm.effects, wanted(scenario))
  t.equal(calm.deaths, 0)
  return calm.writes
}

/** Kills at that write, `before` or `after` it: no effect is doubled, none is lost without a word, and the conversation goes on. */
export async function survives (t: Test, prepared: string, scenario: Scenario, killAt: string) {
  const { answered, replayed, next, died, open, effects, elsewhere, unknown, textOf } = await liveThrough(t, prepared, scenario, killAt)
  t.ok(died, 'the service died once')
  t.match(answered.events.at(-1), { type: 'finish', finishReason: 'stop' }, 'the answer leads to an end')
  t.same(told(replayed.events), told(answered.events), 'the same answer again tells the same')
  t.match(next.events.at(-1), { type: 'finish', finishReason: 'stop' }, 'the conversation goes on')
  t.same(open, [], 'no question is left behind')
  t.equal(elsewhere, '', 'nothing happened in a folder that was not shown')
  const inDoubt = [...new Set(unknown)].map(textOf)
  t.ok(inDoubt.length <= 1, 'only what was under way is in doubt')
  const possible = [wanted(scenario), ...inDoubt.map((text) => wanted(scenario).replace(text, ''))]
  t.ok(possible.includes(effects), `${effects} happened, one of ${possible} was to`)
}
