import t from 'tap'
import { TWELVE_WEEKS } from './household.ts'
import { checkHousehold } from './household-checks.ts'

t.test('twelve weeks of a household with eight tasks, one of them hourly', { timeout: 1_100_000 }, (t) => checkHousehold(t, TWELVE_WEEKS))
