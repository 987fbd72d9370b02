/** The number of lines and branches of a file, in total and covered by tests. */
export interface Counts {
  lines: { total: number, covered: number }
  branches: { total: number, covered: number }
}

/** Coverage in percent. */
export interface Figures {
  lines: number
  branches: number
}

interface Folder {
  figures: Figures
  /** The files with the most uncovered lines. */
  worst: string[]
}

const KINDS = ['lines', 'branches'] as const
const SHOWN = 3

/** Returns the folder to which a file counts: a service, or a folder of the root. Undefined for files that need no coverage. */
export function folderOf (path: string): string | undefined {
  // Worker threads are not measured, so workers/ has no figure.
  return /^(?:services\/[^/]+|routes|plugins|schemas)(?=\/.*\.ts$)/.exec(path)?.[0]
}

/** Adds up the counts of files by folder. */
export function byFolder (files: Map<string, Counts>): Map<string, Folder> {
  const folders = new Map<string, Array<[path: string, counts: Counts]>>()
  for (const [path, counts] of files) {
    const folder = folderOf(path)
    if (folder === undefined) continue
    folders.set(folder, [...folders.get(folder) ?? [], [path, counts]])
  }
  const missed = ([, { lines }]: [string, Counts]) => lines.total - lines.covered
  return new Map([...folders].sort(([a], [b]) => a < b ? -1 : 1).map(([folder, entries]) => [folder, {
    figures: { lines: percentage(entries, 'lines'), branches: percentage(entries, 'branches') },
    worst: entries.filter((entry) => missed(entry) > 0).sort((a, b) => missed(b) - missed(a)).slice(0, SHOWN).map(([path]) => path)
  }]))
}

function percentage (entries: Array<[string, Counts]>, kind: 'lines' | 'branches'): number {
  const sum = (part: 'total' | 'covered') => entries.reduce((count, [, counts]) => count + counts[kind][part], 0)
  return sum('total') === 0 ? 100 : Math.floor(1000 * sum('covered') / sum('total')) / 10
}

/** Returns a sentence for each figure below its floor, and for each folder without a floor. */
export function shortfalls (folders: Map<string, Folder>, floors: Record<string, Figures>): string[] {
  return [...folders].flatMap(([folder, { figures, worst }]) => {
    const floor = floors[folder]
    if (floor === undefined) return [`${folder} has no floor in scripts/coverage/floors.json: node scripts/coverage.ts --set adds it.`]
    return KINDS.filter((kind) => figures[kind] < floor[kind]).map((kind) =>
      `${folder}: the tests cover ${figures[kind]} % of its ${kind}, less than its floor of ${floor[kind]} %. ` +
      `Most lines are uncovered in ${worst.join(', ')}.`)
  })
}

/** Returns floors slightly below the figures, so that a small change needs no new floor. */
export const floorsFor = (folders: Map<string, Folder>, margin: number): Record<string, Figures> =>
  Object.fromEntries([...folders].map(([folder, { figures }]) => [folder, {
    lines: Math.max(0, Math.floor(figures.lines - margin)),
    branches: Math.max(0, Math.floor(figures.branches - margin))
  }]))
