import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildApp, type App } from '../../app.ts'
import { startFakeGateway, type GatewayRequest, type Plan } from '../../test/fakes/gateway.ts'

export interface Scene {
  request: string
  /** The path of the working folder. */
  cwd: string
  /** Facts about the user that the memory holds. */
  facts: string[]
  /** Further keys of config.json. */
  config: object
  /** The options of each run. */
  options: object
}

/** A model call as the service made it. */
export interface RecordedCall {
  /** The purpose of the call, and the name of the model. */
  title: string
  /** The call options as they were sent to the gateway. */
  options: any
}

const ANSWERS: Record<string, object> = {
  plan: { phases: [{ description: 'Look at the folder' }, { description: 'Report what is there' }], qualityCriteria: ['Names are given'] },
  'task-memory': { findings: ['The folder holds a project.'], decisions: ['Hidden files are left out.'] }
}

/** The plan of a model that lists the working folder and then answers. */
function replyTo ({ structured, body }: GatewayRequest): Plan | undefined {
  if (structured !== undefined) return ANSWERS[structured] && { object: ANSWERS[structured] }
  const hasLooked = body.prompt.at(-1).role === 'tool'
  return hasLooked ? { text: 'It holds a project.' } : { toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] }
}

/** Makes requests. `begin` sets the title for the calls that follow. */
type Work = (app: App, begin: (title: string) => void) => Promise<void>

/** Runs `work` with the service and a recording model, and returns the model calls. */
async function record ({ cwd, facts, config }: Scene, work: Work): Promise<RecordedCall[]> {
  const calls: RecordedCall[] = []
  let during = ''
  const gateway = await startFakeGateway({
    record: false,
    reply (request) {
      const { structured, modelId, sent } = request
      calls.push({ title: `${during}${structured ?? 'step'} (${modelId})`, options: sent })
      return replyTo(request)
    }
  })
  const home = mkdtempSync(join(tmpdir(), 'prompt-'))
  writeFileSync(join(home, 'config.json'), JSON.stringify({ threads: { titles: false }, ...config }))
  const log = new Writable({ write: (_line, _encoding, done) => done() })
  const app = await buildApp({ host: '127.0.0.1', home, cwd, gatewayKey: 'key', gatewayBaseURL: gateway.url, log })
  try {
    // With an invalid configuration, the service would use other prompts than the ones to be shown.
    if (app.config.problem !== undefined) throw new Error(app.config.problem)
    // Tasks run only after the service listens.
    await app.listen({ host: '127.0.0.1', port: 0 })
    for (const fact of facts) await send(app, 'POST', '/memory/brain/fact', { fact })
    await work(app, (title) => {
      during = title
    })
  } finally {
    await app.close()
    await gateway.close()
    rmSync(home, { recursive: true, force: true })
  }
  return calls
}

async function send (app: App, method: 'GET' | 'POST', url: string, payload?: object, accepted?: string): Promise<any> {
  const response = await app.inject({ method, url, ...payload && { payload } })
  if (response.statusCode >= 400 && response.json().code !== accepted) throw new Error(`${method} ${url}: ${response.body}`)
  return response.json()
}

/** Records a conversation with the user's messages in order. */
export const recordChat = ({ messages, ...scene }: Scene & { messages: string[] }): Promise<RecordedCall[]> =>
  record(scene, async (app, begin) => {
    for (const [n, content] of messages.entries()) {
      begin(`message ${n + 1}: `)
      await send(app, 'POST', '/run/sync', { id: 'chat', message: { role: 'user', content }, options: scene.options }, 'ERR_OBJECT_INVALID')
    }
  })

/** Records the first and the last run of a task. */
export async function recordTask ({ runs, steer, ...scene }: Scene & { runs: number, steer?: string }): Promise<RecordedCall[]> {
  const calls = await record(scene, async (app, begin) => {
    begin('plan: ')
    const { request: goal, options } = scene
    const { id } = await send(app, 'POST', '/tasks', { goal, taskType: 'triggered', approval: { mode: 'never' }, options })
    for (let n = 1; n <= runs; n++) {
      begin(`run ${n}: `)
      if (n === runs && steer !== undefined) await send(app, 'POST', `/tasks/${id}/steer`, { comment: steer })
      const { runId } = await send(app, 'POST', `/tasks/${id}/run`)
      while (['queued', 'running'].includes((await send(app, 'GET', `/tasks/${id}/runs/${runId}`)).status)) await sleep(20)
      // The task stores what it has learned when its run ends.
      while ((await send(app, 'GET', `/tasks/${id}`)).status === 'running') await sleep(20)
    }
  })
  return calls.filter(({ title }) => !title.startsWith('run ') || title.startsWith('run 1:') || title.startsWith(`run ${runs}:`))
}
