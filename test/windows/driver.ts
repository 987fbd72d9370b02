// Runs in Node for Windows, as the app that starts the service: pipes work between programs of Wine, not from outside. It does what the
// tests ask by HTTP. Its arguments: the file for its address, and the service.
import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

const [addressFile, server] = process.argv.slice(2)
let service: { child: ChildProcessWithoutNullStreams, exited: Promise<unknown>, log: string } | undefined
let held: number | undefined
let program: { child: ChildProcessWithoutNullStreams, exited: Promise<unknown>, lines: string[] } | undefined

interface Start {
  env: NodeJS.ProcessEnv
  cwd: string
  command?: string
  args?: string[]
}

async function start ({ env, cwd, command = process.execPath, args = [server] }: Start) {
  const child = spawn(command, [...args, '--port', '0', '--stdin'], { cwd, env: { ...process.env, ...env }, windowsHide: true })
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

function isThere (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const ACTIONS: Record<string, (input: any) => unknown> = {
  start,
  /** As a crash ends it. */
  kill: () => end((child) => child.kill('SIGKILL')),
  /** As an app ends it. */
  stop: () => end((child) => child.stdin.end()),
  log: () => ({ log: service?.log }),
  pid: () => ({ pid: process.pid }),
  run: ({ command, args, env }: { command: string, args: string[], env?: object }) => new Promise((resolve) => {
    execFile(command, args, { env: { ...process.env, ...env }, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : error.code ?? error.signal, stdout, stderr })
    })
  }),
  /** Starts a program that is talked to in lines; `hear` returns what it has said since, or waits for a line. */
  open: ({ command, args, env }: { command: string, args: string[], env?: object }) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, windowsHide: true })
    const mine = { child, exited: once(child, 'close'), lines: [] as string[] }
    createInterface({ input: child.stdout }).on('line', (line) => mine.lines.push(line))
    child.stdin.on('error', () => {})
    program = mine
    return { pid: child.pid }
  },
  say: ({ line }: { line: string }) => {
    program!.child.stdin.write(`${line}\n`)
    return {}
  },
  hear: async () => {
    for (let n = 0; n < 100 && program!.lines.length === 0 && program!.child.exitCode === null; n++) await wait(50)
    return { lines: program!.lines.splice(0), code: program!.child.exitCode }
  },
  shut: async ({ isKilled }: { isKilled?: boolean }) => {
    if (isKilled) program!.child.kill('SIGKILL')
    else program!.child.stdin.end()
    await program!.exited
    return { lines: program!.lines.splice(0), code: program!.child.exitCode }
  },
  /** Whether processes of these ids are there. */
  alive: ({ pids }: { pids: number[] }) => ({ alive: pids.filter(isThere) }),
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
