import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { bundled, ROOT } from './bundle.ts'

/** The limit for the files of the first page, in compressed bytes. */
const FIRST_LOAD = 300_000

/**
 * Builds the console. Returns its compressed files, by their names in the pack. Throws if the files of the first page are larger than
 * FIRST_LOAD.
 */
export async function bundleConsole (): Promise<Map<string, Uint8Array>> {
  const built = await atReadablePath(async (root) =>
    await build({
      root: `${root}console`,
      configFile: `${root}console/vite.config.ts`,
      resolve: { preserveSymlinks: true },
      logLevel: 'warn',
      build: { write: false, reportCompressedSize: false }
    }) as Rolldown.RolldownOutput
  )
  const files = new Map<string, Uint8Array>()
  for (const file of built.output) {
    files.set(file.fileName, gzipSync(file.type === 'chunk' ? file.code : file.source, { level: 9 }))
    if (file.type !== 'chunk') continue
    for (const path of file.moduleIds) {
      const packaged = /node_modules\/.*/s.exec(path.replaceAll('\\', '/'))?.[0]
      if (packaged !== undefined) bundled.add(packaged.replace(/\?.*$/, ''))
    }
  }
  const first = firstFiles(built.output)
  const size = first.reduce((sum, name) => sum + files.get(name)!.length, 0)
  if (size > FIRST_LOAD) {
    throw new Error(`The first page of the console loads ${size} bytes of at most ${FIRST_LOAD}: ${first.join(', ')}.`)
  }
  return new Map([...files].map(([name, content]) => [`console/${name}`, content]))
}

/** Runs the build at ROOT, or at a symbolic link to it if the path contains characters that Vite treats as part of a URL. */
async function atReadablePath<T> (work: (root: string) => Promise<T>): Promise<T> {
  if (!/[#?%]/.test(ROOT)) return await work(ROOT)
  const folder = mkdtempSync(join(tmpdir(), 'console-build-'))
  try {
    const link = join(folder, 'project')
    symlinkSync(ROOT, link, 'junction')
    return await work(`${link}/`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Returns the files that the first page loads: the HTML, the entry with all its imports, the inbox with all its imports, and all styles.
 */
function firstFiles (output: Rolldown.RolldownOutput['output']): string[] {
  const chunks = new Map(output.flatMap((file) => file.type === 'chunk' ? [[file.fileName, file] as const] : []))
  const isFirst = (name: string) => /^(index\.html|assets\/(index|inbox|live-worker|style)-.*)$/.test(name)
  const begin = output.map(({ fileName }) => fileName).filter(isFirst)
  const names = new Set(begin)
  for (const name of names) for (const imported of chunks.get(name)?.imports ?? []) names.add(imported)
  return [...names]
}
