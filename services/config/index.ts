export type { ConfigService } from './config.ts'
export { expandVariables, type Variables } from './variables.ts'
