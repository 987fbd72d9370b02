import t from 'tap'
import { refuseUploads } from './refused.ts'

t.test('a client that is refused while it uploads reads the answer', (t) =>
  refuseUploads(t, { statuses: [401, 404, 413], megabytes: [12], times: 10, load: 0 }))
