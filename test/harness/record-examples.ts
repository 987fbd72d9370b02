import { appendFileSync } from 'node:fs'

/** A body of a route, or an event of a stream, that a test saw. */
export type Seen =
  | { method: string, url: string, status?: string, body: unknown }
  | { event: unknown }

const folder = process.env.RECORD_EXAMPLES

/** The largest recorded value, in characters. Larger ones are no useful examples. */
const LARGEST = 500_000

/** True if `npm run examples` runs the tests. */
export const isRecording = folder !== undefined

/** Records a value for the examples of the OpenAPI document, if they are being recorded. */
export function record (seen: Seen): void {
  if (folder === undefined) return
  const line = JSON.stringify(seen)
  if (line.length <= LARGEST) appendFileSync(`${folder}/${process.pid}`, `${line}\n`)
}
