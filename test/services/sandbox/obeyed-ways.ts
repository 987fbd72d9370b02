import { execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUBBLEWRAP } from '../../harness/boxes.ts'
import { build } from '../tools/helper.ts'

/**
 * A way by which a command may have the user run something later: scripts of bash, of which `inside` alone runs in the box. Several of them
 * are commands one after the other. `beside` is a command in the background that starts before these and is stopped after them.
 */
export interface ObeyedWay {
  name: string
  before?: string
  beside?: string
  inside: string | string[]
  after: string
}

/** The user's own scripts may fail: what they were to run is tried anyway. */
const runAsUser = (script: string, cwd: string, env: NodeJS.ProcessEnv) => new Promise<void>((resolve) => {
  execFile('bash', ['-c', script], { cwd, env, timeout: 30_000 }, () => resolve())
})

/** Starts a command in the background; returns what stops it. */
async function startBeside (command: string, { output, runOutside }: {
  output: ReturnType<typeof build>['output'], runOutside?: { cwd: string, env: NodeJS.ProcessEnv }
}): Promise<() => Promise<void>> {
  if (runOutside) {
    const { pid } = spawn('bash', ['-c', command], { ...runOutside, detached: true, stdio: 'ignore' })
    return async () => void (pid !== undefined && process.kill(-pid, 'SIGKILL'))
  }
  const { commandId } = await output('runCommand', { command, background: true })
  return async () => void await output('stopCommand', { commandId })
}

/** Tries the ways, each in a repository of its own; returns the names of those that led the user to run something. */
export async function tryWays (ways: readonly ObeyedWay[], { isBoxed = true } = {}): Promise<string[]> {
  const tripped: string[] = []
  for (const { name, before = '', beside, inside, after } of ways) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'obeyed-way-')))
    try {
      const [work, home, trip] = ['work', 'home', 'outside/trip'].map((path) => join(base, path))
      for (const folder of ['work', 'home', 'outside']) mkdirSync(join(base, folder))
      const env = { PATH: process.env.PATH, HOME: home, TRIP: trip, LANG: 'C.UTF-8' }
      writeFileSync(join(work, 'file.txt'), 'one\n')
      const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
      for (const args of [['init', '-q', '-b', 'main'], ['add', '.'], [...identity, 'commit', '-qm', 'first']]) {
        execFileSync('git', args, { cwd: work, env })
      }
      await runAsUser(before, work, env)
      rmSync(trip, { force: true })
      const { output } = build({ workspace: work, environment: env, boxes: BUBBLEWRAP })
      const stop = beside && await startBeside(`export TRIP='${trip}'\n${beside}`, {
        output, ...(!isBoxed && { runOutside: { cwd: work, env } })
      })
      for (const script of [inside].flat()) {
        // A command that is refused leaves nothing.
        if (isBoxed) await output('runCommand', { command: `export TRIP='${trip}'\n${script}` }).catch(() => {})
        else await runAsUser(script, work, env)
      }
      if (stop) await stop()
      rmSync(trip, { force: true })
      await runAsUser(after, work, env)
      if (existsSync(trip)) tripped.push(name)
    } finally {
      rmSync(base, { recursive: true, force: true })
    }
  }
  return tripped
}
