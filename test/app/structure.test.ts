import { existsSync, globSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
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

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf (text: string): Set<string> {
  const headings = text.replaceAll(/^ *(`{3,})[\s\S]*?^ *\1$/gm, '').matchAll(/^#{1,6} +(.+)$/gm)
  const anchors = new Set<string>()
  for (const [, heading] of headings) {
    const plain = heading.replaceAll(/\]\([^)]*\)/g, '').toLowerCase()
    const anchor = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').trim().replaceAll(/\s/g, '-')
    let unique = anchor
    for (let n = 1; anchors.has(unique); n++) unique = `${anchor}-${n}`
    anchors.add(unique)
  }
  return anchors
}

/** Returns where a link of a page leads inside of the repository; undefined for addresses of the web. */
function targetOf (doc: string, link: string): { path: string, anchor?: string } | undefined {
  if (/^[a-z]+:/.test(link)) return undefined
  const [path, anchor] = link.split('#')
  return { path: path === '' ? doc : join(dirname(doc), path), anchor }
}

const linksOf = (text: string) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link)

/**
 * The code spans of a page whose path does not exist, and its links to files or headings that are not there.
 * A file of the root counts as a path by its ending; a glob needs a match.
 */
function brokenPaths (doc: string, text: string): string[] {
  const spans = [...text.matchAll(/`([\w./*-]+)`/g)].flatMap(([, code]) => {
    const isPath = IN_FOLDER.test(code) || /^[^/]+\.(?:ts|tsx|sh)$/.test(code)
    return isPath && globSync(code, { cwd: ROOT }).length === 0 ? [code] : []
  })
  const links = linksOf(text).filter((link) => {
    const target = targetOf(doc, link)
    if (target === undefined) return false
    if (target.path !== doc && !existsSync(join(ROOT, target.path))) return true
    if (target.anchor === undefined) return false
    return !anchorsOf(target.path === doc ? text : textOf(target.path)).has(target.anchor)
  })
  return [...spans, ...links].map((path) => `${doc}: ${path}`)
}

const PAGES = projectFiles().filter((path) => /\.md$/.test(path) && path !== 'CHANGELOG.md')

t.test('every path that the docs name exists, and every link leads to a file and a heading', async (t) => {
  t.same(PAGES.flatMap((doc) => brokenPaths(doc, textOf(doc))), [])

  const wrong = '## A part, `too`\nNot there: `services/gone/`, `begin.ts`, `test/gone/*.ts`, [here](gone.md#part), [a](#b), ' +
    '[x](limits.md#gone). There: `app.ts`, `test/app/*.ts`, `config.json`, [limits](limits.md#models), [up](#a-part-too).'
  t.same(
    brokenPaths('docs/page.md', wrong),
    ['services/gone/', 'begin.ts', 'test/gone/*.ts', 'gone.md#part', '#b', 'limits.md#gone'].map((path) => `docs/page.md: ${path}`),
    'wrong ones would be found'
  )
})

t.test('the README fits a first page, and leads to every page of the docs', async (t) => {
  const text = textOf('README.md')
  t.ok(text.split('\n').length <= 151, 'at most 150 lines')
  const linked = linksOf(text).map((link) => targetOf('README.md', link)?.path)
  t.same(PAGES.filter((path) => /^docs\/[^/]+$/.test(path) && !linked.includes(path)), [])
})
