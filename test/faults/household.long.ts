import t from 'tap'
import { checkHousehold } from './household-checks.ts'

t.test('twelve weeks of a household, one task of it hourly', { timeout: 1_100_000 }, (t) => checkHousehold(t, { watchEvery: 1 }))
