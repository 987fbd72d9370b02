export { firingRemovals, triggerRemovals } from './cues.ts'
export { folderProblem } from './look-at-folder.ts'
export { createTriggerEngine, type TriggerEngine } from './trigger-engine.ts'
