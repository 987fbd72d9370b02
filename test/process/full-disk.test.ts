import t from 'tap'
import { onSmallDisk } from '../harness/small-disk.ts'

t.test('the service on a disk that runs full refuses clearly, loses nothing, comes back by itself; with no room at all it does not ' +
  'start', async (t) => {
  const seen = onSmallDisk(t.testdir(), new URL('full-disk.ts', import.meta.url), 12)
  if (!seen) return t.pass('not tried', { skip: 'mounting a small file system is not permitted here' })
  const { acknowledged, full, after, imports, whileSending, again, unchanged, refused, back, checked } = seen
  const noRoom = {
    status: 503,
    body: { error: /^The store is not available: No space left on device/, code: 'ERR_STORE_UNAVAILABLE', statusCode: 503 }
  }

  t.match(full.refusal, noRoom, 'a fact')
  t.match(full.health, { status: 'degraded', checks: { store: /^latched: No space left/ } })
  t.equal(full.brain, 503, 'what cannot be trusted is not shown')
  t.match(full.run, { status: 503, text: /ERR_STORE_UNAVAILABLE/ }, 'a run')
  t.match(full.approve, { status: 503 }, 'an approval')
  t.match(full.key, noRoom, 'the gateway key')
  t.match(full.configure, { status: 503, body: { code: 'ERR_CONFIG_NOT_SAVED', error: /ENOSPC.*free disk space/ } }, 'the model')
  t.ok(full.isConfigAsBefore, 'config.json is as it was')
  t.equal(full.about.model, 'offline/assistant', 'what was not saved is not in force')

  t.match(after, { health: { status: 'ok' }, learned: 200, configured: 200 })
  t.match(after.config, { mine: 'kept', isLongKept: true, model: 'offline/scripted' })
  t.same(after.brain, acknowledged.slice(0, -1))
  t.ok(after.approved.includes('tool-output-available'), 'the approval that found no room is taken now')
  t.equal(after.approved.at(-1), 'finish')
  for (const refusal of imports) {
    t.match(refusal, {
      status: 503,
      body: { code: 'ERR_IMPORT_FAILED', error: /no space left on device.*Free disk space.*Nothing was changed/ },
      left: [],
      health: 'ok'
    })
    t.same(refusal.brain, acknowledged)
  }
  t.match(checked, { status: 'checked', holds: { messages: checked.records } })
  t.ok(checked.missingBytes > 0.9 * checked.bytes, 'the check of a backup says that there is too little room for its import')
  t.equal(whileSending, 503)
  for (const start of [again, back]) t.match(start, { health: { status: 'ok', checks: { store: 'ok' } }, brain: acknowledged })

  t.match(unchanged, { code: 74, err: /^The data could not be re-encrypted: no space left[^\n]*Nothing was changed[^\n]*\n$/ })
  t.match(refused, { code: 74, out: '', log: /no space left/i })
  t.match(refused.log, /^[^\n]+\n$/, 'one sentence')
  return undefined
})
