import t from 'tap'
import { refuseAtOnce, refuseUploads } from './refused.ts'

t.test('a client that is refused while it uploads 12 MB reads the answer, whatever else the service does', (t) =>
  refuseUploads(t, { statuses: [401, 403, 404, 405, 413, 415], megabytes: [12], times: Number(process.env.RUNS ?? 200), load: 4 }))

t.test('refused uploads take no memory', { skip: process.platform !== 'linux' }, async (t) => {
  const grown = await refuseAtOnce(t, 50)
  t.ok(grown < 200, `${grown} MiB`)
})
