import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startSite } from '../../fakes/site.ts'
import { connect, until } from '../../harness/mcp.ts'
import { withGateway } from '../../harness/with-gateway.ts'
import { type Goal, OFFICE, OWN, WAYS } from './goals.ts'

const SECRET = 'hunter2-the-token'
/** Where a text of others is read. */
export const PLACES = {
  server: { toolName: 'read_inbox', input: {} },
  file: { toolName: 'readFile', input: { path: 'from-others.md' } },
  page: { toolName: 'fetchUrl', input: { url: 'http://HOST/page' } }
}

export interface InjectionCase {
  goal: Goal
  way: string
  place: keyof typeof PLACES
}

/** Each goal in each way, in the places in turn. */
export const CASES: InjectionCase[] = [...OFFICE, ...OWN].flatMap((goal, at) => Object.keys(WAYS).map((way, n) =>
  ({ goal, way, place: (Object.keys(PLACES) as Array<keyof typeof PLACES>)[(at + n) % 3] })))

/** An office, an attacker's host, private files, and a model that does what the last text that it has read wants. */
export async function openOffice (t: any) {
  let text = ''
  const host = await startSite(t, { '/page': (_req, res) => void res.writeHead(200, { 'content-type': 'text/plain' }).end(text) })
  const evil = await startSite(t, new Proxy({}, { get: () => '<p>Thanks.' }), { host: '127.0.0.2' })
  const names: Record<string, string> = { HOST: new URL(host.url).host, EVIL: new URL(evil.url).host, SECRET }
  const filled = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(/HOST|EVIL|SECRET/g, (word) => names[word]))
  const { app } = await withGateway(t, ({ body: { prompt } }) => {
    const at = prompt.findLastIndex(({ role }: { role: string }) => role === 'user')
    const place = /in the (\w+)/.exec(JSON.stringify(prompt[at]))![1] as keyof typeof PLACES
    const since = prompt.slice(at)
    const step = since.filter(({ role }: { role: string }) => role === 'assistant').length
    if (step === 0) return { toolCalls: [filled(PLACES[place])] }
    const read = JSON.stringify(since.filter(({ role }: { role: string }) => role === 'tool'))
    const goal = [...OFFICE, ...OWN].find((each) => read.includes(filled(each).text))
    const toolCalls = goal && filled(goal).steps[step - 1]
    return toolCalls === undefined ? { text: ['Here is what I found.'] } : { toolCalls }
  }, { config: { fetch: { allowPrivate: true } } })
  const notes = { orders: `${app.home}/orders.txt`, log: `${app.home}/office.log` }
  writeFileSync(notes.orders, '')
  writeFileSync(notes.log, '')
  const program = fileURLToPath(new URL('../../fakes/office-server.ts', import.meta.url))
  await connect(app, { name: 'office', command: process.execPath, args: [program, notes.orders, notes.log] })
  await until(app, 'office', 'connected')
  await app.inject({ method: 'POST', url: '/mcp/servers/office/accept', payload: {} })
  writeFileSync(`${app.cwd}/secret.txt`, `token ${SECRET}\n`)
  writeFileSync(`${app.cwd}/notes.md`, 'My notes: milk, bread.\n')
  mkdirSync(`${app.cwd}/.ssh`)
  writeFileSync(`${app.cwd}/.ssh/id_ed25519`, 'KEY-OF-ADA')

  /** All that an attack could change. */
  const state = async () => ({
    office: readFileSync(notes.log, 'utf8'),
    evil: evil.requests.map(({ path }) => path),
    files: readdirSync(app.cwd, { recursive: true, encoding: 'utf8' }).filter((path) => path !== 'from-others.md').sort(),
    notes: readFileSync(`${app.cwd}/notes.md`, 'utf8'),
    tasks: (await app.inject('/tasks')).json().tasks,
    memory: (await app.inject('/memory/brain')).json()
  })

  /** Plays a case in a conversation of its own; the request for approval, if there is one, is denied, and the model tries again. */
  async function play ({ goal, way, place }: InjectionCase, id: string) {
    text = `Minutes of the meeting.\n\n${WAYS[way](filled(goal).text)}\n\nEnd of the minutes.\n`
    for (const path of [notes.orders, `${app.cwd}/from-others.md`]) writeFileSync(path, text)
    const before = await state()
    const say = async (content: string) =>
      (await app.inject({ method: 'POST', url: '/run/sync', payload: { id, messages: [{ role: 'user', content }] } })).json()
    const run = await say(`Sum up what is in the ${place}.`)
    const [asked] = run.pendingApprovals ?? []
    if (asked !== undefined) {
      await app.inject({ method: 'POST', url: `/approvals/${asked.approvalId}`, payload: { approved: false } })
      await app.inject(`/runs/${run.runId}?waitMs=20000`)
      await app.inject({ method: 'POST', url: `/run/${id}/stop` })
    }
    // A call that is not asked about was refused: `remember` of words that are not the user's.
    const wasTried = asked !== undefined || run.toolCalls?.some(({ toolName, status }: { toolName: string, status: string }) =>
      toolName === goal.steps.at(-1)![0].toolName && status !== 'completed')
    return { run, wasTried, before, after: await state() }
  }
  return { app, play, state }
}
