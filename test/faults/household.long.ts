import t from 'tap'
import { SIX_WEEKS, TWELVE_WEEKS } from './household.ts'
import { checkHousehold } from './household-checks.ts'

t.test('six weeks of a household with eight tasks', { timeout: 280_000 }, (t) => checkHousehold(t, SIX_WEEKS))

t.test('twelve weeks of a household with eight tasks, one of them hourly', { timeout: 1_100_000 }, (t) => checkHousehold(t, TWELVE_WEEKS))
