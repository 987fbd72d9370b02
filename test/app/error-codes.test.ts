import t from 'tap'
import { ERROR_STATUS } from '../../schemas/error-codes.ts'
import { projectFiles, textOf } from '../harness/source-tree.ts'

const sources = projectFiles().filter((path) => /^(?:app|(?:services|plugins|routes|workers)\/.*)\.ts$/.test(path)).map(textOf)
const found = (pattern: RegExp, texts: string[]) => texts.flatMap((text) => [...text.matchAll(pattern)].map(([, ...groups]) => groups))

t.test('every code of the table belongs to an error of the service', async (t) => {
  const named = new Set(found(/'(ERR_[A-Z_]+)'/g, sources).flat())
  t.same(Object.keys(ERROR_STATUS).filter((code) => !named.has(code)), [])
})

t.test('every error that the service defines has a status', async (t) => {
  const defined = found(/(?:defineError|new ServiceError|body|kind)\(\s*'(ERR_[A-Z_]+)'/g, sources).flat()
  t.ok(defined.length > 70)
  t.same(defined.filter((code) => !Object.hasOwn(ERROR_STATUS, code)), [])
})

t.test('the docs name codes that exist, beside their own status', async (t) => {
  const docs = projectFiles().filter((path) => /^(?:README|docs\/.*)\.md$/.test(path)).map(textOf)
  const codes: Record<string, number | undefined> = ERROR_STATUS
  t.same(found(/`(ERR_[A-Z_]+)`/g, docs).flat().filter((code) => codes[code] === undefined), [])
  const beside = found(/\b([45]\d\d),? `(ERR_[A-Z_]+)`/g, docs)
  t.ok(beside.length > 3)
  t.same(beside.filter(([status, code]) => codes[code] !== Number(status)), [])
})
