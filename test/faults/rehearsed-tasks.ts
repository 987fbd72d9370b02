import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { startSite } from '../fakes/site.ts'
import { BUBBLEWRAP, NO_BOX } from '../harness/boxes.ts'
import { filesystem } from '../harness/mcp.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'
import type { Call, RehearsedTask } from './rehearsed-table.ts'

const TOKEN = 'correct horse'

/** Returns all that is below a folder: kinds, modes, contents and targets. */
function stateOf (folder: string): Record<string, string> {
  const state: Record<string, string> = {}
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name)
    const stat = lstatSync(path)
    const content = stat.isFile() ? readFileSync(path, 'base64') : stat.isSymbolicLink() ? readlinkSync(path) : 'folder'
    state[name] = `${stat.mode.toString(8)} ${content}`
  }
  return state
}

const SCHEMA = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const APP_TOOLS = ['openDocument', 'saveDocument'].map((name) =>
  ({ name, description: name, inputSchema: SCHEMA, effect: name === 'openDocument' ? 'read' : 'write' }))
/**
 * Records that a rehearsal may write: its own, what it used, and whose words the contents are that it saw or wrote. The index of words is
 * built behind the start.
 */
const OWN = new RegExp('^(?:run(?:-event|-state)?|rehearsal|undo(?:-file|-open|-owner|-tree)?|provenance|command-file|usage(?:-of)?|copy|' +
  'context(?:-use)?)/|^search-')

/** The service with its servers, in which tasks are rehearsed. */
export async function prepareTasks (t: Test) {
  const site = await startSite(t, { '/page': 'hello' })
  const dir = t.testdir({ server: { 'seed.txt': 'seed' }, home: {}, work: {} })
  let steps: Call[][] = []
  const placed = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll('SITE', site.url).replaceAll('SERVER', `${dir}/server`)) as T
  const { app } = await withGateway(t, ({ body: { prompt } }): Plan => {
    const done = prompt.filter(({ role }: { role: string }) => role === 'assistant').length
    const step = steps[done]
    return step === undefined ? { text: ['That is all.'] } : { toolCalls: step.map(([toolName, input]) => ({ toolName, input })) }
  }, {
    ...{ token: TOKEN, home: `${dir}/home`, cwd: `${dir}/work`, config: { web: { allowPrivateAddresses: true } } },
    boxes: process.platform === 'linux' ? BUBBLEWRAP : NO_BOX
  })
  t.teardown(() => rmSync(`${app.home}-copies`, { recursive: true, force: true }))
  const tasks = await tasksOf(t, app, TOKEN)
  const request = async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const response = await app.inject({ method, url, headers: { authorization: `Bearer ${TOKEN}` }, ...(payload && { payload }) })
    return { status: response.statusCode, ...response.json() }
  }
  const connected = await request('POST', '/mcp/connect', filesystem(`${dir}/server`))
  t.equal(connected.status, 'connected', 'the tool server')

  /** All that must stay as it is. */
  async function world (work: string) {
    // The home that a run has in its box goes a moment after the run has ended.
    const boxes = `${app.home}/boxes`
    while (existsSync(boxes) && readdirSync(boxes).some((name) => name.startsWith('run-'))) await wait(10)
    const records: Record<string, unknown> = {}
    for await (const [key, value] of app.store.list('')) if (!OWN.test(key)) records[key] = value
    const home = stateOf(app.home)
    for (const name of Object.keys(home)) if (/^(?:db|store|data|logs?|undo|boxes$)/.test(name) || name.endsWith('.log')) delete home[name]
    return { work: stateOf(work), server: stateOf(`${dir}/server`), home, records, told: (await request('GET', '/tool-calls')).toolCalls }
  }

  /** Answers the calls of the application until the run is over. */
  async function followed (runId: string) {
    for (;;) {
      const run = await request('GET', `/runs/${runId}?waitMs=60000`)
      if (run.status !== 'pending_approval') return run
      const { toolCalls } = await request('GET', '/tool-calls')
      if (toolCalls.length === 0) return run
      for (const { toolCallId } of toolCalls) await request('POST', `/tool-calls/${toolCallId}`, { output: { saved: true } })
    }
  }

  return async (t: Test, { name, files = {}, steps: does, lines, departs, goal = 'do it' }: RehearsedTask) => {
    const work = `${app.cwd}/${name.replace(/\W+/g, '-')}`
    for (const [path, of] of Object.entries({ 'kept.txt': 'kept', ...files })) {
      const at = join(work, path)
      mkdirSync(dirname(at), { recursive: true })
      const given: { link?: string, mode?: number, text?: string } = typeof of === 'string' ? { text: of } : of
      const { link, mode = 0o644, text = '' } = given
      if (link !== undefined) symlinkSync(link, at)
      else writeFileSync(at, text)
      if (link === undefined) chmodSync(at, mode)
    }
    const { id } = await tasks.create(placed(goal), {
      ...{ cwd: work, taskType: 'triggered', plan: { phases: [{ description: 'do it' }] }, approval: { mode: 'granted' } },
      options: { app: 'editor', appTools: APP_TOOLS }
    })
    steps = placed(does)
    const before = await world(work)
    const { runId } = await request('POST', `/tasks/${id}/rehearse`)
    const rehearsed = await request('GET', `/runs/${runId}?waitMs=60000`)
    t.equal(rehearsed.status, 'completed', rehearsed.error)
    const sheet = await request('GET', `/runs/${runId}/sheet`)
    t.same(sheet.lines.map(({ toolName, outcome }: any) => [toolName, outcome]), lines.map(([toolName, outcome]) => [toolName, outcome]))
    t.same(await world(work), before, 'nothing of it happened')

    const accepted = lines.flatMap(([, , scope], at) => scope === null ? [] : [{ line: at + 1, scope }])
    if (accepted.length > 0) t.match(await request('POST', '/grants', { sheet: runId, lines: accepted }), { status: 201 })
    const real = await followed((await tasks.post(`/${id}/run`)).runId)
    t.equal(real.status, 'completed', real.error)
    t.same(real.toolCalls.filter(({ status }: any) => status === 'denied'), [], 'nothing is denied of what was shown')
    t.same((await request('GET', '/approvals')).approvals.filter(({ kind }: any) => kind !== 'server' && kind !== 'app'), [])

    steps = placed([[departs]])
    const since = app.clock.now()
    const other = await followed((await tasks.post(`/${id}/run`)).runId)
    t.match(other.toolCalls.filter(({ toolName }: any) => toolName === departs[0]), [{ status: 'denied' }], 'what departs is denied')
    const { completed } = await request('GET', `/tasks/digest?since=${since}`)
    const { differs } = completed.items.find(({ runId }: any) => runId === other.runId)
    if (accepted.length === 0) t.equal(differs, undefined, 'nothing was accepted that it could differ from')
    else {
      const text = /^It was not allowed to .*, which the rehearsal did not show\.$/
      t.match(differs[0], { how: 'denied', toolName: departs[0], isShown: false, text })
    }
    // Calls that are said alike are named once, and the last that is named says how many more there are.
    const unused = new Set(accepted.map(({ line }) => {
      const { toolName, input } = sheet.lines[line - 1]
      return `${toolName} ${input.path ?? JSON.stringify(input)}`
    }))
    t.equal((differs?.length ?? 1) - 1 + (differs?.at(-1).more ?? 0), unused.size, 'and it names what was not used')
  }
}
