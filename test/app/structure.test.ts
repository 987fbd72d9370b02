import { existsSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { whyForbidden } from '../../scripts/lint/service-imports.ts'
import { circles, importGraph, projectFiles, ROOT, textOf } from '../harness/source-tree.ts'

const MOST_LINES = 400
const IN_FOLDER = /^(?:acp|bench|bin|client|console|docs|eval|examples|plugins|routes|schemas|scripts|services|test|workers)\//

t.test('no file imports itself through others, not even types', async (t) => {
  t.same(circles(importGraph()), [])
  t.same(circles(new Map([['a', ['b']], ['b', ['a']]])), [['a', 'b', 'a']], 'a circle would be found')
})

/** The domains of services/ and what each imports of the others. */
function domainGraph (files: Map<string, string[]>): Map<string, string[]> {
  const domainOf = (path: string) => /^services\/([^/]+)\//.exec(path)?.[1]
  const graph = new Map<string, string[]>()
  for (const [path, imports] of files) {
    const domain = domainOf(path)
    if (domain === undefined) continue
    const others = imports.flatMap((target) => domainOf(target) ?? []).filter((other) => other !== domain)
    graph.set(domain, [...new Set([...graph.get(domain) ?? [], ...others])])
  }
  return graph
}

t.test('no domain of the services imports itself through others, not even types', async (t) => {
  const graph = importGraph()
  const domains = domainGraph(graph)
  t.same(circles(domains), [])
  t.same(domains.get('contracts'), [])
  const beside = [...graph].filter(([path]) => path.startsWith('services/contracts/')).flatMap(([, imports]) => imports)
  t.same(beside.filter((path) => !/^(?:schemas|services\/contracts)\//.test(path)), [], 'contracts import nothing but schemas')

  const wrong = new Map([
    ['services/tools/host.ts', ['services/undo/undo.ts', 'services/contracts/tool.ts']],
    ['services/undo/keep-call.ts', ['services/tools/sources.ts']],
    ['services/agent/loop.ts', ['services/runs/engine/drive.ts', 'schemas/agent.ts']]
  ])
  t.same(circles(domainGraph(wrong)), [['tools', 'undo', 'tools']], 'a circle would be found')
})

t.test('the table of domains names each of them, above those that import it', (t) => {
  const table = textOf('docs/architecture.md').split('## Domains')[1].split('###')[0]
  const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, domain]) => domain)
  const folders = projectFiles().flatMap((path) => /^services\/([^/]+)\//.exec(path)?.[1] ?? [])
  t.same(rows.toSorted(), [...new Set(folders)].toSorted())
  const domains = domainGraph(importGraph())
  const below = rows.flatMap((domain, at) =>
    (domains.get(domain) ?? []).filter((other) => rows.indexOf(other) > at).map((other) => `${domain} imports ${other}`))
  t.same(below, [])
  t.end()
})

t.test('every file of a service lies in a domain, and no two of them share a name', async (t) => {
  const files = projectFiles().filter((path) => path.startsWith('services/'))
  t.same(files.filter((path) => path.split('/').length < 3), [])
  const names = files.map((path) => basename(path)).filter((name) => name !== 'index.ts')
  t.same(names.filter((name, at) => names.indexOf(name) !== at), [])
})

t.test('a service reaches another one through its index.ts, which exports nothing that nobody uses', async (t) => {
  const graph = importGraph()
  const services = [...graph].filter(([path]) => path.startsWith('services/'))
  const forbidden = services.flatMap(([from, imports]) => imports.flatMap((imported) => whyForbidden(from, imported) ?? []))
  t.same(forbidden, [])

  const indexes = services.map(([path]) => path).filter((path) => /^services\/[^/]+\/index\.ts$/.test(path))
  const unused = indexes.flatMap((index) => {
    const users = services.filter(([, imports]) => imports.includes(index)).map(([path]) => textOf(path)).join()
    return exportedNames(textOf(index)).filter((name) => !new RegExp(`\\b${name}\\b`).test(users)).map((name) => `${index}: ${name}`)
  })
  t.same(unused, [])

  t.match(whyForbidden('services/threads/titles.ts', 'services/store/latched-database.ts'), /internal to store/)
  t.match(whyForbidden('services/threads/titles.ts', 'services/threads/index.ts'), /for the other services/)
  t.match(whyForbidden('services/lib/ids.ts', 'services/store/index.ts'), /services\/lib imports no other service/)
  t.match(whyForbidden('services/contracts/tool.ts', 'services/lib/ids.ts'), /services\/contracts imports nothing but schemas/)
  const shared = ['services/contracts/tool.ts', 'services/lib/ids.ts', 'services/store/index.ts']
  for (const path of [...shared, 'services/threads/read-positions.ts', 'schemas/threads.ts']) {
    t.equal(whyForbidden('services/threads/titles.ts', path), undefined)
  }
  t.same(exportedNames("export { type A, b } from './x.ts'\nexport const load = () => 1"), ['A', 'b', 'load'])
})

/** The names in the lists and declarations that a file exports. */
function exportedNames (text: string): string[] {
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) => list.split(','))
  const declared = [...text.matchAll(/^export const (\w+)/gm)].map(([, name]) => name)
  return [...listed.map((name) => name.trim().replace(/^type /, '')), ...declared].filter((name) => name !== '')
}

t.test('no source file is longer than a page that can be read', async (t) => {
  const long = projectFiles()
    .filter((path) => /\.tsx?$/.test(path) && !/^(?:test|client\/generated)\//.test(path))
    .filter((path) => textOf(path).split('\n').length - 1 > MOST_LINES)
  t.same(long, [])
})

/**
 * The code spans and links of a page whose path does not exist.
 * A file of the root counts as a path by its ending; a glob needs a match.
 */
function brokenPaths (doc: string, text: string): string[] {
  const spans = text.matchAll(/`([\w./*-]+)`|\]\(([\w./-]+)(?:#[\w-]*)?\)/g)
  return [...spans].flatMap(([, code, link]) => {
    if (link !== undefined) return existsSync(join(ROOT, doc, '..', link)) ? [] : [`${doc}: ${link}`]
    const isPath = IN_FOLDER.test(code) || /^[^/]+\.(?:ts|tsx|sh)$/.test(code)
    return isPath && globSync(code, { cwd: ROOT }).length === 0 ? [`${doc}: ${code}`] : []
  })
}

t.test('every path that the docs name exists', async (t) => {
  const docs = projectFiles().filter((path) => /\.md$/.test(path) && path !== 'CHANGELOG.md')
  t.same(docs.flatMap((doc) => brokenPaths(doc, textOf(doc))), [])

  const wrong = 'Not there: `services/gone/`, `begin.ts`, `test/gone/*.ts`, [here](gone.md#part). ' +
    'There: `app.ts`, `test/app/*.ts`, `config.json`, [limits](limits.md).'
  t.same(
    brokenPaths('docs/page.md', wrong),
    ['services/gone/', 'begin.ts', 'test/gone/*.ts', 'gone.md'].map((path) => `docs/page.md: ${path}`),
    'wrong ones would be found'
  )
})
