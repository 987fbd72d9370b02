const claims = [{
  claim: 'Wrote the shopping list',
  effect: 'file',
  target: 'notes.txt',
  call: 'toolu_01KBnR8wYd',
  verdict: 'confirmed'
}]
const judgement = { outcome: 'done', claims, evidence: 'confirmed', judge: 'model' }

export const evaluation = {
  satisfied: false,
  score: 0.5,
  issues: ['The price of the second one is missing.'],
  ...judgement,
  outcome: 'partly'
}
export const taskEvaluation = { satisfied: true, qualityScore: 0.9, issues: [], ...judgement }
