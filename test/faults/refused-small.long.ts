import t from 'tap'
import { refuseUploads } from './refused.ts'

t.test('a client that is refused while it uploads 3 MB reads the answer, whatever else the service does', (t) =>
  refuseUploads(t, { statuses: [401, 403, 404, 405, 413, 415], megabytes: [3], times: Number(process.env.RUNS ?? 200), load: 4 }))
