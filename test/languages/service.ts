import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../harness/source-tree.ts'
import { start, type Started } from '../ship/start.ts'
import { scratchFolder } from './tools.ts'

export interface Place extends Started {
  home: string
  cwd: string
}

export const SERVER = join(ROOT, 'dist/server.js')

/** Starts the built service with a home and a working folder of its own. */
export async function startService (config: object = {}, env: NodeJS.ProcessEnv = {}): Promise<Place> {
  const dir = scratchFolder()
  const [home, cwd] = ['home', 'work'].map((name) => join(dir, name))
  for (const folder of [home, cwd]) mkdirSync(folder)
  writeFileSync(join(home, 'config.json'), JSON.stringify(config))
  const started = await start([process.execPath, SERVER], { home, cwd, env })
  return { ...started, home, cwd }
}

/** Writes a program `local-agent` into a folder, which starts the built service. */
export function writeProgram (dir: string): void {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'local-agent'), `#!/bin/sh\nexec '${process.execPath}' '${SERVER}' "$@"\n`, { mode: 0o755 })
}
