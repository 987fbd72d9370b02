import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the encodings in which a text might appear in a file, a log or an answer. */
export function shapes (text: string): Buffer[] {
  const base64 = [0, 1, 2].map((shift) => Buffer.from(' '.repeat(shift) + text).toString('base64').slice(4, -4))
  const written = [text, ...base64, ...base64.map((each) => each.replaceAll('+', '-').replaceAll('/', '_')), encodeURIComponent(text)]
  const hex = Buffer.from(text).toString('hex')
  return [...written, hex, hex.toUpperCase()].map((shape) => Buffer.from(shape)).concat(
    Buffer.from(text, 'utf16le'),
    Buffer.from(text, 'utf16le').swap16()
  )
}

/** Returns every file below `dir`, with its bytes. */
export const filesIn = (dir: string): Array<readonly [string, Buffer]> =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => [join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name))] as const)

/** Returns which of the texts occur in which places, in any encoding. */
export const found = (texts: Record<string, string>, places: Iterable<readonly [string, Buffer]>): string[] =>
  [...places].flatMap(([where, bytes]) =>
    Object.entries(texts).filter(([, text]) => shapes(text).some((shape) => bytes.includes(shape))).map(([name]) =>
      `${name} is in ${where}`
    )
  )
