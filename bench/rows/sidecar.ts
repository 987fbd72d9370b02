import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROOT } from '../../scripts/bundle.ts'
import { byTurns, ratioRow } from '../compare.ts'
import { createHome, freePort } from '../subjects.ts'
import { untilHealthy } from './cold-start.ts'
import type { Context } from './context.ts'

/** The wait at the first start, in milliseconds: the service stores its bytecode after 3 s. */
const FIRST_MS = 5_000
const NAMES = ['npm start', 'node', 'sidecar'] as const
type Name = typeof NAMES[number]

/** Compares the start of the sidecar archive's executable with that of the same build by `npm start` and by Node alone. */
export async function sidecarStart ({ times }: Context) {
  execFileSync(process.execPath, [join(ROOT, 'scripts/sidecar.ts')], { stdio: 'ignore' })
  const made = join(ROOT, 'dist/sidecar')
  const [folder] = readdirSync(made, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const commands: Record<Name, string[]> = {
    'npm start': ['npm', 'start', '--silent', '--'],
    node: [process.execPath, join(ROOT, 'dist/server.js')],
    sidecar: [join(made, folder.name, 'local-agent')]
  }
  const homes = Object.fromEntries(NAMES.map((name) => [name, createHome({})])) as Record<Name, ReturnType<typeof createHome>>
  const start = async (name: Name, livesMs = 700) => {
    const port = await freePort()
    const [command, ...args] = commands[name]
    const began = performance.now()
    const child = spawn(command, [...args, '--port', `${port}`], {
      cwd: ROOT,
      stdio: 'ignore',
      // npm starts child processes, which must be ended with npm.
      detached: true,
      env: { PATH: process.env.PATH, HOME: homes[name].dir, LOCAL_AGENT_HOME: join(homes[name].dir, 'home') }
    })
    const exited = once(child, 'exit')
    await untilHealthy(child, port)
    const took = performance.now() - began
    await sleep(livesMs)
    process.kill(-child.pid!, 'SIGTERM')
    await exited
    return took
  }
  try {
    for (const name of NAMES) for (let warm = 0; warm < 3; warm++) await start(name, warm === 0 ? FIRST_MS : undefined)
    const figures = await byTurns(times(15), start, NAMES)
    const against = (floor: Name, bar: number) =>
      ratioRow(
        { what: `spawn to /health 200, sidecar to ${floor}`, unit: 'ms', bar },
        figures.map((figure) => ({ floor: figure[floor], service: figure.sidecar }))
      )
    return [against('npm start', 1), against('node', 1.1)]
  } finally {
    for (const { remove } of Object.values(homes)) remove()
  }
}
