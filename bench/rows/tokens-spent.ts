import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startFakeGateway, type GatewayRequest } from '../../test/fakes/gateway.ts'
import type { Plan } from '../../test/fakes/gateway-plan.ts'
import { createHome, startSubject } from '../subjects.ts'
import type { Row } from '../compare.ts'

/** The number of sent characters that providers count as one token. */
const CHARACTERS = 4
const TOOLS = 5
const ANSWER = 'It is done, and I have checked it.'
const TITLE = 'A greeting'
const DONE = { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [] }
const OBJECTS: Record<string, object> = {
  analysis: { complexity: 'simple', goal: 'greet', thinking: 'The user says hello.', qualityCriteria: [] },
  title: { title: TITLE },
  judgement: DONE
}

type Reply = (request: GatewayRequest, nth: number) => Plan

/** Counts the model calls of one request, and all tokens that are sent in them, with the default settings. */
async function spent (reply: Reply, request: (url: string) => Promise<void>): Promise<{ calls: number, tokens: number }> {
  let steps = 0
  const gateway = await startFakeGateway({
    reply: (request) => request.structured === undefined ? reply(request, steps++) : { object: OBJECTS[request.structured] ?? DONE }
  })
  const home = createHome({ model: 'anthropic/claude-sonnet-5.5', analysis: true })
  for (let n = 0; n < TOOLS; n++) writeFileSync(join(home.dir, `work/file-${n}.txt`), `The value of ${n} is ${n * n}.`)
  const { port, stop } = await startSubject('service', { dir: home.dir, url: gateway.url })
  try {
    await request(`http://127.0.0.1:${port}`)
    const characters = gateway.requests.reduce((sum, { body }) => {
      const { prompt, tools = [], responseFormat = {} } = body
      return sum + [prompt, tools, responseFormat.schema ?? {}].reduce((all, part) => all + JSON.stringify(part).length, 0)
    }, 0)
    return { calls: gateway.requests.length, tokens: Math.round(characters / CHARACTERS) }
  } finally {
    await Promise.all([stop(), gateway.close()])
    home.remove()
  }
}

const post = (url: string, body?: object) =>
  fetch(url, { method: 'POST', ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }) })

const say = (content: string) => async (url: string) => {
  await (await post(`${url}/run`, { id: 'bench', messages: [{ role: 'user', content }] })).text()
  // The title is requested after the answer.
  for (let tries = 0; tries < 100; tries++) {
    const { title } = await (await fetch(`${url}/threads/bench`)).json() as { title?: string }
    if (title === TITLE) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the conversation got no title')
}

async function runTask (url: string): Promise<void> {
  const { id } = await (await post(`${url}/tasks`, { goal: 'Add the values', plan: { phases: [{ description: 'add them' }] } })).json() as {
    id: string
  }
  await post(`${url}/tasks/${id}/start`)
  for (let tries = 0; tries < 200; tries++) {
    const { runs } = await (await fetch(`${url}/tasks/${id}/runs`)).json() as { runs: Array<{ status: string }> }
    if (runs[0] !== undefined && !['queued', 'running'].includes(runs[0].status)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the run of the task did not end')
}

const readAll: Reply = (_request, nth) =>
  nth < TOOLS ? { toolCalls: [{ toolName: 'readFile', input: { path: `file-${nth}.txt` } }] } : { text: ANSWER }

/** Counts model calls and tokens for a greeting, for a job with five sequential tool calls, and for a task run with the same job. */
export async function tokensSpent (): Promise<Row[]> {
  const works: Array<[what: string, bar: number, reply: Reply, request: (url: string) => Promise<void>]> = [
    ['a greeting', 3_000, () => ({ text: 'Hello!' }), say('hi')],
    ['a job of five calls', 20_000, readAll, say('Add up the values in my five files.')],
    ['a task run of five calls', 20_000, readAll, runTask]
  ]
  const rows: Row[] = []
  for (const [what, bar, reply, request] of works) {
    const { calls, tokens } = await spent(reply, request)
    rows.push({ what: `${what}: tokens sent, in ${calls} model calls`, unit: 'tokens', bar, service: tokens, pass: tokens <= bar })
  }
  return rows
}
