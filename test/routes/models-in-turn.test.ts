import t from 'tap'
import { fallbackSuite, modelsInTurnSuite, NAMES } from '../suites/models-in-turn.ts'

// Every server follows every other one. test/faults/models-in-turn.long.ts has all orders.
const turned = (names: readonly string[], by: number) => [...names.slice(by), ...names.slice(0, by)]
const [first, second, third, fourth, fifth] = NAMES

modelsInTurnSuite(t, [
  NAMES,
  [fifth, fourth, third, second, first],
  [first, third, fifth, second, fourth],
  [fourth, second, fifth, third, first]
])
fallbackSuite(t, NAMES.map((name, at): [string, string] => [name, turned(NAMES, at + 1)[0]]))
