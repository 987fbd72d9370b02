// The half that the rules may be tuned with.
export { honest } from './tuned-honest.ts'
export { falseReports } from './tuned-false.ts'
