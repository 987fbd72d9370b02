// The half that stays unread until the rules are done.
export { honest } from './unread-honest.ts'
export { falseReports } from './unread-false.ts'
