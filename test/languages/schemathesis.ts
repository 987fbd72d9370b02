import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startService } from './service.ts'
import { DOCUMENT, pythonPrograms, run } from './tools.ts'

// Sends requests that fit the document and such that do not to every operation, always the same ones, and compares the answers with the
// document: no 5xx, no status and no content type that is not documented, no answer of another shape. What it calls a failure and is none
// is listed in schemathesis.toml.

const SETTINGS = fileURLToPath(new URL('schemathesis.toml', import.meta.url))
const MOST_EXAMPLES = '3'
/** It ends what it has begun, and begins no more, seconds. */
const MOST_TIME = '420'

export async function schemathesis (): Promise<string> {
  const program = join(pythonPrograms('schemathesis'), 'schemathesis')
  const service = await startService()
  const phases = ['--phases', 'examples,coverage,fuzzing', '--generation-database', 'none']
  const limits = ['--max-examples', MOST_EXAMPLES, '--max-time', MOST_TIME]
  try {
    const options = ['--config-file', SETTINGS, 'run', DOCUMENT, '--url', service.url, ...limits, ...phases, '--no-color']
    const output = run(program, options, { cwd: service.cwd })
    return /^.* generated.*$/m.exec(output)?.[0].trim() ?? 'nothing found'
  } finally {
    await service.stop()
  }
}
