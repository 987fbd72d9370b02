import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { late } from './late.ts'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

/**
 * Writes the file that is run first. It has no static import, and no syntax that an old Node cannot read, so that it can say
 * which version is needed; `later` gives the bundles that it imports by their sources.
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

/** Bundles entry points into `outdir`: one file each, and a chunk for whatever is imported when first needed. */
export async function bundle (entryPoints: Record<string, string>, outdir: string) {
  await build({
    absWorkingDir: ROOT,
    entryPoints,
    outdir,
    bundle: true,
    // What is imported when first needed becomes a chunk of its own, so that start-up does not read it.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    external: ['classic-level/binding.js', 'robotjs'],
    plugins: [late],
    define: { PACKAGE_VERSION: JSON.stringify(version) },
    // CommonJS packages in an ES module bundle still ask for these.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'\n" +
        "import { fileURLToPath as __fileURLToPath } from 'node:url'\n" +
        "const require = __createRequire(import.meta.url), __filename = __fileURLToPath(import.meta.url), __dirname = __fileURLToPath(new URL('.', import.meta.url))"
    },
    // Names stay, for stack traces; the rest is less to read at each start.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 500,
    legalComments: 'none',
    logLevel: 'warning'
  })
}
