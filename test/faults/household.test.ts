import t from 'tap'
import { checkHousehold } from './household-checks.ts'

t.test('twelve weeks of a household with eight tasks', { timeout: 110_000 }, (t) => checkHousehold(t, { watchEvery: 48 }))
