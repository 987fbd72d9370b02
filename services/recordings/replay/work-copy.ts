import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import type { Config } from '../../../schemas/config.ts'
import { linesOf, type Recording } from '../recording.ts'
import { mapTexts } from '../scrub.ts'

/** The folders of one replay, in a temporary folder. */
interface WorkCopy {
  /** The configuration folder of the service. */
  home: string
  /** The working folder of the run, with the recorded files. */
  cwd: string
  /** The recording with the paths of these folders instead of placeholders. */
  recording: Recording
  /** True if a path is in one of the folders of the copy. Nothing is written elsewhere, whatever a recording contains. */
  holds(path: string): boolean
  remove(): Promise<void>
}

/** The context window, in tokens, for a model whose window is not recorded. */
const LARGEST_WINDOW = 100_000_000
const FOLDER = /\{\{recorded:(cwd|workspace|home|root-\d+)\}\}/g

/**
 * Creates the folders of a replay and writes the recorded files as they were before the run. `config` is written
 * as the service's config.json.
 */
export async function makeWorkCopy (given: Recording, config: Config): Promise<WorkCopy> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'local-agent-test-')))
  const folder = (name: string) => join(root, name === 'cwd' ? 'work' : name === 'home' ? 'user' : name)
  const expanded = (text: string) => text.replace(FOLDER, (_all, name: string) => folder(name))
  const recording = mapTexts(given, expanded) as Recording
  const names = new Set(['cwd', ...[...JSON.stringify(given).matchAll(FOLDER)].map(([, name]) => name)])
  const home = join(root, 'service')
  for (const path of [home, ...[...names].map(folder)]) await mkdir(path, { recursive: true })
  const isBelow = (path: string, above: string) => {
    const way = relative(above, path)
    return way !== '' && way.split(sep, 1)[0] !== '..' && !isAbsolute(way)
  }
  const holds = (path: string) => [...names].some((name) => isBelow(path, folder(name)))
  for (const { path, before } of linesOf(recording, 'file')) {
    if (typeof before !== 'string' || !holds(path)) continue
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, before)
  }
  const workspace = names.has('workspace') ? folder('workspace') : folder('cwd')
  const roots = config.roots?.map(expanded).filter((path) => isBelow(path, root))
  await writeFile(join(home, 'config.json'), JSON.stringify({ ...config, workspace, ...roots && { roots } }))
  return { home, cwd: folder('cwd'), recording, holds, remove: () => rm(root, { recursive: true, force: true }) }
}

/**
 * Returns the settings of the service for a replay: the recorded ones, with titles and extraction off, because
 * these would start work beside the run.
 */
export const replayConfig = ({ header: { models, config } }: Recording): Config => ({
  ...config,
  ...{ model: models?.capable ?? 'recorded/model', models: { fast: models?.fast ?? models?.capable ?? 'recorded/model' } },
  contextWindows: { [models?.capable ?? 'recorded/model']: models?.window ?? LARGEST_WINDOW },
  threads: { titles: false },
  brain: { extractAfter: false }
})
