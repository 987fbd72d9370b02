export { isCompleted } from './evaluate.ts'
export { type JudgeDeps, judgeRun, reviewAnswer } from './judge.ts'
