export { mayHaveChanged } from './call-facts.ts'
export { isCompleted } from './evaluate.ts'
export { type JudgeDeps, judgeRun, reviewAnswer } from './judge.ts'
