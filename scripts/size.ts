import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const HELP = `npm run size [-- <folder|file#Type> …]
  Prints files, lines and exported members by folder, of the files that git knows: of the whole project, with each domain of services/,
  or of the folders that are named, each with its own folders. file#Type prints the number of members of one interface or type.`

const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Size { files: number, lines: number, members: number }

/** Returns the number of names that a statement exports. */
function exportedBy (statement: ts.Statement): number {
  if (ts.isExportDeclaration(statement)) {
    return statement.exportClause !== undefined && ts.isNamedExports(statement.exportClause) ? statement.exportClause.elements.length : 1
  }
  if (ts.isExportAssignment(statement)) return 1
  const isExported = ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  if (!isExported) return 0
  return ts.isVariableStatement(statement) ? statement.declarationList.declarations.length : 1
}

const parse = (path: string) => ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest)

function sizeOf (path: string): Size {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  const members = /\.tsx?$/.test(path) ? parse(path).statements.reduce((sum, statement) => sum + exportedBy(statement), 0) : 0
  return { files: 1, lines, members }
}

const add = (a: Size, b: Size): Size => ({ files: a.files + b.files, lines: a.lines + b.lines, members: a.members + b.members })
const NOTHING: Size = { files: 0, lines: 0, members: 0 }

/** Returns the number of members of an interface or object type, without inherited members. */
function countMembers (path: string, name: string): number {
  const found = parse(path).statements.find((statement): statement is ts.InterfaceDeclaration | ts.TypeAliasDeclaration =>
    (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) && statement.name.text === name)
  if (found === undefined) throw new Error(`${path} has no type ${name}.`)
  if (ts.isInterfaceDeclaration(found)) return found.members.length
  return ts.isTypeLiteralNode(found.type) ? found.type.members.length : 1
}

/** Returns the source files and docs pages below a folder that git tracks, without generated files. */
const filesBelow = (folder: string): string[] =>
  execFileSync('git', ['ls-files', '--', folder], { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).split('\n')
    .filter((path) => /\.(?:tsx?|js|css|md)$/.test(path) && !path.startsWith('client/generated/'))

/** Prints a table of the folders below `base`, with their totals. */
function printFolders (base: string, isSplit: (folder: string) => boolean): void {
  const sums = new Map<string, Size>()
  for (const path of filesBelow(base)) {
    const size = sizeOf(path)
    const parts = path.split('/')
    const names = parts.length === 1 ? ['.'] : parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join('/'))
    const shown = names.filter((name) => (name === '.' || isSplit(name)) && (base === '.' || name.startsWith(base)))
    for (const name of [...shown, 'in all']) sums.set(name, add(sums.get(name) ?? NOTHING, size))
  }
  const rows = [...sums].sort(([a], [b]) => a === 'in all' ? 1 : b === 'in all' ? -1 : a < b ? -1 : 1)
  const width = Math.max(...rows.map(([name]) => name.length))
  console.log(`${'folder'.padEnd(width)}  ${'files'.padStart(6)}  ${'lines'.padStart(7)}  exported`)
  for (const [name, { files, lines, members }] of rows) {
    console.log(`${name.padEnd(width)}  ${String(files).padStart(6)}  ${String(lines).padStart(7)}  ${String(members).padStart(8)}`)
  }
}

const named = process.argv.slice(2)
if (named.includes('--help')) console.log(HELP)
else if (named.length === 0) printFolders('.', (folder) => !folder.includes('/') || dirname(folder) === 'services')
for (const name of named.filter((each) => each !== '--help')) {
  const [path, type] = name.replace(/\/$/, '').split('#')
  if (type !== undefined) console.log(`${name}: ${countMembers(path, type)} members`)
  else printFolders(path, (folder) => folder === path || dirname(folder) === path)
}
