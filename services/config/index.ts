export type { ConfigService } from './config.ts'
export { expandVariables, type Variables } from './variables.ts'
export { type ReadServer, readServers, SSE_ONLY } from './readme-servers.ts'
