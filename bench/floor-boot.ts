import { enableCompileCache } from 'node:module'

// Starts the floor like the service: as a bundle with Node's compile cache, which is written at a clean exit.
enableCompileCache(process.env.COMPILE_CACHE)
process.on('SIGTERM', () => process.exit())
await import('./floor.ts')
