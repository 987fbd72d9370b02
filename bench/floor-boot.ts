import { enableCompileCache } from 'node:module'

// Starts the floor in the same way as the service: from a bundle, with Node's compile cache, which a clean exit writes.
enableCompileCache(process.env.COMPILE_CACHE)
process.on('SIGTERM', () => process.exit())
await import('./floor.ts')
