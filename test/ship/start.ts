import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface Started {
  url: string
  pid: number
  /** Ends it and returns its exit code. */
  stop(): Promise<number | null>
}

/** Starts an installed service with a free port and waits for its ready line. With `uid`, as that user. */
export async function start ([command, ...args]: string[], { home, cwd, uid, env }: {
  home: string
  cwd: string
  uid?: number
  env?: NodeJS.ProcessEnv
}): Promise<Started> {
  const child = spawn(command, [...args, '--port', '0'], {
    cwd,
    env: { PATH: process.env.PATH, LOCAL_AGENT_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...uid === undefined ? {} : { uid, gid: uid }
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text
  })
  const exited = once(child, 'close')
  const lines = createInterface({ input: child.stdout })
  const line = await Promise.race([once(lines, 'line').then(([line]) => line), exited.then(() => undefined)])
  if (line === undefined) throw new Error(`${command} did not start: ${log}`)
  const { url, pid } = JSON.parse(line)
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('close', () => process.off('exit', kill))
  return {
    url,
    pid,
    async stop () {
      child.kill('SIGTERM')
      const [code] = await exited
      return code
    }
  }
}
