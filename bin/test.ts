import { parseArgs } from 'node:util'
import { systemClock } from '../services/lib/clock.ts'
import { openPack } from '../services/lib/pack.ts'
import { explainStart } from '../services/lib/start-error.ts'
import { Usage } from '../services/lib/usage-error.ts'
import { createStandardOutput } from '../services/log/sink.ts'
import { outcomeText, summaryText, type Outcome } from '../services/recordings/replay/outcome-text.ts'
import { replayFile } from './replay.ts'

// The command `local-agent test`: replays recordings of runs, without a key, a network or a running service.

const HELP = `local-agent test <file…> [--strict] [--json]
  Replays recordings of runs (POST /runs/:runId/recording) without a key or a network, and says where they go otherwise now.

  --strict   compares system prompts, descriptions of tools and the words of errors, too
  --json     prints one JSON object a file

  The exit code is 0 when no recording differs, 1 when one does, and 64 when a file is none.`

/** How long the exit waits for the last lines, in milliseconds. */
const FLUSH_MS = 2_000

type Print = (text: string) => unknown

function read (args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { strict: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } }
    })
  } catch (error) {
    throw new Usage(`${(error as Error).message}\n\n${HELP}`)
  }
}

async function main (args: string[], print: Print) {
  const { values: { strict = false, json = false, help = false }, positionals: files } = read(args)
  if (help) {
    print(HELP)
    return
  }
  if (files.length === 0) throw new Usage(`Name at least one recording.\n\n${HELP}`)
  const outcomes: Outcome[] = []
  for (const file of files) {
    const outcome = await replayFile(file, { isStrict: strict })
    outcomes.push(outcome)
    print(json ? JSON.stringify(outcome) : outcomeText(outcome, files.length === 1))
  }
  if (!json) print(summaryText(outcomes))
  process.exitCode = outcomes.every(({ ok }) => ok) ? 0 : 1
}

/** Runs the command with the arguments behind its name, and ends the process. */
export async function test (args: string[]): Promise<void> {
  const output = createStandardOutput({ clock: systemClock })
  output.takeOver()
  openPack()
  // The clock's timers do not keep the process alive.
  setInterval(() => {}, 60_000)
  try {
    await main(args, (text) => output.stdout.write(`${text}\n`))
  } catch (error) {
    const { message, exitCode } = explainStart(error)
    output.stderr.write(`${message}\n`)
    process.exitCode = exitCode
  }
  await output.flush(FLUSH_MS)
  process.exit()
}
