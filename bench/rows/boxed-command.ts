import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../services/lib/clock.ts'
import { createSandbox } from '../../services/sandbox/sandbox.ts'
import { createBackgroundCommands } from '../../services/tools/shell/background-commands.ts'
import { createRunCommand } from '../../services/tools/shell/run-command.ts'
import { withFolder } from '../../services/workspace/open-folder.ts'
import { createPathPolicy } from '../../services/tools/path-policy.ts'
import type { Row } from '../compare.ts'
import { median } from '../stats.ts'
import type { Context } from './context.ts'

/** The milliseconds that a box may add to a command. */
const BAR = 30

/** Compares a command in a box with the same outside, in a folder with a repository; they take turns. */
export async function boxedCommand ({ times }: Context): Promise<Row[]> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'local-agent-bench-')))
  const environment = () => process.env
  const sandbox = createSandbox({
    ...{ clock: systemClock, ownHome: '/no/such/folder', environment, mode: () => 'auto', withFolder },
    lookUp: async () => []
  })
  const paths = createPathPolicy({ workspace: cwd, roots: [], forbidden: '/no/such/folder' })
  const background = createBackgroundCommands({
    ...{ clock: systemClock, log: console, boxes: sandbox },
    ownerOf: () => undefined,
    isActive: () => false
  })
  const command = createRunCommand({ paths, clock: systemClock, environment, sandbox, background, allowedOrigins: () => [] })
  const measure = async (input: { command: string, outside?: boolean }) => {
    const started = performance.now()
    const { signal } = new AbortController()
    await command.execute(input, { signal, runId: 'run', attempt: 1, callId: 'call', cwd, givenCwd: cwd })
    return performance.now() - started
  }
  try {
    execFileSync('git', ['init', '-q', cwd])
    if ((await sandbox.find()).is === 'none') return []
    const outside: number[] = []
    const boxed: number[] = []
    for (let n = 0; n < times(60); n++) {
      outside.push(await measure({ command: 'true', outside: true }))
      boxed.push(await measure({ command: 'true' }))
    }
    const added = median(boxed) - median(outside)
    return [{
      what: 'what a box adds to a command',
      unit: 'ms',
      bar: BAR,
      floor: median(outside),
      service: added,
      pass: added <= BAR
    }]
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}
