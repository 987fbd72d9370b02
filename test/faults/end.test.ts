import t from 'tap'
import { endWithEverythingOpen } from './end.ts'

t.test('SIGTERM with everything open ends the service in time, loses no acknowledged write and leaves no process', (t) =>
  endWithEverythingOpen(t, 2))
