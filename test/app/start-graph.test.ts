import { build } from 'esbuild'
import t from 'tap'
import { late } from '../../scripts/late.ts'
import { ROOT } from '../harness/source-tree.ts'

/** Packages that cost milliseconds at each start where a module of the service imports them, and are needed in some requests alone. */
const LATER = /^node_modules\/(zod|ai|diff|@ai-sdk\/(?!provider\/)|@modelcontextprotocol|linkedom|unpdf|minisearch|bree)\//

t.test('no start loads the packages that only some requests need', async (t) => {
  const { metafile: { inputs } } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['server.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    external: ['classic-level/binding.js', 'robotjs'],
    plugins: [late],
    define: { PACK: '{}', PACKAGE_VERSION: '""' },
    metafile: true
  })
  const loaded = new Map([['server.ts', '']])
  for (const [path] of loaded) {
    for (const { path: next, kind } of inputs[path]?.imports ?? []) {
      if (kind !== 'dynamic-import' && !loaded.has(next)) loaded.set(next, path)
    }
  }
  t.ok(loaded.has('services/tools/files/write-file.ts') && [...loaded.keys()].some((path) => path.includes('/fastify/')))
  t.same([...loaded].filter(([path]) => LATER.test(path)).map(([path, importer]) => `${importer} imports ${path}`), [])
})
