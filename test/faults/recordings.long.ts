import { writeFileSync } from 'node:fs'
import t from 'tap'
import { replayFile } from '../../bin/replay.ts'
import { outcomeText } from '../../services/recordings/replay/outcome-text.ts'
import { KINDS, recordKind } from '../harness/recorded-runs.ts'

// A hundred runs of every kind of step, approval, server and failure are recorded and replayed: each goes as it did.

const RUNS = 100
const kinds = Object.entries(KINDS)

for (let n = 0; n < RUNS; n++) {
  const [name, kind] = kinds[n % kinds.length]
  // Every third round is strict: nothing has changed in between.
  const isStrict = n < kinds.length || n % 3 === 0
  t.test(`${n + 1}: ${name}`, async (t) => {
    const { text } = await recordKind(t, kind)
    const file = `${t.testdirName}.jsonl`
    writeFileSync(file, text)
    const outcome = await replayFile(file, { isStrict })
    t.ok(outcome.ok, outcomeText(outcome))
    t.ok(outcome.steps > 0)
  })
}
