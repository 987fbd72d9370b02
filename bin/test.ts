import { globSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { systemClock } from '../services/lib/clock.ts'
import { openPack } from '../services/lib/pack.ts'
import { explainStart } from '../services/lib/start-error.ts'
import { Usage } from '../services/lib/usage-error.ts'
import { createStandardOutput } from '../services/log/sink.ts'
import { outcomeText, summaryText, type Outcome } from '../services/recordings/replay/outcome-text.ts'
import { replayFile } from './replay.ts'

// The command `local-agent test`. It replays recordings of runs, and needs no key, no network and no running service.

const HELP = `local-agent test <file…> [--strict] [--json]
  Replays recordings of runs (POST /runs/:runId/recording) without a key or a network, and says where they go otherwise now.

  --strict   compares system prompts, descriptions of tools and the words of errors, too
  --json     prints one JSON object a file

  The exit code is 0 when all is as recorded and expected, 1 when something is not, 64 when a file is no recording, and 74 when
  the outcome cannot be written.`

/** How long the exit waits for the last lines of output, in milliseconds. */
const FLUSH_MS = 2_000

/** Writes a text and resolves when it is written. Throws Unwritten. */
type Print = (text: string) => Promise<void>

/** Thrown when standard output is closed or its disk is full. */
class Unwritten extends Error {
  readonly exitCode = 74
}

function read (args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        strict: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' }
      }
    })
  } catch (error) {
    throw new Usage(`${(error as Error).message}\n\n${HELP}`)
  }
}

/**
 * Returns the files that match a name with `*` or `?`, for shells that do not expand such names, as on Windows. Returns the name itself if
 * nothing matches.
 */
function matching (name: string): string[] {
  const found = /[*?]/.test(name) ? globSync(name).sort() : []
  return found.length > 0 ? found : [name]
}

async function main (args: string[], print: Print) {
  const { values, positionals } = read(args)
  const files = process.platform === 'win32' ? positionals.flatMap(matching) : positionals
  const { strict = false, json = false, help = false } = values
  if (help) return print(HELP)
  if (files.length === 0) throw new Usage(`Name at least one recording.\n\n${HELP}`)
  const outcomes: Outcome[] = []
  for (const file of files) {
    const outcome = await replayFile(file, { isStrict: strict })
    outcomes.push(outcome)
    await print(json ? JSON.stringify(outcome) : outcomeText(outcome, files.length === 1))
  }
  if (!json) await print(summaryText(outcomes))
  process.exitCode = outcomes.every(({ ok }) => ok) ? 0 : 1
}

/** Runs the command `test` with its arguments, and ends the process. */
export async function test (args: string[]): Promise<void> {
  const output = createStandardOutput({ clock: systemClock })
  output.takeOver()
  openPack()
  // Keeps the process alive, because the clock's timers do not.
  setInterval(() => {}, 60_000)
  try {
    await main(args, async (text) => {
      output.stdout.write(`${text}\n`)
      if (!await output.stdout.flush(Infinity)) throw new Unwritten('The outcome cannot be written to standard output.')
    })
  } catch (error) {
    const { message, exitCode } = explainStart(error)
    output.stderr.write(`${message}\n`)
    process.exitCode = exitCode
  }
  await output.flush(FLUSH_MS)
  process.exit()
}
