import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import { operations, type Made, type Operation } from '../fuzz/operations.ts'
import { startService, type Sidecar } from '../harness/sidecar.ts'

const TOKEN = 'token-canary-4711'
const KEY = 'gateway-key-canary-4711'
const SOURCES = fileURLToPath(new URL('../..', import.meta.url))
/** No answer takes so long; what does, hangs. */
const HANG_MS = 60_000
/** What outlives a restart, and broken requests. */
const KEPT = ['/memory/brain', '/approvals?limit=500', '/providers', '/config']

/** So many of the ids that answers name are used in paths. */
const IDS = 100

interface Answer {
  status: number
  headers: IncomingMessage['headers']
  text: string
}

/**
 * What is erased is gone by right (test/faults/erase-kill.ts), and a configuration by chance could name any file for the log. Bodies that
 * the schema refuses are sent to both.
 */
const NOT_BY_CHANCE = ['DELETE /data', 'PATCH /config']

/** Drives every operation with so many requests each; the seed is printed, and SEED takes one. */
export function attackInput (each: number) {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)

  t.test(`every operation keeps its word whatever it is sent (SEED=${seed})`, async (t) => {
    const { service, send, home, restart } = await start(t)
    const ids: string[] = []
    for (const operation of operations().filter(({ name }) => !NOT_BY_CHANCE.includes(name))) {
      await fc.assert(
        fc.asyncProperty(operation.requests(() => ids), async (made) => {
          const answer = await send(made)
          checkAnswer(operation, answer, home)
          if (answer.status < 300) ids.push(...named(answer.text))
          ids.splice(0, ids.length - IDS)
        }),
        { numRuns: each, seed, endOnFailure: true }
      )
      t.pass(operation.name)
    }
    t.equal(service.child.exitCode, null, 'it never ended')
    const before = await send.all(KEPT)
    t.notMatch(service.log(), /"statusCode":500|ERR_INTERNAL|unhandled/i)
    const again = await restart()
    t.same(await again.all(KEPT), before, 'all that was kept is there after a restart')
  })

  t.test(`a body that its schema refuses is a 400 and changes nothing (SEED=${seed})`, async (t) => {
    const { send } = await start(t)
    await send({
      method: 'POST',
      path: '/memory/brain/fact',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"fact":"Likes tea"}')
    })
    const before = await send.all(KEPT)
    for (const { name, refused } of operations()) {
      if (!refused) continue
      await fc.assert(
        fc.asyncProperty(refused, async (made) => {
          const { status, text } = await send(made)
          // An id that is none, and a body that is none, are both a 400; an unknown one may be found out first, and an address of 16 KiB.
          const isLong = made.path.length > 16_000
          if (![400, 404, ...isLong ? [431] : []].includes(status)) throw new Error(`${status} ${text.slice(0, 500)}`)
        }),
        { numRuns: each, seed, endOnFailure: true }
      )
      t.pass(name)
    }
    t.same(await send.all(KEPT), before)
  })
}

const named = (text: string) => [...text.matchAll(/"(?:\w*[iI]d|name)":"([^"]{1,128})"/g)].slice(0, 20).map(([, id]) => id)

async function start (t: Test) {
  const dir = t.testdir({ home: {}, work: {} })
  const gateway = await startFakeGateway()
  t.teardown(() => gateway.close())
  // Without programs to find, nothing that is asked for by chance can run.
  const options = {
    home: `${dir}/home`,
    cwd: `${dir}/work`,
    env: { PATH: '/nowhere', LOCAL_AGENT_TOKEN: TOKEN, AI_GATEWAY_API_KEY: KEY, AI_GATEWAY_BASE_URL: gateway.url }
  }
  const service = await startService(t, options)
  return {
    service,
    home: options.home,
    send: sender(t, service),
    async restart () {
      const ended = await service.stop()
      t.match(ended, { code: 0 })
      return sender(t, await startService(t, options))
    }
  }
}

function sender (t: Test, { url }: Sidecar) {
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  async function send ({ method, path, headers, body }: Made): Promise<Answer> {
    const sent = request(url, {
      agent,
      method,
      path,
      headers: { authorization: `Bearer ${TOKEN}`, ...headers, ...(body && { 'content-length': body.length }) },
      signal: AbortSignal.timeout(HANG_MS)
    })
    sent.end(body)
    const [response] = await once(sent, 'response') as [IncomingMessage]
    let text = ''
    // Streams that are only followed may go on for ever.
    if (method === 'GET' && /event-stream/.test(response.headers['content-type'] ?? '')) sent.destroy()
    else for await (const chunk of response.setEncoding('utf8')) text += chunk
    return { status: response.statusCode!, headers: response.headers, text }
  }
  const all = (paths: string[]) =>
    Promise.all(paths.map(async (path) => JSON.parse((await send({ method: 'GET', path, headers: {} })).text)))
  return Object.assign(send, { all })
}

/** Errors of requests that reach no route. */
const UNROUTED = ['ERR_BAD_REQUEST', 'ERR_NOT_FOUND', 'ERR_METHOD_NOT_ALLOWED']

const isSentence = (text: unknown) => typeof text === 'string' && /\S[.!?…]$/.test(text)

const isError = ({ error, code, statusCode }: Record<string, unknown>, status: number) =>
  isSentence(error) && /^ERR_[A-Z_]+$/.test(String(code)) && statusCode === status

/** Whether it is an error as OpenAI's API has it. */
function isChatError ({ error, ...more }: Record<string, any>): boolean {
  return Object.keys(more).length === 0 && Object.keys(error).sort().join() === 'code,message,param,type' && isSentence(error.message) &&
    /^ERR_[A-Z_]+$|^[a-z_]+$/.test(error.code)
}

/** Throws when an answer is not what the document says, or says what is nobody's business. */
function checkAnswer ({ name, statuses, wrongWith }: Operation, { status, headers, text }: Answer, home: string) {
  const fail = (why: string) => {
    throw new Error(`${why}: ${status} ${text.slice(0, 500)}`)
  }
  if (status === 500 || status === 503) fail('it failed')
  for (const secret of [TOKEN, KEY]) if (text.includes(secret)) fail('a secret')
  if (/\n\s+at .+:\d+:\d+/.test(text)) fail('a stack')
  const isJson = /^application\/json/.test(headers['content-type'] ?? '')
  const isChat = name.includes(' /v1/')
  let isUnrouted = false
  if (status >= 400) {
    // What a path names may be no path of ours at all: then the answer is that of any unknown one.
    if (!statuses.includes(String(status)) && ![404, 405, 415, 431].includes(status)) fail('not documented')
    if (!isJson) fail('no JSON')
    const error = JSON.parse(text)
    isUnrouted = isChat && UNROUTED.includes(error.code)
    if (isChat && !isUnrouted ? !isChatError(error) : !isError(error, status)) fail('another shape')
    for (const path of [SOURCES, home, 'node_modules']) if (text.includes(path)) fail('a path of the machine')
  }
  const wrong = isJson && !isUnrouted ? wrongWith(status, JSON.parse(text)) : undefined
  if (wrong) fail(wrong)
}
