import type { App } from '../../../app.ts'
import { answer, asked, of, say } from '../../harness/agent.ts'
import { OPTIONS } from '../../harness/app-tools.ts'
import { newKey, newSecret } from '../../harness/reach.ts'
import { parseEvents } from '../../harness/sse.ts'
import { tasksOf } from '../../harness/tasks.ts'
import { offerPairing } from '../../../services/reach/pairing-file.ts'

/** A grant for files in a conversation. */
export async function granted (app: App) {
  await app.inject({ method: 'PUT', url: '/threads/granted', payload: {} })
  const input = { path: 'a.txt', content: 'x' }
  return app.inject({
    method: 'POST',
    url: '/grants',
    payload: { threadId: 'granted', toolName: 'writeFile', input, scope: 'folder', until: { uses: 5, at: Date.now() + 60_000 } }
  })
}

/** A call of an application. */
export const calledApp = (app: App) =>
  post(app, '/run/sync', { messages: [{ role: 'user', content: 'open it' }], options: { ...OPTIONS, model: 'offline/scripted' } })

/** A run under way in the conversation `live`. */
export const live = async (app: App) =>
  app.agent.activeRunCount > 0 ||
  app.agent.run({ messages: [{ role: 'user', content: 'run `sleep 30`' }], id: 'live', resumable: true })

export const weekly = {
  goal: "write 'x' to task.txt",
  taskType: 'recurring',
  schedule: { interval: 'weekly', on: ['mon', 'thu'], missed: 'skip', graceMs: 0 },
  budget: { maxTokensPerRun: 9e6, maxMinutesPerRun: 0.5 }
}
export const post = (app: App, url: string, payload?: object) => app.inject({ method: 'POST', url, payload })
export const anAgent = (app: App) =>
  app.inject({ method: 'PUT', url: '/agents/shop', payload: { description: 'Sells', options: { instructions: 'Be brief.', ...OPTIONS } } })
export const aTask = async (app: App, fields: object = {}): Promise<string> =>
  `/tasks/${(await post(app, '/tasks', { ...weekly, ...fields })).json().id}`
/** A task whose run waits for a person's word about a tool. */
export async function asking (app: App) {
  const tasks = await tasksOf({ teardown () {} }, app)
  const events = await tasks.watch()
  const task = await aTask(app)
  await post(app, `${task}/run`)
  const { runId } = await events.until('task:approval', { taskId: task.slice('/tasks/'.length) })
  events.leave()
  return { task, runId }
}

/** A rehearsal that is over; returns its ids. */
export async function rehearsed (app: App): Promise<{ taskId: string, runId: string }> {
  const begun = (await post(app, `${await aTask(app)}/rehearse`)).json()
  await app.inject(`/runs/${begun.runId}?waitMs=60000`)
  return begun
}

/** A command that stays; returns its id. */
export async function inBackground (app: App): Promise<string> {
  const messages = [{ role: 'user', content: 'run `sleep 1000` and keep it running' }]
  await post(app, '/run/sync', { messages })
  return (await app.inject('/commands')).json().commands.at(-1).commandId
}

/** Two facts learned from threads, the second in the place of the first; returns its id. */
export async function learned (app: App, threadId = 'second'): Promise<string> {
  const learn = async (fact: string, replaces: string[] = []) => {
    const source = { threadId, message: 0, messageId: 'm', span: fact }
    await app.brain.ingest([
      { kind: 'fact', fact, replaces, isRetraction: false, isUnsure: false, said: app.clock.now(), source }
    ])
    return (await app.brain.known()).entries.find((entry) => entry.fact === fact)!.id
  }
  return learn('I moved to Rome.', [await learn('I live in Paris.')])
}

/** The path of a fact with a source, which replaced another. */
export const aFact = async (app: App) => `/memory/brain/facts/${await learned(app)}`

/** A conversation that asks about a call; returns the id of the approval. */
export async function chatAsking (app: App): Promise<string> {
  const asked = await app.inject({ method: 'POST', url: '/run', payload: { messages: [{ role: 'user', content: "write 'x' to a.txt" }] } })
  const request = parseEvents(asked.body).find(({ type }) => type === 'tool-approval-request')
  if (request === undefined) throw new Error('nothing was asked')
  return request.approvalId
}

/** A run that wrote a file and ran a command; returns its id. */
export async function writing (app: App): Promise<string> {
  const first = await say(app, "write 'x' to a.txt, then run `true`")
  const second = await answer(app, { [asked(first.events)[0]]: true })
  await answer(app, { [asked(second.events)[0]]: true })
  return of(first.events, 'start')[0].messageMetadata.runId
}

/** A device that has paired, as with the code of `local-agent reach`. */
export async function paired (app: App) {
  const secret = newSecret()
  await offerPairing(app.config.dir, secret, app.clock.now())
  return app.reach.devices.pair({ secret, key: newKey(), name: 'phone' })
}
