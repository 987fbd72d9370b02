import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { atEnd, type Ending } from '../harness/at-end.ts'

const STOP = '\x13'

/**
 * Runs a shell line in a session of its own on a new terminal, by script of util-linux. Undefined where there is none.
 */
export async function openTerminal (t: Ending, line: string, env: NodeJS.ProcessEnv) {
  if (process.platform !== 'linux') return undefined
  const child = spawn('script', ['-qfc', line, '/dev/null'], { env: { ...env, PATH: process.env.PATH, SHELL: '/bin/sh' }, stdio: 'pipe' })
  const exited = once(child, 'exit')
  atEnd(t, () => {
    child.kill('SIGKILL')
    return exited
  })
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    shown += text
  })
  child.stdin.on('error', () => {})
  return {
    /** Resolves when what runs on it has ended. */
    exited,
    /** What it has shown so far. */
    shown: () => shown,
    /** Resolves once it shows that. */
    async shows (wanted: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const found = wanted.exec(shown)
        if (found) return found
        await Promise.race([
          once(child.stdout, 'data'),
          exited.then(() => {
            throw new Error(`it ended, showing ${shown.slice(-2_000)}`)
          })
        ])
      }
    },
    /** As with control-S: it takes no more output. */
    stop: () => child.stdin.write(STOP),
    /** It is gone, as when its window is closed. */
    async hangUp () {
      child.kill('SIGKILL')
      await exited
    }
  }
}
