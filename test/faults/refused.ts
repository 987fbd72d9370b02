import { spawnSync } from 'node:child_process'
import type { Test } from 'tap'
import { startService } from '../harness/sidecar.ts'
import { memoryOf } from './load.ts'
import { clients, type Answer, type Upload } from './refused-clients.ts'

const PYTHON = 'Python urllib'
const hasPython = spawnSync('python3', ['--version']).status === 0
const TOKEN = 'token'
const JSON_BODY = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }

/** A request of each refusal: what makes the service refuse it is known before its body has arrived. */
const refusals: Record<number, { method?: string, path?: string, headers?: Record<string, string> }> = {
  401: { headers: { 'content-type': 'application/json' } },
  403: { headers: { ...JSON_BODY, origin: 'https://evil.example' } },
  404: { path: '/nowhere' },
  405: { method: 'PUT' },
  413: { path: '/memory/brain/fact' },
  415: { headers: { ...JSON_BODY, 'content-type': 'text/plain' } }
}

interface Plan {
  statuses: number[]
  megabytes: number[]
  times: number
  load: number
}

/** Sends uploads that are refused, from every client side by side, and expects the answer to each. */
export async function refuseUploads (t: Test, { statuses, megabytes, times, load }: Plan) {
  const dir = t.testdir({ home: {}, work: {} })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env: { LOCAL_AGENT_TOKEN: TOKEN } })
  const over = new AbortController()
  const loaded = Array.from({ length: load }, () => keepBusy(service.url, over.signal))

  await Promise.all(
    Object.entries(clients).map(async ([name, send]) => {
      if (name === PYTHON && !hasPython) return t.pass(`${name}: python3 is not installed`, { skip: true })
      for (const status of statuses) {
        for (const size of megabytes) {
          const { method = 'POST', path = '/run', headers = JSON_BODY } = refusals[status]
          const upload: Omit<Upload, 'chunked'> = { url: service.url + path, method, headers, size: size * 1_000_000 }
          const answers = [
            ...await send({ ...upload, chunked: false }, Math.ceil(times / 2)),
            ...await send({ ...upload, chunked: true }, Math.floor(times / 2))
          ]
          const heard = answers.filter((answer) => isRefusal(answer, status))
          const others = new Set(answers.filter((answer) => !isRefusal(answer, status)).map(String))
          t.equal(heard.length, times, `${name}: ${status} for ${size} MB`, { others: [...others].slice(0, 5) })
        }
      }
      return undefined
    })
  )
  over.abort()
  await Promise.all(loaded)
  t.match(await (await fetch(`${service.url}/health`)).json(), { status: 'ok' })
  t.match(await service.stop(), { code: 0 })
}

/** So many uploads of 12 MB at once, all refused; gives the MiB by which the service has grown at most meanwhile. */
export async function refuseAtOnce (t: Test, uploads: number): Promise<number> {
  const dir = t.testdir({ home: {}, work: {} })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  const upload = (chunked: boolean) =>
    clients['node http without keep-alive']({
      url: `${service.url}/nowhere`,
      method: 'POST',
      headers: JSON_BODY,
      size: 12_000_000,
      chunked
    }, 1)
  await upload(true)
  const before = memoryOf(service.pid)
  let most = before
  const sampling = setInterval(() => {
    most = Math.max(most, memoryOf(service.pid))
  }, 5)
  const answers = await Promise.all(Array.from({ length: uploads }, (_, n) => upload(n % 2 === 0)))
  clearInterval(sampling)
  t.equal(answers.flat().filter((answer) => isRefusal(answer, 404)).length, uploads)
  t.match(await service.stop(), { code: 0 })
  const grown = (most - before) / 1024 / 1024
  t.comment(`${uploads} refused uploads of 12 MB at once: ${grown.toFixed(0)} MiB more at most`)
  return grown
}

function isRefusal ([status, body]: Answer, expected: number) {
  if (status !== expected) return false
  const { error, code, statusCode } = JSON.parse(body)
  return typeof error === 'string' && /^ERR_/.test(code) && statusCode === expected
}

/** Makes runs, one after the other. */
async function keepBusy (url: string, signal: AbortSignal) {
  while (!signal.aborted) {
    const response = await fetch(`${url}/run`, {
      method: 'POST',
      headers: JSON_BODY,
      body: JSON.stringify({ messages: [{ role: 'user', content: 'list the files here' }] })
    })
    await response.text()
  }
}
