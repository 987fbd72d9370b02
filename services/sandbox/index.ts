export { type BoxedCommand, describeBoundary, type Sandbox } from './sandbox.ts'
