import { writeFileSync } from 'node:fs'
import t from 'tap'
import { KINDS, recordKind } from '../harness/recorded-runs.ts'

// Records one kind of run: `RECORD='read and write' npx tap test/recordings/record.ts`. The recordings beside it stay as they are: a
// later version has to replay what an earlier one has recorded.

const name = process.env.RECORD ?? ''
t.test(name, async (t) => {
  const { text } = await recordKind(t, KINDS[name])
  writeFileSync(new URL(`${name.replaceAll(' ', '-')}.jsonl`, import.meta.url), text)
})
