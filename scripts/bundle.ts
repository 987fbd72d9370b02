import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions } from 'esbuild'
import { late } from './late.ts'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

/**
 * Writes the entry file of the service. It has no static import and no syntax that an old Node cannot parse, so that it can
 * report which version is required. `later` maps source modules to the bundles that are imported in their place.
 */
export async function bundleFirst (source: string, outfile: string, later: Record<string, string>) {
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
    logLevel: 'warning'
  })
}

const SHARED = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node22',
  external: ['classic-level/binding.js', 'robotjs'],
  plugins: [late],
  // Identifiers stay unchanged for stack traces; the other minification shortens the start.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 500,
  legalComments: 'none',
  logLevel: 'warning'
} satisfies BuildOptions

/**
 * Bundles the service into one file in `outdir` and returns its name, which holds a digest of the content. The file is a function
 * expression with the parameters below, for bin/load-service.ts. Dynamically imported modules are part of it; they run when they are
 * first imported.
 */
export async function bundleWhole (source: string, outdir: string): Promise<string> {
  const { outputFiles: [{ contents }] } = await build({
    ...SHARED,
    entryPoints: [source],
    write: false,
    format: 'cjs',
    define: { PACKAGE_VERSION: JSON.stringify(version), 'import.meta.url': '__url' },
    banner: { js: '(function (require, __filename, __dirname, __url) { const module = { exports: {} }' },
    footer: { js: '})' }
  })
  const name = `service-${createHash('sha256').update(contents).digest('hex').slice(0, 16)}.cjs`
  writeFileSync(`${ROOT}${outdir}/${name}`, contents)
  return name
}

/** Bundles entry points into `outdir`: one file for each, and a chunk for each module that is imported dynamically. */
export async function bundle (entryPoints: Record<string, string>, outdir: string, define: Record<string, string> = {}) {
  await build({
    ...SHARED,
    entryPoints,
    outdir,
    // Dynamically imported modules become separate chunks, so that start-up does not read them.
    splitting: true,
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
}
