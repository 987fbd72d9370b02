// Runs in Node for Windows, as the app that starts the service: pipes work between programs of Wine, not from outside. It does what the
// tests ask by HTTP. Its arguments: the file for its address, and the service.
import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'

const [addressFile, server] = process.argv.slice(2)
let service: { child: ChildProcessWithoutNullStreams, exited: Promise<unknown>, log: string } | undefined
let held: number | undefined

async function start ({ env, cwd }: { env: NodeJS.ProcessEnv, cwd: string }) {
  const child = spawn(process.execPath, [server, '--port', '0', '--stdin'], { cwd, env: { ...process.env, ...env }, windowsHide: true })
  const mine = { child, exited: once(child, 'close'), log: '' }
  child.stderr.setEncoding('utf8').on('data', (text) => (mine.log += text))
  child.stdin.on('error', () => {}).write('{}\n')
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line)),
    mine.exited.then(() => undefined)
  ])
  if (line === undefined) return { code: child.exitCode, log: mine.log }
  service = mine
  return { ready: JSON.parse(line) }
}

async function end (how: (child: ChildProcessWithoutNullStreams) => unknown) {
  const { child, exited } = service!
  how(child)
  await exited
  return { code: child.exitCode, log: service!.log }
}

const ACTIONS: Record<string, (input: any) => unknown> = {
  start,
  /** As a crash ends it. */
  kill: () => end((child) => child.kill('SIGKILL')),
  /** As an app ends it. */
  stop: () => end((child) => child.stdin.end()),
  log: () => ({ log: service?.log }),
  pid: () => ({ pid: process.pid }),
  run: ({ command, args }: { command: string, args: string[] }) => {
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
    return { status, stdout, stderr }
  },
  /** Keeps a file open, as a viewer does. */
  hold: ({ path }: { path: string }) => {
    held = openSync(path, 'r')
    return {}
  },
  letGo: () => {
    closeSync(held!)
    return {}
  }
}

const control = createServer((request, response) => {
  json(request)
    .then(async (input: any) => ACTIONS[input.action](input))
    .then((output) => response.end(JSON.stringify(output)), (error) => response.writeHead(500).end(String(error?.stack ?? error)))
}).listen(0, '127.0.0.1')
await once(control, 'listening')
writeFileSync(addressFile, `http://127.0.0.1:${(control.address() as AddressInfo).port}`)
