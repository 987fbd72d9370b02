import { appendFileSync } from 'node:fs'

/** A body or an event that a test saw: of a route, or of a stream. */
export type Seen =
  | { method: string, url: string, status?: string, body: unknown }
  | { event: unknown }

const folder = process.env.RECORD_EXAMPLES

/** Characters; what is larger is no example of anything. */
const LARGEST = 500_000

/** Whether `npm run examples` runs the tests. */
export const isRecording = folder !== undefined

/** Keeps what a test saw for the examples of the OpenAPI document, when these are recorded. */
export function record (seen: Seen): void {
  if (folder === undefined) return
  const line = JSON.stringify(seen)
  if (line.length <= LARGEST) appendFileSync(`${folder}/${process.pid}`, `${line}\n`)
}
