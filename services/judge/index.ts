export { isCompleted } from './evaluate.ts'
export { type JudgeDeps, judgeRun } from './judge.ts'
export { reviewAnswer } from './review-answer.ts'
