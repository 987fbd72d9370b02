import { useEffect, useState } from 'react'
import type { Answer, Request } from './diff-worker.ts'
import { parseDiff, type ParsedDiff } from './parse-diff.ts'

/** The number of parsed diffs that are cached, so that a diff appears at once when it is shown again. */
const MOST_KEPT = 50

const known = new Map<string, ParsedDiff>()
const open = new Map<number, (parsed: ParsedDiff) => void>()
const diffs = new Map<number, string>()
let worker: Worker | 'none' | undefined
let lastId = 0

/** Parses all open diffs on the main thread, because the worker could not be started. */
function readHere (): void {
  worker = 'none'
  for (const [id, diff] of diffs) close(id, parseDiff(diff))
}

function close (id: number, parsed: ParsedDiff): void {
  const diff = diffs.get(id)
  if (diff !== undefined) known.set(diff, parsed)
  for (const old of [...known.keys()].slice(0, -MOST_KEPT)) known.delete(old)
  open.get(id)?.(parsed)
  open.delete(id)
  diffs.delete(id)
}

function start (): Worker {
  const started = new Worker(new URL('./diff-worker.ts', import.meta.url), { type: 'module' })
  started.onmessage = ({ data: { id, parsed } }: MessageEvent<Answer>) => close(id, parsed)
  started.onerror = readHere
  return started
}

/** Parses a diff in a worker, so that the page stays responsive. */
function readDiff (diff: string): Promise<ParsedDiff> {
  if (worker === 'none') return Promise.resolve(parseDiff(diff))
  worker ??= start()
  const { promise, resolve } = Promise.withResolvers<ParsedDiff>()
  const id = ++lastId
  open.set(id, resolve)
  diffs.set(id, diff)
  worker.postMessage({ id, diff } satisfies Request)
  return promise
}

/** Returns the lines of a unified diff with the changed words marked; undefined until the diff is parsed. */
export function useDiff (diff: string | undefined): ParsedDiff | undefined {
  const [read, setRead] = useState<{ diff: string, parsed: ParsedDiff }>()
  useEffect(() => {
    if (diff === undefined || known.has(diff)) return
    let isOver = false
    void readDiff(diff).then((parsed) => { if (!isOver) setRead({ diff, parsed }) })
    return () => {
      isOver = true
    }
  }, [diff])
  if (diff === undefined) return undefined
  return read?.diff === diff ? read.parsed : known.get(diff)
}
