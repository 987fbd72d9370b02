import t from 'tap'
import { onSmallDisk } from '../../harness/small-disk.ts'

t.test('on a full disk nothing is changed without a copy, and an undo changes nothing or all of a file', async (t) => {
  const seen = onSmallDisk(t.testdir(), new URL('full-disk.ts', import.meta.url), 16)
  if (!seen) return t.pass('not tried', { skip: 'mounting a small file system is not permitted here' })
  const { refused, written, undoRefused, undone, stuck, back } = seen

  t.ok(refused.length >= 8)
  for (const each of refused) {
    t.match(each, { error: /could not be kept for an undo \(no space left on device\)\. Nothing was changed/, isOld: true, copies: 0 })
  }
  t.match(written, { error: undefined, isOld: false, copies: 1 }, 'with room again, the same write succeeds')

  t.match(undoRefused, { answer: { statusCode: 503 }, file: 'new' })
  t.match(undone, { answer: { restored: [/file\.txt$/], skipped: [] }, isOld: true })

  t.match(stuck, {
    answer: { statusCode: 503, code: 'ERR_UNDO_UNAVAILABLE', error: /no space left/ },
    file: 'new',
    files: ['file.txt']
  }, 'nothing is left of what found no room')
  t.match(back, { answer: { restored: [/file\.txt$/] }, isOld: true, files: ['file.txt'] })
  return undefined
})
