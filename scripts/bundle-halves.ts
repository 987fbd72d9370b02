import { build, type Metafile, type OnResolveArgs, type Plugin } from 'esbuild'
import { bundleProgram, ROOT, SHARED } from './bundle.ts'
import { late } from './late.ts'

// Bundles a program in two halves: the modules that its start needs, and all others, which are imported dynamically or through
// scripts/late.ts. A start reads only the first half. Both halves are functions as bundleProgram makes them. Each half is passed a function
// that returns the exports of modules of the other half, so that no module is in both.

type Inputs = Metafile['inputs']
/** The exported names of each ES module, by its path in esbuild's metafile. Other modules are not listed. */
type Names = Map<string, string[]>

const FOREIGN = 'foreign'

export async function bundleHalves (source: string, define: Record<string, string>): Promise<{ first: Uint8Array, later: Uint8Array }> {
  const { metafile: { inputs } } = await build({
    ...SHARED,
    entryPoints: [source],
    outfile: 'program.cjs',
    write: false,
    legalComments: 'none',
    define: { ...define, 'import.meta.url': '__url' }
  })
  const early = findEarly(inputs, source)
  const deferred = new Set(Object.keys(inputs).flatMap((path) => deferredBy(inputs, path)).filter((path) => !early.has(path)))
  const names = await readNames(inputs)
  const shared = new Set<string>()
  const later = await bundleProgram('later.ts', define, [
    entryOf('later.ts', findModule([...deferred].sort().map((path) => [path, `require(${asImport(path)})`]))),
    foreign({ inputs, names, isForeign: (path) => early.has(path), onUse: (path) => shared.add(path) })
  ])
  const first = await bundleProgram('first.ts', define, [
    entryOf('first.ts', firstSource(source, [...shared].sort(), names)),
    foreign({ inputs, names, isForeign: (path) => deferred.has(path) })
  ])
  return { first, later }
}

const importsOf = (inputs: Inputs, path: string) => inputs[path].imports.filter(({ external }) => external !== true)
/** Modules of scripts/late.ts require their package at its first use. */
const isLate = (path: string) => path.startsWith(`${late.name}:`)
const isDeferred = (path: string, { kind }: { kind: string }) => kind === 'dynamic-import' || isLate(path)
const deferredBy = (inputs: Inputs, path: string) =>
  importsOf(inputs, path).filter((each) => isDeferred(path, each)).map((each) => each.path)

/** Returns the paths of all modules that `source` imports statically, directly or indirectly. */
function findEarly (inputs: Inputs, source: string): Set<string> {
  const early = new Set([source])
  // The loop also visits paths that are added during the iteration.
  for (const path of early) for (const each of importsOf(inputs, path)) if (!isDeferred(path, each)) early.add(each.path)
  return early
}

async function readNames (inputs: Inputs): Promise<Names> {
  const modules = Object.keys(inputs).filter((path) => inputs[path].format === 'esm' && !isLate(path))
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: modules.map((path, n) => ({ in: path, out: `${n}` })),
    outdir: 'names',
    write: false,
    format: 'esm',
    minifyWhitespace: true,
    metafile: true,
    logLevel: 'warning'
  })
  const own = new Map<string, string[]>()
  const stars = new Map<string, string[]>()
  modules.forEach((path, n) => {
    own.set(path, metafile.outputs[`names/${n}.js`].exports)
    stars.set(path, [...outputFiles[n].text.matchAll(/\bexport\*from"([^"]+)"/g)].map(([, original]) => original))
  })
  const all = (path: string): string[] => {
    const others = importsOf(inputs, path).filter(({ original }) => stars.get(path)?.includes(original!)).flatMap((each) => all(each.path))
    return [...new Set([...own.get(path) ?? [], ...others.filter((name) => name !== 'default')])]
  }
  return new Map(modules.map((path) => [path, all(path)]))
}

/** An esbuild plugin that takes the modules for which `isForeign` is true from the other half. */
function foreign ({ inputs, names, isForeign, onUse }: {
  inputs: Inputs
  names: Names
  isForeign: (path: string) => boolean
  onUse?: (path: string) => unknown
}): Plugin {
  const found = new Map(Object.keys(inputs).flatMap((path) =>
    importsOf(inputs, path).filter((each) => isForeign(each.path)).map((each) => [`${path} ${each.original}`, each.path])
  ))
  const originals = new Set([...found.keys()].map((key) => key.slice(key.indexOf(' ') + 1)))
  const filter = new RegExp(`^(?:${[...originals].map(escape).join('|')})$`)
  return {
    name: FOREIGN,
    setup (build) {
      build.onResolve({ filter }, (args) => {
        const path = found.get(`${importerOf(args)} ${args.path}`)
        if (path === undefined) return undefined
        onUse?.(path)
        return { path, namespace: FOREIGN }
      })
      build.onLoad({ filter: /./, namespace: FOREIGN }, ({ path }) => ({ contents: foreignSource(path, names.get(path)) }))
    }
  }
}

const importerOf = ({ importer, namespace }: OnResolveArgs) =>
  namespace === 'file' ? importer.slice(ROOT.length).replaceAll('\\', '/') : `${namespace}:${importer}`

function foreignSource (path: string, names: string[] | undefined): string {
  const module = `__runOther(${JSON.stringify(path)})`
  if (names === undefined) return `module.exports = ${module}`
  const values = names.map((name, n) => `${JSON.stringify(name)}: _${n}`)
  const exported = names.map((name, n) => `_${n} as ${JSON.stringify(name)}`)
  return `const { ${values.join(', ')} } = ${module}\nexport { ${exported.join(', ')} }`
}

/** Returns the source of the first half's entry, which runs the program and finds the modules that the other half uses. */
function firstSource (source: string, shared: string[], names: Names): string {
  const imports = [`import ${asImport(source)}`]
  const cases = shared.map((path, n): [string, string] => {
    const exported = names.get(path)
    if (exported === undefined) return [path, `require(${asImport(path)})`]
    imports.push(`import { ${exported.map((name, i) => `${JSON.stringify(name)} as _${n}_${i}`).join(', ')} } from ${asImport(path)}`)
    return [path, `({ __proto__: null, ${exported.map((name, i) => `${JSON.stringify(name)}: _${n}_${i}`).join(', ')} })`]
  })
  return [...imports, findModule(cases)].join('\n')
}

const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const asImport = (path: string) => JSON.stringify(isLate(path) ? path.slice(late.name.length + 1) : `./${path}`)

const findModule = (cases: Array<[path: string, value: string]>) =>
  `export function findModule (path) { switch (path) {\n${
    cases.map(([path, value]) => `case ${JSON.stringify(path)}: return ${value}`).join('\n')
  }\n} throw new Error('no module ' + path) }`

/** An esbuild plugin that provides the entry module of a half, as if it were a file in ROOT. */
function entryOf (name: string, contents: string): Plugin {
  return {
    name: 'entry',
    setup (build) {
      build.onResolve({ filter: new RegExp(`^${escape(name)}$`) }, ({ path }) => ({ path, namespace: 'entry' }))
      build.onLoad({ filter: /./, namespace: 'entry' }, () => ({ contents, resolveDir: ROOT }))
    }
  }
}
