// The half that stays unread until the rules are done.
import { sentences } from './unread-sentences.ts'
import { statements } from './unread-statements.ts'

export const unread = [...statements, ...sentences]
