import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
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

/** The time that a box may add to a command, in milliseconds: in a folder with a repository, and in an empty one. */
const BAR = 30
/**
 * The limit, in milliseconds, for what a box adds in large folders: the time that a box took on the same computer before all folders were
 * compared.
 */
const LARGE_BAR = 500
const MANY_FILES = 100_000
const REPOSITORIES = 300

/** The folders in which a command runs, and the time that the box may add there, in milliseconds. */
const FOLDERS: Array<{ what: string, bar: number, lay: (folder: string) => void }> = [
  { what: 'what a box adds to a command', bar: BAR, lay: (folder) => void execFileSync('git', ['init', '-q', folder]) },
  { what: 'the same, in an empty folder', bar: BAR, lay () {} },
  {
    what: `the same, in a folder of ${MANY_FILES.toLocaleString('en')} files`,
    bar: LARGE_BAR,
    lay (folder) {
      for (let n = 0; n < MANY_FILES / 100; n++) {
        const inner = join(folder, `part${n % 30}`, `sub${n}`)
        mkdirSync(inner, { recursive: true })
        for (let file = 0; file < 100; file++) writeFileSync(join(inner, `file${file}.js`), '')
      }
    }
  },
  {
    what: `the same, with ${REPOSITORIES} nested repositories`,
    bar: LARGE_BAR,
    lay (folder) {
      for (let n = 0; n < REPOSITORIES; n++) execFileSync('git', ['init', '-q', join(folder, `repository${n}`)])
    }
  }
]

/** Compares a command in a box with the same command outside, alternately, in several folders. */
export async function boxedCommand ({ times }: Context): Promise<Row[]> {
  const rows: Row[] = []
  for (const { what, bar, lay } of FOLDERS) {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'local-agent-bench-')))
    try {
      lay(cwd)
      const row = await measureIn(cwd, times(bar === BAR ? 60 : 12))
      if (row !== undefined) rows.push({ what, unit: 'ms', bar, ...row, pass: row.service <= bar })
    } finally {
      rmSync(cwd, { recursive: true, force: true })
    }
  }
  return rows
}

async function measureIn (cwd: string, times: number): Promise<{ floor: number, service: number } | undefined> {
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
  if ((await sandbox.find()).is === 'none') return undefined
  const outside: number[] = []
  const boxed: number[] = []
  for (let n = 0; n < times; n++) {
    outside.push(await measure({ command: 'true', outside: true }))
    boxed.push(await measure({ command: 'true' }))
  }
  return { floor: median(outside), service: median(boxed) - median(outside) }
}
