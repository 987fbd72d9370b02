import { parseDiff, type ParsedDiff } from './parse-diff.ts'

/** A diff that the page sends to this worker. `Answer` is the reply with the same id. */
export interface Request {
  id: number
  diff: string
}
export interface Answer {
  id: number
  parsed: ParsedDiff
}

// The type library of pages lacks the worker's global scope. The members used here are the same in both.
const worker = globalThis as unknown as {
  onmessage: (event: MessageEvent<Request>) => void
  postMessage: (answer: Answer) => void
}

worker.onmessage = ({ data: { id, diff } }) => worker.postMessage({ id, parsed: parseDiff(diff) })
