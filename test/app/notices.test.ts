import { readFileSync } from 'node:fs'
import t from 'tap'
import { noticesOf, packageFolders, readPackage } from '../../scripts/notices.ts'
import { ROOT } from '../harness/source-tree.ts'

// The build writes which files it bundled, as esbuild's metafile says.
const inputs: string[] = JSON.parse(readFileSync(`${ROOT}dist/bundled.json`, 'utf8'))
const { dependencies, optionalDependencies, files } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

t.test('every bundled package stands in the notices, with its version and the text of its licence', async (t) => {
  const notices = readFileSync(`${ROOT}dist/THIRD-PARTY-NOTICES`, 'utf8')
  const folders = packageFolders(inputs)
  t.ok(folders.length > 100, 'the server, the workers and the page')
  for (const name of ['fastify', 'ai', 'linkedom', 'unpdf', '@fastify/swagger-ui', 'classic-level']) {
    t.ok(folders.some((folder) => readPackage(folder).name === name), name)
  }
  for (const folder of folders) {
    const { name, version } = readPackage(folder)
    const section = notices.split('-'.repeat(80)).find((text) => text.trimStart().startsWith(`${name} ${version} (`))
    t.match(section, /^\s*\S+ \S+ \([A-Z][^)]+\)[^]+(permission|licen[cs]e|redistribution)/i, `${name} ${version}`)
  }
  t.match(notices, /Swagger UI 5[^]+SmartBear/)
  t.match(notices, /PDF\.js/)
})

t.test('a package without a licence cannot be bundled', async (t) => {
  const dir = t.testdir({ node_modules: { bare: { 'package.json': '{ "name": "bare", "version": "1.0.0" }', 'index.js': '' } } })
  const path = `${dir.slice(ROOT.length)}/node_modules/bare/index.js`
  t.throws(() => noticesOf([path], []), { message: /^bare is bundled but states no licence/ })
})

t.test('the package depends on nothing but native packages, and holds what was built and its licences', async (t) => {
  t.same(Object.keys(dependencies), ['classic-level'])
  t.same(Object.keys(optionalDependencies), ['robotjs'])
  for (const name of ['dist', 'LICENSE', 'README.md', '!dist/bundled.json', '!dist/sidecar']) t.ok(files.includes(name), name)
})
