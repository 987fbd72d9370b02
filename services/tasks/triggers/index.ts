export { firingRemovals, triggerRemovals } from './cues.ts'
export { assertFolder } from './look-at-folder.ts'
export { createTriggerEngine, type TriggerEngine } from './trigger-engine.ts'
