import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Returns the project's files that git tracks or would track, as paths from the root. */
export function projectFiles (): string[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'],
    { cwd: ROOT, encoding: 'utf8' }
  )
  return listed.split('\n').filter((path) => path !== '')
}

export const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/**
 * Returns the project's source files without tests and generated files, with the project files that each one imports, including type
 * imports.
 */
export function importGraph (): Map<string, string[]> {
  const files = projectFiles().filter((path) => /\.tsx?$/.test(path) && !/^(?:test|bench|examples|client\/generated)\//.test(path))
  const known = new Set(files)
  return new Map(files.map((path) => [path, importsOf(path).filter((target) => known.has(target))]))
}

function importsOf (path: string): string[] {
  const specifiers = textOf(path).matchAll(/(?:from |import |import\()'(\.[^']+\.tsx?)'/g)
  return [...specifiers].map(([, specifier]) => normalize(join(dirname(path), specifier)))
}

/** Returns the cycles of a graph. Each is the list of files on it, and ends with its first file. */
export function circles (graph: Map<string, string[]>): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  const visit = (path: string, way: string[]) => {
    const at = way.indexOf(path)
    if (at !== -1) found.push([...way.slice(at), path])
    if (at !== -1 || done.has(path)) return
    for (const next of graph.get(path) ?? []) visit(next, [...way, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return found
}
