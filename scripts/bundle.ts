import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild'
import { late } from './late.ts'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

/** Paths of all files that this process has bundled, relative to ROOT. */
export const bundled = new Set<string>()
/** Licence comments in the bundled files. */
export const legalComments = new Set<string>()

/**
 * Writes the entry file of a program. The file has no static import and no syntax that an old Node cannot parse, so that it can report the
 * required version. `later` maps source modules to the bundles that are imported instead.
 */
export async function bundleFirst (source: string, outfile: string, later: Record<string, string>, options: BuildOptions = {}) {
  await build({
    absWorkingDir: ROOT,
    entryPoints: [source],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node12.20',
    plugins: [{
      name: 'later',
      setup: ({ onResolve }) =>
        onResolve({ filter: /./ }, ({ path }) => Object.hasOwn(later, path) ? { path: later[path], external: true } : undefined)
    }],
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
    ...options
  })
}

export const SHARED = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node22',
  external: ['classic-level/binding.js', 'robotjs'],
  plugins: [late],
  // Identifiers are not minified, so that stack traces stay readable. The other minification shortens the start.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 500,
  legalComments: 'external',
  logLevel: 'warning',
  metafile: true
} satisfies BuildOptions

/**
 * Bundles a program into the source of one function, whose arguments bin/load-service.ts and services/process/run-code.ts pass. The source
 * is ASCII. It contains dynamically imported modules, which run at their first import.
 */
export async function bundleProgram (source: string, define: Record<string, string> = {}, plugins: Plugin[] = []): Promise<Uint8Array> {
  const { outputFiles, metafile } = await build({
    ...SHARED,
    entryPoints: [source],
    outfile: 'program.cjs',
    write: false,
    format: 'cjs',
    // A script that is no module can load packages only by `require`.
    supported: { 'dynamic-import': false },
    plugins: [...plugins, late],
    define: { PACKAGE_VERSION: JSON.stringify(version), 'import.meta.url': '__url', ...define },
    banner: { js: '(function (require, __filename, __dirname, __url, __runOther) { const module = { exports: {} }' },
    footer: { js: 'return module.exports })' }
  })
  collect(metafile)
  for (const { path, text } of outputFiles) {
    if (!path.endsWith('.LEGAL.txt')) continue
    const comments = text.replace(/^Bundled license information:\n/, '').split(/\n(?=\S.*:\n)/)
    for (const comment of comments) legalComments.add(comment.trim())
  }
  return Buffer.from(asAscii(outputFiles.find(({ path }) => path.endsWith('.cjs'))!.text), 'latin1')
}

/** Escapes non-ASCII characters. esbuild escapes them in strings, but not in regular expressions and `String.raw`. */
const asAscii = (code: string) =>
  code.replace(/[^\0-\x7f]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Bundles a program, and each module that it imports dynamically, as separate programs, so that the program starts without reading these
 * modules. Returns the programs by name.
 */
export async function bundleInParts (source: string, name: string): Promise<Map<string, Uint8Array>> {
  const modules = new Map<string, string>()
  const parts: Plugin = {
    name: 'parts',
    setup (build) {
      build.onResolve({ filter: /^\./ }, async ({ path, kind, resolveDir, importer }) => {
        if (kind !== 'dynamic-import') return undefined
        const { path: module } = await build.resolve(path, { kind: 'import-statement', resolveDir, importer })
        const part = `${name}/${basename(path, '.ts')}.cjs`
        modules.set(part, module)
        return { path: part, namespace: 'part' }
      })
      build.onLoad({ filter: /./, namespace: 'part' }, ({ path }) => ({ contents: `module.exports = __runOther(${JSON.stringify(path)})` }))
    }
  }
  const main = await bundleProgram(source, {}, [parts])
  const others = [...modules].sort().map(async ([part, module]) => [part, await bundleProgram(module)] as const)
  return new Map([[`${name}.cjs`, main], ...await Promise.all(others)])
}

/** Returns a digest of files, which their names contain. */
export function digestOf (...contents: Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const content of contents) hash.update(content)
  return hash.digest('hex').slice(0, 16)
}

/**
 * Bundles ES modules into `outdir`: one file for each entry point, and with `splitting` also a chunk for each dynamically imported module.
 */
export async function bundle (
  entryPoints: Record<string, string>,
  outdir: string,
  { define, splitting = false }: { define?: Record<string, string>, splitting?: boolean } = {}
) {
  const { metafile } = await build({
    ...SHARED,
    legalComments: 'none',
    entryPoints,
    outdir,
    splitting,
    format: 'esm',
    define: { PACKAGE_VERSION: JSON.stringify(version), ...define },
    // Bundled CommonJS packages use these names, which an ES module does not define.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'\n" +
        "import { fileURLToPath as __fileURLToPath } from 'node:url'\n" +
        'const require = __createRequire(import.meta.url), __filename = __fileURLToPath(import.meta.url), __dirname = ' +
        "__fileURLToPath(new URL('.', import.meta.url))"
    }
  })
  collect(metafile)
}

function collect (metafile: Metafile) {
  // Paths of modules that plugins create have the name of the plugin as a prefix.
  for (const path of Object.keys(metafile.inputs)) if (!/^[\w ]+:/.test(path)) bundled.add(path)
}
