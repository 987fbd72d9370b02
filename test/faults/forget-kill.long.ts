import t from 'tap'
import { forgetThroughDeath, MODELS, type ModelName, prepareForgetting } from './forget-kill.ts'

for (const model of Object.keys(MODELS) as ModelName[]) {
  t.test(`killed at any write from a wish to forget on, a service with a ${model} model knows nothing of it in the end`, async (t) => {
    const prepared = await prepareForgetting(t, model)
    const { first, last } = await forgetThroughDeath(t, prepared, 'count')
    t.ok(last - first > 3, `${last - first} writes`)
    for (let write = first; write < last; write++) {
      for (const when of ['before', 'after']) {
        const { facts } = await forgetThroughDeath(t, prepared, `${write} ${when}`)
        t.notOk(facts.some((fact) => fact.includes('Orta')), `${when} write ${write}: ${facts.join()}`)
        t.ok(facts.some((fact) => fact.includes('Vänern')), `${when} write ${write}`)
      }
    }
  })
}
