import type { Client } from './create-client.ts'
import { streamCut } from './errors.ts'
import type { RunEvent } from './run-types.ts'
import type { createRunState } from './run-state.ts'

/** Yields what a run did after its stream broke off, from its record, when the run is no longer active. */
export async function * restOfRun (_client: Client, _id: string, _state: ReturnType<typeof createRunState>): AsyncGenerator<RunEvent> {
  throw streamCut()
}
