import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from './source-tree.ts'

/** The reason for skipping tests that run the stand-in for llama.cpp's server; false if they can run. */
export const noEngine = process.platform === 'win32' ? 'the engine of the test is a script' : false
const ENGINE = join(ROOT, 'test/fakes/llama-server.ts')

/** Writes a model file whose header holds these settings, as numbers and texts. */
export function writeModel (path: string, content: string, settings: Record<string, number | string> = {}): string {
  const text = (value: string) => Buffer.concat([bigNumber(value.length), Buffer.from(value)])
  const pairs = Object.entries({ 'general.architecture': 'llama', ...settings }).map(([name, value]) =>
    Buffer.concat([text(name), number(typeof value === 'string' ? 8 : 4), typeof value === 'string' ? text(value) : number(value)]))
  mkdirSync(dirname(path), { recursive: true })
  const head = [Buffer.from('GGUF'), number(3), bigNumber(0), bigNumber(pairs.length)]
  writeFileSync(path, Buffer.concat([...head, ...pairs, Buffer.from(content)]))
  return path
}
function number (value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
function bigNumber (value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

/** Writes the program that stands in for llama.cpp's server. */
export function writeEngine (path: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${ENGINE}" "$@"\n`)
  chmodSync(path, 0o755)
  return path
}
