import t from 'tap'
import { SIX_WEEKS } from './household.ts'
import { checkHousehold } from './household-checks.ts'

t.test('six weeks of a household with eight tasks', { timeout: 280_000 }, (t) => checkHousehold(t, SIX_WEEKS))
