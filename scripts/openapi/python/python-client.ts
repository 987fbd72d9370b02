import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelsModule } from './models.ts'
import { operationsModule } from './operations.ts'

/** Replacements that turn asyncio code into synchronous code, longest first. */
const PLAIN: Array<[RegExp, string]> = [
  [/AsyncGenerator\[(.*), None\]/g, 'Generator[$1, None, None]'],
  [/generated\.async_operations/g, 'generated.operations'],
  [/\basync (def|for|with) /g, '$1 '],
  [/\bawait /g, ''],
  [/\bAsync(?=[A-Z])/g, ''],
  [/\b__aiter__\b/g, '__iter__'],
  [/\b__aenter__\b/g, '__enter__'],
  [/\b__aexit__\b/g, '__exit__'],
  [/\b(http|response)\.aclose\b/g, '$1.close'],
  [/\b_http\.aclose\b/g, '_http.close'],
  [/\baread\b/g, 'read'],
  [/\baiter_bytes\b/g, 'iter_bytes']
]

const plainText = (text: string) => PLAIN.reduce((result, [word, plain]) => result.replace(word, plain), text)

/** Returns the generated files of the Python client, made from the document and from the source of the asyncio client. */
export function pythonFiles (document: object, source: string): Record<string, string> {
  const handWritten = new Set(['__init__.py', 'io.py'])
  const shared = readdirSync(join(source, '_async')).filter((name) => name.endsWith('.py') && !handWritten.has(name))
  return {
    'models.py': modelsModule(document),
    'generated/operations.py': operationsModule(document, false),
    'generated/async_operations.py': operationsModule(document, true),
    ...Object.fromEntries(shared.map((name) => [`_sync/${name}`, plainText(readFileSync(join(source, '_async', name), 'utf8'))]))
  }
}

/** Writes the generated files of the Python client. */
export function writePythonFiles (document: object, source: string): void {
  for (const [name, text] of Object.entries(pythonFiles(document, source))) {
    mkdirSync(join(source, name, '..'), { recursive: true })
    writeFileSync(join(source, name), text)
  }
}
