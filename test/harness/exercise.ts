import { strictEqual, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** The configuration that `exercise` requires. */
export const EXERCISED = { analysis: false, permissions: { runCommand: 'allow' }, fetch: { allowPrivate: true } }

/** The longest wait for the file of a task, in milliseconds. */
const TASK_MS = 30_000

const PAGE = '<h1>From elsewhere</h1><p>As markdown.</p>'

async function post (url: string, body: object): Promise<any> {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const text = await answer.text()
  ok(answer.ok, `${url} answered ${answer.status}: ${text}`)
  return text.startsWith('{') ? JSON.parse(text) : text
}

const asking = (content: string, cwd: string) => ({ messages: [{ role: 'user', content }], context: { cwd } })

/** Runs the agent and returns the result. */
export const ask = (url: string, content: string, cwd: string): Promise<any> => post(`${url}/run/sync`, asking(content, cwd))

/**
 * Makes the service at `url` use everything that it loads or starts besides its bundle: a run with an approval, a guarded child process,
 * the transform worker, a task's worker, and the pages /docs and /console. Throws if any of these fails. `cwd` is the working folder.
 */
export async function exercise (url: string, cwd: string, name = 'notes') {
  const text = async (path: string) => (await fetch(`${url}${path}`)).text()

  const stream: string = await post(`${url}/run`, asking(`write "hello" to ${name}.txt`, cwd))
  const approvalId = /"approvalId":"([^"]+)"/.exec(stream)?.[1]
  ok(!existsSync(`${cwd}/${name}.txt`), 'nothing is written unasked')
  await post(`${url}/approvals/${approvalId}`, { approved: true })
  await until(() => existsSync(`${cwd}/${name}.txt`))
  strictEqual(readFileSync(`${cwd}/${name}.txt`, 'utf8'), 'hello')

  const printFolder = process.platform === 'win32' ? 'run `cd`' : 'run `pwd`'
  ok(JSON.stringify(await ask(url, printFolder, cwd)).includes(JSON.stringify(cwd).slice(1, -1)))

  const page = createServer((socket) =>
    socket.once('data', () => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: ${PAGE.length}\r\nconnection: close\r\n\r\n`
      socket.on('error', () => {}).end(head + PAGE)
    })
  ).listen(0, '127.0.0.1')
  await once(page, 'listening')
  match(JSON.stringify(await ask(url, `fetch http://127.0.0.1:${(page.address() as AddressInfo).port}/`, cwd)), /# From elsewhere/)
  page.close()

  const goal = `run \`echo done > ${name}-by-a-task.txt\``
  const { id } = await post(`${url}/tasks`, { goal, approval: { mode: 'never' }, cwd })
  await post(`${url}/tasks/${id}/start`, {})
  await until(() => existsSync(`${cwd}/${name}-by-a-task.txt`))

  match(await text('/docs'), /swagger-ui/)
  match(await text('/docs/swagger-ui.css'), /\.swagger-ui/)
  match(await text('/docs/swagger-ui-bundle.js'), /SwaggerUIBundle/)
  match(await text('/openapi.json'), /"openapi":\s*"3/)
  const files = [...(await text('/console')).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path)
  ok(files.length > 2)
  for (const path of files) strictEqual((await fetch(`${url}${path}`)).status, 200, path)
}

/** Waits until `isSo` returns true; throws after half a minute. */
export async function until (isSo: () => boolean) {
  for (const end = performance.now() + TASK_MS; !isSo();) {
    ok(performance.now() < end, 'it does not happen')
    await wait(20)
  }
}

/** Overwrites every file of a build with content that does not work. */
export function spoil (dist: string) {
  for (const entry of readdirSync(dist, { withFileTypes: true })) {
    if (!entry.isFile()) continue
    rmSync(`${dist}/${entry.name}`)
    writeFileSync(`${dist}/${entry.name}`, 'throw new Error("this is of another version")')
  }
}
