import t from 'tap'
import { livesThroughCrashes } from './app-crashes.ts'

t.test('an application goes on with the same objects over crashes of a service with --port 0', (t) => livesThroughCrashes(t, 2))
