import t from 'tap'
import { fallbackSuite, modelsInTurnSuite, NAMES, orders } from '../suites/models-in-turn.ts'

modelsInTurnSuite(t, orders(NAMES))
fallbackSuite(t, NAMES.flatMap((name) => NAMES.filter((other) => other !== name).map((other): [string, string] => [name, other])))
