import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { circles, importGraph, projectFiles, ROOT, textOf } from '../harness/source-tree.ts'

const MOST_LINES = 250

t.test('no file imports itself through others, not even types', async (t) => {
  t.same(circles(importGraph()), [])
  t.same(circles(new Map([['a', ['b']], ['b', ['a']]])), [['a', 'b', 'a']], 'a circle would be found')
})

t.test('every file of a service lies in a domain, and no two of them share a name', async (t) => {
  const files = projectFiles().filter((path) => path.startsWith('services/'))
  t.same(files.filter((path) => path.split('/').length < 3), [])
  const names = files.map((path) => basename(path)).filter((name) => name !== 'index.ts')
  t.same(names.filter((name, at) => names.indexOf(name) !== at), [])
})

t.test('no source file is longer than a page that can be read', async (t) => {
  const long = projectFiles()
    .filter((path) => /\.ts$/.test(path) && !/^(?:test|client\/generated)\//.test(path))
    .filter((path) => textOf(path).split('\n').length - 1 > MOST_LINES)
  t.same(long, [])
})

t.test('every path that the docs name exists', async (t) => {
  const docs = projectFiles().filter((path) => /\.md$/.test(path) && path !== 'CHANGELOG.md')
  const missing = docs.flatMap((doc) => [...textOf(doc).matchAll(/`([\w./-]+)`|\]\(([\w./-]+)(?:#[\w-]*)?\)/g)].flatMap(([, code, link]) => {
    if (link !== undefined) return existsSync(join(ROOT, doc, '..', link)) ? [] : [`${doc}: ${link}`]
    const isPath = /^(?:bench|bin|client|docs|examples|plugins|routes|schemas|scripts|services|test|workers)\//.test(code)
    return isPath && !existsSync(join(ROOT, code)) ? [`${doc}: ${code}`] : []
  }))
  t.same(missing, [])
})
