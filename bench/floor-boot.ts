import { enableCompileCache } from 'node:module'

// The floor starts with what the service starts with: a bundle and Node's compile cache, which a clean exit writes.
enableCompileCache(process.env.COMPILE_CACHE)
process.on('SIGTERM', () => process.exit())
await import('./floor.ts')
