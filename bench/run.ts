import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { ROOT } from '../scripts/bundle.ts'
import type { Row } from './compare.ts'
import { startClient } from './driver.ts'
import { afterLoad } from './rows/after-load.ts'
import { cachedShareRows } from './rows/cached-share.ts'
import { coldStart } from './rows/cold-start.ts'
import { consoleChat } from './rows/console-chat.ts'
import { consoleOpen, consolePaint, consoleTyping } from './rows/console-times.ts'
import { diskPerChat, oneFact } from './rows/disk.ts'
import type { Context } from './rows/context.ts'
import { feltFirstText } from './rows/felt-first-text.ts'
import { boxedCommand } from './rows/boxed-command.ts'
import { firstRun } from './rows/first-run.ts'
import { knownFolder } from './rows/known-folder.ts'
import { recall } from './rows/recall.ts'
import { firstTextAnalysed, firstTextPlain } from './rows/first-text.ts'
import { longThread } from './rows/long-thread.ts'
import { largeStore } from './rows/large-store.ts'
import { idle } from './rows/idle.ts'
import { idleMemory } from './rows/memory.ts'
import { paced } from './rows/paced.ts'
import { idleEvents } from './rows/idle-events.ts'
import { rareWord, search } from './rows/search.ts'
import { scriptedConversation } from './rows/scripted-conversation.ts'
import { sidecarStart } from './rows/sidecar.ts'
import { tableCheck } from './rows/table-check.ts'
import { taskRuns } from './rows/task-runs.ts'
import { tokensSpent } from './rows/tokens-spent.ts'
import { healthSaturated, manyStreams, oneStream } from './rows/throughput.ts'
import { prepare } from './subjects.ts'
import { tableOf } from './table.ts'

// node bench/run.ts [--quick] [--only <row>]: measures dist/ against the floor; see README.md in this folder.

const ROWS: Record<string, (context: Context) => Promise<Row[]>> = {
  'cold-start': coldStart,
  'sidecar-start': sidecarStart,
  'large-store': largeStore,
  'table-check': tableCheck,
  memory: idleMemory,
  'after-load': afterLoad,
  idle,
  'first-run': firstRun,
  'tokens-spent': tokensSpent,
  'first-text': firstTextPlain,
  'first-text-analysed': firstTextAnalysed,
  'one-stream': oneStream,
  'many-streams': manyStreams,
  paced,
  'long-thread': longThread,
  'felt-first-text': feltFirstText,
  'task-runs': taskRuns,
  'boxed-command': boxedCommand,
  'known-folder': knownFolder,
  recall,
  'scripted-conversation': scriptedConversation,
  'idle-events': idleEvents,
  'health-saturated': healthSaturated,
  search,
  'rare-word': rareWord,
  'disk-per-chat': diskPerChat,
  'one-fact': oneFact,
  'cached-share': cachedShareRows,
  'console-chat': consoleChat,
  'console-paint': consolePaint,
  'console-open': consoleOpen,
  'console-typing': consoleTyping
}

const { values: { quick, only } } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } })
if (only !== undefined && !Object.hasOwn(ROWS, only)) {
  console.error(`There is no row ${only}. The rows are: ${Object.keys(ROWS).join(', ')}.`)
  process.exit(64)
}

await prepare()
const client = startClient()
const beside = startClient()
const times = (usual: number) => quick ? Math.max(3, Math.ceil(usual / 3)) : usual
const rows: Row[] = []
try {
  for (const [name, measure] of Object.entries(ROWS)) {
    if (only !== undefined && only !== name) continue
    console.error(`measuring ${name} …`)
    rows.push(...await measure({ client, beside, times }))
  }
} finally {
  client.stop()
  beside.stop()
}

console.log(`\n${tableOf(rows)}`)
const machine = { cores: cpus().length, cpu: cpus()[0].model, node: process.version }
mkdirSync(`${ROOT}bench/results`, { recursive: true })
writeFileSync(`${ROOT}bench/results/latest.json`, JSON.stringify({ date: new Date().toISOString(), machine, quick, rows }, null, 2) + '\n')
